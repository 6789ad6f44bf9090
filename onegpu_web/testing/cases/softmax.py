"""Cases of Softmax and LogSoftmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16
from ...kernels import softmax
from ...problems.reduce import SoftmaxProblem
from ..reference import reduce as reference
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = softmax.FAMILY


def arrays(problem: SoftmaxProblem, rng: np.random.Generator) -> Arrays:
    """x, flat: large values, and NaN and infinities where there are several rows."""
    rows = problem.sizes[0] * problem.sizes[2]
    x = normal(rng, problem.x_shape, problem.x_offset, problem.dtype.name, odd=rows > 8)
    return {"x": x * np.asarray(4, x.dtype)}


def expected(problem: SoftmaxProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    return {"y": reference.softmax(problem, take(arrays["x"], problem.x_shape, problem.x_offset))}


def _case(name: str, x_shape: tuple[int, ...], *, tolerance: float = 1e-5, **fields: Any) -> Case:
    return Case(name, SoftmaxProblem(x_shape, **fields), tolerance)


CASES = [
    _case("classes", (1, 1000)),
    _case("characters", (3, 11, 690)),
    _case("long_rows", (3, 1300)),
    _case("short_rows", (40, 7)),
    _case("channels", (2, 5, 4, 6), axis=1),
    _case("first_axis", (9, 13), axis=0),
    _case("rows_of_64", (5, 64)),
    _case("one_element_rows", (6, 1)),
    _case("offsets", (4, 70), x_offset=3, y_offset=5),
    _case("log_classes", (2, 300), log=True),
    _case("log_channels", (2, 5, 12), axis=1, log=True),
    _case("no_row", (0, 5)),
    _case("half", (3, 80), tolerance=2e-3, dtype=FLOAT16),
]
