"""Cases of unary functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT32, UINT32
from ...kernels import unary
from ...problems.elementwise import FLOAT_UNARIES, UnaryProblem
from ..reference import elementwise as reference
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = unary.FAMILY
_EXACT = ("relu", "clip", "abs", "neg", "floor", "ceil", "round", "sign", "thresholded_relu")


def arrays(problem: UnaryProblem, rng: np.random.Generator) -> Arrays:
    """x, flat; halves among the values to be rounded, large ones for the periodic."""
    x = normal(rng, (problem.elements,), problem.x_offset, problem.dtype.name, odd=True)
    if problem.kind == "round":
        x = np.where(np.isfinite(x), np.trunc(x) + np.where(x < 0, -0.5, 0.5), x).astype(x.dtype)
    if problem.kind in ("sin", "cos"):
        x *= np.float32(20)
    return {"x": x % 2 if problem.kind == "not" else x}


def expected(problem: UnaryProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y: float64, or integers exactly."""
    x = take(arrays["x"], (problem.elements,), problem.x_offset)
    return {"y": reference.unary(problem.kind, x, problem.alpha, problem.beta)}


def _case(name: str, kind: str, elements: int, *, tolerance: float | None = None, **fields: Any) -> Case:
    exact = kind in _EXACT or "dtype" in fields
    return Case(
        name, UnaryProblem(kind, elements, **fields), (0.0 if exact else 1e-5) if tolerance is None else tolerance
    )


CASES = [
    *(_case(kind, kind, 1024) for kind in FLOAT_UNARIES if kind not in ("clip", "affine")),
    _case("clip_both", "clip", 512, alpha=-0.5, beta=1.5),
    _case("clip_below", "clip", 512, alpha=0.25),
    _case("clip_above", "clip", 512, beta=0.25),
    _case("clip_crossed", "clip", 512, alpha=2.0, beta=-1.0),
    _case("affine", "affine", 512, alpha=0.3, beta=-2.0),
    _case("leaky_relu_slope", "leaky_relu", 512, alpha=0.2),
    _case("odd_size_offsets", "sigmoid", 777, x_offset=3, y_offset=5),
    _case("one_element", "relu", 1),
    _case("no_element", "relu", 0),
    _case("half_silu", "silu", 1028, dtype=FLOAT16, tolerance=2e-3),
    _case("int_clip", "clip", 64, alpha=-3.0, beta=5.0, dtype=INT32),
    _case("int_clip_below", "clip", 63, alpha=-3.0, dtype=INT32),
    _case("int_abs", "abs", 63, dtype=INT32),
    _case("int_neg", "neg", 64, dtype=INT32),
    _case("int_sign", "sign", 64, dtype=INT32),
    _case("int_relu", "relu", 64, dtype=INT32),
    _case("bool_not", "not", 61, dtype=UINT32),
]
