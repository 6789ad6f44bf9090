"""Cases of layer, instance and group normalization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16
from ...kernels import normalization
from ...problems.normalization import NormalizationProblem
from ..reference import normalization as reference
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = normalization.FAMILY


def arrays(problem: NormalizationProblem, rng: np.random.Generator) -> Arrays:
    """x, away from 0 on the average, scale and bias, flat."""
    name, count = problem.dtype.name, (problem.channels[1],)
    x = normal(rng, problem.x_shape, problem.x_offset, name)
    made = {"x": x + np.asarray(3, x.dtype), "scale": normal(rng, count, problem.scale_offset, name)}
    return made | ({"bias": normal(rng, count, problem.bias_offset, name)} if problem.has_bias else {})


def expected(problem: NormalizationProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    count = (problem.channels[1],)
    bias = take(arrays["bias"], count, problem.bias_offset) if problem.has_bias else None
    scale = take(arrays["scale"], count, problem.scale_offset)
    return {"y": reference.normalize(problem, take(arrays["x"], problem.x_shape, problem.x_offset), scale, bias)}


def _case(name: str, kind: str, x_shape: tuple[int, ...], *, tolerance: float = 1e-5, **fields: Any) -> Case:
    return Case(name, NormalizationProblem(kind, x_shape, **fields), tolerance)


CASES = [
    _case("layer", "layer", (3, 7, 96)),
    _case("layer_short_rows", "layer", (5, 13)),
    _case("layer_long_rows", "layer", (2, 1500)),
    _case("layer_two_axes", "layer", (3, 5, 31), axis=1, epsilon=1e-2),
    _case("layer_without_bias", "layer", (4, 70), has_bias=False),
    _case("layer_offsets", "layer", (4, 70), x_offset=3, scale_offset=1, bias_offset=2, y_offset=5),
    _case("instance", "instance", (2, 5, 9, 11)),
    _case("instance_small", "instance", (2, 3, 5)),
    _case("group", "group", (2, 6, 5, 7), num_groups=3),
    _case("group_of_all", "group", (2, 6, 5), num_groups=1),
    _case("group_scale_per_group", "group", (2, 6, 5, 7), num_groups=2, scale_per_group=True),
    _case("half", "layer", (4, 70), tolerance=2e-3, dtype=FLOAT16),
]
