"""Cases of MaxUnpool: indices as MaxPool gives them (several windows may share a maximum), and arbitrary ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT8, INT32
from ...kernels.max_unpool import FAMILY
from ...problems.max_unpool import MaxUnpoolProblem
from ..reference import sample as reference
from .case import Arrays, Case

__all__ = ["CASES", "FAMILY", "arrays", "expected"]


def arrays(problem: MaxUnpoolProblem, rng: np.random.Generator) -> Arrays:
    """x and indices, flat, behind their offsets; one index is outside, some are there twice."""
    dtype = np.dtype(problem.dtype.name)
    x = (10 * rng.standard_normal(problem.x_offset + problem.elements)).astype(dtype)
    places = math.prod(problem.inferred_shape)
    indices = rng.integers(0, places, problem.indices_offset + problem.elements, np.int32)
    indices[-1], indices[-2] = indices[-4], places
    return {"x": x, "indices": indices}


def expected(problem: MaxUnpoolProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in x's own type."""
    return {
        "y": reference.max_unpool(problem, arrays["x"][problem.x_offset :], arrays["indices"][problem.indices_offset :])
    }


CASES = [
    Case("twice", MaxUnpoolProblem((2, 3, 4, 5), (2, 2), strides=(2, 2)), 0),
    Case("overlapping", MaxUnpoolProblem((1, 3, 5, 4), (3, 3), strides=(2, 2), pads=(1, 1, 1, 1)), 0),
    Case("output_shape", MaxUnpoolProblem((1, 2, 3, 3), (2, 2), strides=(2, 2), wanted_shape=(1, 2, 7, 8)), 0),
    Case("one_axis", MaxUnpoolProblem((2, 3, 7), (3,), strides=(3,)), 0),
    Case("volume", MaxUnpoolProblem((1, 2, 3, 2, 4), (2, 2, 2), strides=(2, 2, 2)), 0),
    Case(
        "offsets", MaxUnpoolProblem((1, 3, 4, 4), (2, 2), strides=(2, 2), x_offset=3, indices_offset=5, y_offset=7), 0
    ),
    Case("half", MaxUnpoolProblem((1, 3, 4, 3), (2, 2), strides=(2, 2), dtype=FLOAT16, x_offset=1, y_offset=1), 0),
    Case("int8", MaxUnpoolProblem((1, 3, 4, 3), (2, 2), strides=(2, 2), dtype=INT8, x_offset=1, y_offset=2), 0),
    Case("int32", MaxUnpoolProblem((1, 3, 4, 3), (2, 2), strides=(2, 2), dtype=INT32), 0),
]
