"""Cases of pooling whole planes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT8, INT32, UINT8
from ...kernels import pool_global
from ...problems.pool import GlobalPoolProblem
from ..reference import pool as reference
from .case import Arrays, Case
from .pool import elements

FAMILY = pool_global.FAMILY


def arrays(problem: GlobalPoolProblem, rng: np.random.Generator) -> Arrays:
    """x, flat; the last plane of a max starts with NaN, its first one is NaN alone where there are several."""
    x = elements(problem, rng)
    if x.dtype.kind == "f" and problem.kind == "max":
        planes = x[problem.x_offset :].reshape(problem.planes, problem.plane)
        if problem.planes > 1:
            planes[0] = np.nan
        planes[-1, : min(3, problem.plane - 1)] = np.nan
    return {"x": x}


def expected(problem: GlobalPoolProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y: x's own type for max, else float64."""
    return reference.global_pool(problem, arrays["x"][problem.x_offset :].reshape(problem.x_shape))


def _case(name: str, kind: str, x_shape: tuple[int, ...], *variants: str, **fields: Any) -> Case:
    tolerance = 0.0 if kind == "max" else 2e-3 if fields.get("dtype") is FLOAT16 else 1e-5
    return Case(name, GlobalPoolProblem(kind, x_shape, **fields), tolerance, variants or None)


CASES = [
    _case("average_7x7", "average", (2, 96, 7, 7)),
    _case("average_one_element", "average", (2, 3, 1, 1)),
    _case("average_1d", "average", (3, 5, 33)),
    _case("average_4d", "average", (1, 3, 5, 4, 3, 2)),
    _case("average_offsets", "average", (1, 3, 9, 11), x_offset=5, y_offset=7),
    _case("average_half", "average", (1, 5, 17, 13), dtype=FLOAT16, y_offset=1),
    _case("average_cut_plane", "average", (1, 3, 120, 130)),
    # Software adapters end a loop after 65,536 rounds: one thread cannot take these planes.
    _case("average_large_plane", "average", (1, 1, 700, 900), "tree"),
    _case("average_many_planes", "average", (3, 2200, 3, 3)),
    _case("max_7x7", "max", (2, 96, 7, 7)),
    _case("max_1d", "max", (3, 5, 33)),
    _case("max_cut_plane", "max", (1, 3, 120, 130)),
    _case("max_large_plane", "max", (1, 1, 700, 900), "tree"),
    _case("max_offsets", "max", (1, 3, 9, 11), x_offset=5, y_offset=7),
    _case("max_half", "max", (1, 5, 17, 13), dtype=FLOAT16, x_offset=1, y_offset=3),
    _case("max_int8", "max", (1, 7, 17, 13), dtype=INT8, x_offset=3, y_offset=2),
    _case("max_uint8_cut", "max", (1, 3, 100, 130), dtype=UINT8, y_offset=1),
    _case("max_int32", "max", (2, 7, 17), dtype=INT32),
    _case("lp_1", "lp", (1, 5, 17, 13), p=1.0),
    _case("lp_2_cut", "lp", (1, 2, 120, 130)),
    _case("lp_3", "lp", (1, 5, 17, 13), p=3.0),
]
