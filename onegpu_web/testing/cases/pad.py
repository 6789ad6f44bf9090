"""Cases of Pad."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT8, INT32, UINT8
from ...kernels import pad
from ...problems.movement import PadProblem
from ..reference import movement as reference
from ..reference.operands import bits, take
from .case import Arrays, Case

FAMILY = pad.FAMILY


def arrays(problem: PadProblem, rng: np.random.Generator) -> Arrays:
    """x, flat, of any bits."""
    return {"x": bits(rng, (math.prod(problem.x_shape),), problem.x_offset, problem.dtype.name)}


def expected(problem: PadProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y, the same bits."""
    return {"y": reference.pad(problem, take(arrays["x"], problem.x_shape, problem.x_offset))}


def _case(name: str, x_shape: tuple[int, ...], pads: tuple[int, ...], mode: str = "constant", **fields: Any) -> Case:
    return Case(name, PadProblem(x_shape, pads, mode, **fields), 0.0)


CASES = [
    _case("constant", (2, 3, 5, 4), (0, 0, 1, 2, 0, 0, 3, 1), value=1.5),
    _case("constant_channels", (2, 3, 5, 4), (0, 1, 0, 0, 0, 2, 0, 0)),
    _case("constant_crops", (4, 6, 5), (1, -2, 0, -1, 3, -1), value=-7.0),
    _case("constant_infinite", (3, 3), (1, 0, 0, 1), value=math.inf),
    _case("edge", (2, 3, 5, 4), (0, 0, 2, 1, 0, 0, 1, 3), "edge"),
    _case("edge_crops", (6, 7), (-2, 3, 2, -1), "edge"),
    _case("reflect", (2, 5, 4), (0, 3, 2, 0, 4, 3), "reflect"),
    _case("reflect_beyond_once", (1, 3, 2), (0, 5, 4, 0, 7, 3), "reflect"),
    _case("reflect_one_element", (1, 4), (2, 1, 1, 1), "reflect"),
    _case("wrap", (2, 3, 4), (1, 2, 3, 0, 1, 5), "wrap"),
    _case("wrap_crops", (5, 6), (-1, 2, 3, -2), "wrap"),
    _case("offsets", (3, 4), (1, 1, 1, 1), value=2.0, x_offset=3, y_offset=5),
    _case("empty_input", (0, 3), (2, 0, 1, 1), value=4.0),
    _case("integers", (3, 4), (0, 1, 2, 0), value=-5.0, dtype=INT32),
    _case("half", (3, 4), (0, 1, 2, 0), value=-5.5, dtype=FLOAT16),
    _case("bytes", (3, 5), (0, 1, 2, 0), value=-5.0, dtype=INT8, x_offset=3, y_offset=1),
    _case("bytes_reflect", (2, 5, 4), (0, 3, 2, 0, 4, 3), "reflect", dtype=UINT8, y_offset=6),
    _case("six_axes", (1, 2, 3, 2, 3, 2), (0, 1, 0, 1, 0, 1, 0, 0, 2, 0, 1, 0)),
]
