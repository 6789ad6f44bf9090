"""Cases of Concat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT32, UINT8
from ...kernels import copy
from ...problems.movement import ConcatProblem
from ..reference.operands import bits, take
from .case import Arrays, Case

FAMILY = copy.CONCAT


def _offset(problem: ConcatProblem, index: int) -> int:
    return problem.x_offsets[index] if problem.x_offsets else 0


def arrays(problem: ConcatProblem, rng: np.random.Generator) -> Arrays:
    """x0, x1 ..., flat, of any bits."""
    return {
        f"x{i}": bits(rng, shape, _offset(problem, i), problem.dtype.name) for i, shape in enumerate(problem.shapes)
    }


def expected(problem: ConcatProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y, the same bits."""
    parts = [take(arrays[f"x{i}"], shape, _offset(problem, i)) for i, shape in enumerate(problem.shapes)]
    return {"y": np.concatenate(parts, problem.axis)}


def _case(name: str, shapes: tuple[tuple[int, ...], ...], axis: int, **fields: Any) -> Case:
    return Case(name, ConcatProblem(shapes, axis, **fields), 0.0)


CASES = [
    _case("channels", ((2, 3, 5, 5), (2, 7, 5, 5), (2, 1, 5, 5)), 1),
    _case("channels_of_four", ((2, 3, 4, 4), (2, 5, 4, 4)), 1),
    _case("last_axis", ((3, 4), (3, 5), (3, 1)), -1),
    _case("first_axis", ((2, 6), (3, 6)), 0),
    _case("one_input", ((2, 6),), 0),
    _case("empty_input", ((2, 6), (0, 6), (1, 6)), 0),
    _case("offsets", ((2, 3), (2, 5)), 1, x_offsets=(3, 1), y_offset=2),
    _case("integers", ((4, 3), (4, 8)), 1, dtype=INT32),
    _case("half", ((4, 3), (4, 8)), 1, dtype=FLOAT16),
    _case("bytes", ((2, 3, 2), (2, 4, 2), (2, 1, 2)), 1, dtype=UINT8, x_offsets=(3, 0, 1), y_offset=5),
    _case("ten_inputs", ((1, 2, 3),) * 10, 1),
]
