"""Cases of BatchNormalization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16
from ...kernels import batch_normalization
from ...problems.normalization import BatchNormalizationProblem
from ..reference import normalization as reference
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = batch_normalization.FAMILY
_ROLES = ("scale", "bias", "mean", "variance")


def arrays(problem: BatchNormalizationProblem, rng: np.random.Generator) -> Arrays:
    """x and the statistics, flat."""
    name = problem.dtype.name
    made = {"x": normal(rng, problem.x_shape, problem.x_offset, name, odd=problem.dtype is not FLOAT16)}
    for role in _ROLES:
        made[role] = normal(rng, (problem.channels,), getattr(problem, f"{role}_offset"), name)
    return made | {"variance": np.abs(made["variance"])}


def expected(problem: BatchNormalizationProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    operands = {role: take(arrays[role], (problem.channels,), getattr(problem, f"{role}_offset")) for role in _ROLES}
    operands["x"] = take(arrays["x"], problem.x_shape, problem.x_offset)
    return {"y": reference.batch_normalize(problem, operands)}


def _case(name: str, x_shape: tuple[int, ...], *, tolerance: float = 1e-5, **fields: Any) -> Case:
    return Case(name, BatchNormalizationProblem(x_shape, **fields), tolerance)


CASES = [
    _case("planes_of_four", (2, 5, 6, 6)),
    _case("odd_planes", (2, 7, 5, 3), epsilon=1e-3),
    _case("two_axes", (9, 5)),
    _case("three_axes", (2, 3, 8)),
    _case(
        "offsets", (2, 3, 7), x_offset=3, scale_offset=1, bias_offset=2, mean_offset=4, variance_offset=5, y_offset=6
    ),
    _case("half", (2, 3, 8), tolerance=2e-3, dtype=FLOAT16),
]
