"""Cases of Col2Im."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16
from ...kernels.col2im import FAMILY
from ...problems.col2im import Col2ImProblem
from ..reference import sample as reference
from .case import Arrays, Case

__all__ = ["CASES", "FAMILY", "arrays", "expected"]


def arrays(problem: Col2ImProblem, rng: np.random.Generator) -> Arrays:
    """x, flat, behind its offset."""
    return {"x": rng.standard_normal(problem.x_offset + math.prod(problem.x_shape)).astype(problem.dtype.name)}


def expected(problem: Col2ImProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    return {"y": reference.col2im(problem, arrays["x"][problem.x_offset :].reshape(problem.x_shape))}


CASES = [
    Case("rows", Col2ImProblem((1, 5, 5), (5, 5), (1, 5))),
    Case("overlap", Col2ImProblem((2, 27, 49), (9, 9), (3, 3))),
    Case("strides_pads", Col2ImProblem((1, 18, 16), (8, 7), (3, 3), strides=(2, 2), pads=(1, 1, 1, 2))),
    Case("dilations", Col2ImProblem((1, 8, 30), (8, 8), (2, 2), dilations=(2, 3))),
    Case("one_axis", Col2ImProblem((2, 12, 7), (20,), (4,), strides=(3,), pads=(1, 2))),
    Case("volume", Col2ImProblem((1, 16, 24), (4, 5, 3), (2, 2, 2), strides=(2, 1, 1), pads=(1, 0, 0, 0, 0, 1))),
    Case("offsets", Col2ImProblem((1, 8, 12), (4, 5), (2, 2), x_offset=3, y_offset=5)),
    Case("half", Col2ImProblem((1, 8, 12), (4, 5), (2, 2), dtype=FLOAT16, y_offset=1), 2e-3),
]
