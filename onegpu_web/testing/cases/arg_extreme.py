"""Cases of ArgMax and ArgMin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT32
from ...kernels import arg_extreme
from ...problems.reduce import ArgProblem
from ..reference import reduce as reference
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = arg_extreme.FAMILY


def arrays(problem: ArgProblem, rng: np.random.Generator) -> Arrays:
    """x, flat, with ties; NaN and infinities in it."""
    return {"x": np.round(normal(rng, problem.x_shape, problem.x_offset, problem.dtype.name, odd=True))}


def expected(problem: ArgProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y, int32."""
    return {"y": reference.arg_extreme(problem, take(arrays["x"], problem.x_shape, problem.x_offset))}


def _case(name: str, x_shape: tuple[int, ...], **fields: Any) -> Case:
    return Case(name, ArgProblem(x_shape, **fields), 0.0)


CASES = [
    _case("classes", (3, 1000), axis=1),
    _case("channels", (2, 7, 5, 3), axis=1, keepdims=False),
    _case("smallest", (20, 6), axis=-1, smallest=True),
    _case("last_index", (20, 6), axis=1, select_last_index=True),
    _case("smallest_last_index", (20, 6), axis=0, smallest=True, select_last_index=True),
    _case("integers", (20, 6), axis=1, dtype=INT32),
    _case("offsets", (9, 6), axis=1, x_offset=3, y_offset=2),
    _case("half", (9, 6), axis=1, dtype=FLOAT16),
]
