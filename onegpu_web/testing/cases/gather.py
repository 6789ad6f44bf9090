"""Cases of Gather."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT32
from ...kernels import gather
from ...problems.movement import GatherProblem
from ..reference.operands import bits, take
from .case import Arrays, Case

FAMILY = gather.FAMILY


def arrays(problem: GatherProblem, rng: np.random.Generator) -> Arrays:
    """x, flat, of any bits; indices from both ends."""
    x = bits(rng, problem.x_shape, problem.x_offset, problem.dtype.name)
    _, size, count, _ = problem.sizes
    return {"x": x, "indices": rng.integers(-size, size, problem.indices_offset + count).astype(np.int32)}


def expected(problem: GatherProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y, the same bits."""
    x = take(arrays["x"], problem.x_shape, problem.x_offset)
    indices = take(arrays["indices"], problem.indices_shape, problem.indices_offset)
    return {"y": np.take(x, indices, problem.axis)}


def _case(name: str, x_shape: tuple[int, ...], indices: tuple[int, ...], axis: int, **fields: Any) -> Case:
    return Case(name, GatherProblem(x_shape, indices, axis, **fields), 0.0)


CASES = [
    _case("rows", (9, 5), (4,), 0),
    _case("columns", (4, 9), (2, 3), 1),
    _case("middle", (2, 7, 3), (5,), -2),
    _case("scalar_index", (3, 4, 5), (), 1),
    _case("offsets", (6, 4), (3,), 0, x_offset=5, indices_offset=2, y_offset=3),
    _case("integers", (6, 4), (7,), 0, dtype=INT32),
    _case("half", (6, 4), (7,), 0, dtype=FLOAT16),
]
