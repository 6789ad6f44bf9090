"""Cases of GridSample; grids reach a little beyond the input, larger ones to infinity and NaN too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16
from ...kernels.grid_sample import FAMILY
from ...problems.grid_sample import MODES, PADDING_MODES, GridSampleProblem
from ..reference import sample as reference
from .case import Arrays, Case

__all__ = ["CASES", "FAMILY", "arrays", "expected"]


def arrays(problem: GridSampleProblem, rng: np.random.Generator) -> Arrays:
    """x and grid, flat, behind their offsets."""
    x = rng.standard_normal(problem.x_offset + math.prod(problem.x_shape)).astype(problem.dtype.name)
    grid = rng.uniform(-1.7, 1.7, problem.grid_offset + math.prod(problem.grid_shape))
    if grid.size > 40:
        grid[rng.choice(grid.size, 3, replace=False)] = [np.nan, np.inf, -np.inf]
    grid = grid.astype(problem.grid_dtype.name)
    return {"x": x, "grid": grid}


def expected(problem: GridSampleProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    x = arrays["x"][problem.x_offset :].reshape(problem.x_shape)
    grid = arrays["grid"][problem.grid_offset :].reshape(problem.grid_shape)
    return {"y": reference.grid_sample(problem, x, grid)}


_MATRIX = [
    Case(
        f"{mode}_{padding}_{'align' if align else 'edges'}",
        GridSampleProblem((2, 3, 7, 6), (2, 5, 9, 2), mode=mode, padding_mode=padding, align_corners=align),
    )
    for mode in MODES
    for padding in PADDING_MODES
    for align in (False, True)
]

CASES = [
    *_MATRIX,
    Case("volume_linear_border", GridSampleProblem((1, 2, 4, 5, 6), (1, 3, 4, 5, 3), padding_mode="border")),
    Case(
        "volume_nearest_reflection",
        GridSampleProblem((2, 2, 4, 5, 6), (2, 3, 4, 5, 3), mode="nearest", padding_mode="reflection"),
    ),
    Case("volume_cubic_zeros", GridSampleProblem((1, 2, 4, 5, 6), (1, 3, 4, 5, 3), mode="cubic")),
    Case("many_channels", GridSampleProblem((2, 19, 9, 8), (2, 5, 7, 2), align_corners=True)),
    Case("one_pixel", GridSampleProblem((1, 2, 1, 1), (1, 4, 4, 2), padding_mode="reflection", align_corners=True)),
    Case(
        "offsets",
        GridSampleProblem((1, 3, 5, 6), (1, 4, 4, 2), padding_mode="border", x_offset=5, grid_offset=3, y_offset=7),
    ),
    Case("half", GridSampleProblem((1, 9, 5, 6), (1, 4, 5, 2), dtype=FLOAT16, x_offset=1, y_offset=3), 2e-3),
    Case("half_grid", GridSampleProblem((1, 2, 5, 6), (1, 4, 5, 2), dtype=FLOAT16, grid_dtype=FLOAT16), 2e-3),
]
