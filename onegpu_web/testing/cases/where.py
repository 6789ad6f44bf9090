"""Cases of Where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT32
from ...kernels import where
from ...problems.elementwise import WhereProblem
from ..reference.operands import bits, take
from .case import Arrays, Case

FAMILY = where.FAMILY


def arrays(problem: WhereProblem, rng: np.random.Generator) -> Arrays:
    """The condition, 0 or not, and a and b of any bits, flat."""
    name = problem.dtype.name
    condition = bits(rng, problem.condition_shape, problem.condition_offset, "uint32") % 3
    a = bits(rng, problem.a_shape, problem.a_offset, name)
    return {"condition": condition, "a": a, "b": bits(rng, problem.b_shape, problem.b_offset, name)}


def expected(problem: WhereProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y, the same bits."""
    condition = take(arrays["condition"], problem.condition_shape, problem.condition_offset)
    a, b = take(arrays["a"], problem.a_shape, problem.a_offset), take(arrays["b"], problem.b_shape, problem.b_offset)
    return {"y": np.where(condition != 0, a, b)}


def _case(name: str, *shapes: tuple[int, ...], **fields: Any) -> Case:
    return Case(name, WhereProblem(shapes[0], shapes[1], shapes[2], **fields), 0.0)


CASES = [
    _case("same_shape", (3, 5), (3, 5), (3, 5)),
    _case("broadcast", (4, 1), (3, 1, 5), ()),
    _case("scalar_condition", (), (2, 3), (3,)),
    _case("offsets", (3, 4), (4,), (3, 1), condition_offset=1, a_offset=3, b_offset=5, y_offset=2),
    _case("integers", (3, 4), (4,), (), dtype=INT32),
    _case("half", (3, 4), (4,), (), dtype=FLOAT16),
]
