"""Cases of reductions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT32
from ...kernels import reduce
from ...problems.reduce import INT_REDUCTIONS, REDUCTIONS, ReduceProblem
from ..reference import reduce as reference
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = reduce.FAMILY


def arrays(problem: ReduceProblem, rng: np.random.Generator) -> Arrays:
    """x, flat: NaN and infinities among extremes, factors near 1 for products, no sums that cancel to nearly 0."""
    extreme = problem.kind in ("max", "min")
    x = normal(rng, problem.x_shape, problem.x_offset, problem.dtype.name, odd=extreme)
    if problem.kind == "prod":
        x = np.sign(x).astype(x.dtype) if x.dtype.kind != "f" else (1 + x / 16).astype(x.dtype)
    if problem.kind in ("sum", "mean"):
        x = x + np.asarray(1, x.dtype)
    return {"x": np.abs(x) if problem.kind == "log_sum" else x}


def expected(problem: ReduceProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y: float64, or int32 exactly."""
    return {"y": reference.reduce(problem, take(arrays["x"], problem.x_shape, problem.x_offset))}


def _case(
    name: str, kind: str, x_shape: tuple[int, ...], axes: tuple[int, ...], *, tolerance: float = 1e-5, **fields: Any
) -> Case:
    return Case(name, ReduceProblem(kind, x_shape, axes, **fields), tolerance)


CASES = [
    *(_case(kind, kind, (3, 4, 9, 7), (2, 3)) for kind in REDUCTIONS),
    *(_case(f"int_{kind}", kind, (3, 5, 13), (0, 2), tolerance=0.0, dtype=INT32) for kind in INT_REDUCTIONS),
    _case("every_axis", "mean", (2, 3, 5, 7), (0, 1, 2, 3), keepdims=False),
    _case("channels", "mean", (2, 40, 5, 7), (1,)),
    _case("last", "sum", (5, 6, 3), (-1,), keepdims=False),
    _case("outer_and_inner", "sum", (3, 4, 5, 6), (0, 3)),
    _case("alternating", "max", (2, 3, 2, 3, 2, 3), (0, 2, 4)),
    _case("two_launches", "mean", (2, 130, 130), (1, 2)),
    _case("two_launches_l2", "l2", (1, 20_000), (1,)),
    _case("norms_of_chunks", "l1", (9000, 2), (0,)),
    _case("many_rows", "sum", (700, 64), (1,)),
    _case("no_axis", "sum", (3, 4), ()),
    _case("of_nothing", "sum", (3, 0, 4), (1,)),
    _case("largest_of_nothing", "max", (2, 0), (1,)),
    _case("no_result", "sum", (0, 4), (1,)),
    _case("offsets", "mean", (4, 50), (1,), x_offset=3, y_offset=5),
    _case("half", "mean", (4, 50), (1,), tolerance=2e-3, dtype=FLOAT16),
]
