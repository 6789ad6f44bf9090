"""Cases of windowed pooling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT8, INT32, UINT8
from ...kernels import pool
from ...problems.pool import GlobalPoolProblem, PoolProblem
from ..reference import pool as reference
from .case import Arrays, Case

FAMILY = pool.FAMILY


def elements(problem: PoolProblem | GlobalPoolProblem, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """x, flat, behind x_offset elements of its own; floats hold a few NaN and infinities, integers their extremes."""
    count, dtype = problem.x_offset + math.prod(problem.x_shape), np.dtype(problem.dtype.name)
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, count, dtype, endpoint=True)
    made = rng.standard_normal(count).astype(dtype)
    odd = [np.nan, np.inf, -np.inf] if problem.kind == "max" else [np.nan, np.inf]
    if count > 40 and isinstance(problem, PoolProblem):
        made[rng.choice(count, len(odd), replace=False)] = odd
    return made


def arrays(problem: PoolProblem, rng: np.random.Generator) -> Arrays:
    """x, flat."""
    return {"x": elements(problem, rng)}


def expected(problem: PoolProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y: x's own type for max, else float64; indices: int32."""
    return reference.pool(problem, arrays["x"][problem.x_offset :].reshape(problem.x_shape))


def _case(name: str, kind: str, x_shape: tuple[int, ...], kernel_shape: tuple[int, ...], **fields: Any) -> Case:
    half = fields.get("dtype") is FLOAT16
    tolerance = 0.0 if kind == "max" else 2e-3 if half else 1e-5
    return Case(name, PoolProblem(kind, x_shape, kernel_shape, **fields), tolerance)


CASES = [
    _case("max_3x3_stride_2", "max", (2, 3, 15, 13), (3, 3), strides=(2, 2), pads=(1, 1, 1, 1)),
    _case("max_same_upper_2x2", "max", (1, 5, 9, 8), (2, 2), auto_pad="SAME_UPPER"),
    _case("max_same_lower", "max", (1, 2, 9, 8), (3, 2), strides=(2, 3), auto_pad="SAME_LOWER"),
    _case("max_valid_ignores_ceil", "max", (1, 2, 9, 8), (3, 3), strides=(2, 2), auto_pad="VALID", ceil_mode=True),
    _case("max_asymmetric_pads", "max", (1, 3, 10, 11), (3, 3), strides=(2, 2), pads=(0, 0, 1, 1)),
    _case("max_dilated", "max", (1, 2, 12, 14), (3, 2), dilations=(2, 3), pads=(2, 0, 1, 3)),
    _case("max_ceil_overhang", "max", (1, 2, 8, 8), (3, 3), strides=(3, 3), ceil_mode=True),
    _case("max_ceil_drops_window_in_padding", "max", (1, 3, 2, 2), (3, 3), strides=(3, 3), pads=(1, 1, 1, 1),
          ceil_mode=True),
    _case("max_empty_windows", "max", (1, 2, 3, 3), (2, 2), pads=(2, 2, 3, 3), indices=True),
    _case("max_1d", "max", (2, 3, 31), (4,), strides=(3,), pads=(1, 2)),
    _case("max_3d", "max", (1, 2, 7, 6, 5), (2, 3, 2), strides=(2, 1, 2), pads=(1, 1, 0, 0, 1, 1), indices=True),
    _case("max_indices", "max", (2, 3, 8, 9), (3, 3), strides=(2, 2), pads=(1, 1, 1, 1), indices=True),
    _case("max_indices_column_major", "max", (2, 3, 8, 9), (3, 3), strides=(2, 2), indices=True, storage_order=1),
    _case("max_3d_column_major", "max", (2, 2, 4, 5, 6), (2, 2, 2), indices=True, storage_order=1),
    _case("max_offsets", "max", (1, 3, 7, 5), (2, 3), x_offset=7, y_offset=5, indices_offset=3, indices=True),
    _case("max_half", "max", (1, 3, 9, 7), (3, 3), pads=(1, 1, 1, 1), dtype=FLOAT16, x_offset=3, y_offset=1),
    _case("max_int8", "max", (2, 3, 9, 7), (2, 2), strides=(2, 2), dtype=INT8, x_offset=5, y_offset=3),
    _case("max_uint8", "max", (2, 3, 9, 7), (3, 3), pads=(1, 1, 1, 1), dtype=UINT8, y_offset=2, indices=True),
    _case("max_int32", "max", (1, 2, 9, 7), (3, 3), dtype=INT32),
    _case("max_wide_grid", "max", (1, 1, 1, 4_300_000), (1, 2), strides=(1, 1)),
    _case("average_3x2", "average", (1, 4, 6, 40), (3, 2), strides=(3, 2)),
    _case("average_pads", "average", (2, 3, 9, 8), (3, 3), strides=(2, 2), pads=(1, 1, 1, 1)),
    _case("average_same_upper", "average", (1, 3, 8, 9), (2, 2), auto_pad="SAME_UPPER"),
    _case("average_same_lower", "average", (1, 3, 8, 9), (3, 3), strides=(2, 2), auto_pad="SAME_LOWER"),
    _case("average_include_pad", "average", (1, 3, 9, 8), (3, 3), pads=(2, 1, 1, 2), count_include_pad=True),
    _case("average_include_pad_overhang", "average", (1, 2, 8, 7), (3, 3), strides=(2, 2), pads=(1, 0, 0, 1),
          ceil_mode=True, count_include_pad=True),
    _case("average_ceil_overhang", "average", (1, 2, 8, 7), (3, 3), strides=(2, 2), ceil_mode=True),
    _case("average_dilated_include_pad", "average", (1, 2, 11, 12), (3, 2), strides=(2, 3), dilations=(2, 3),
          pads=(2, 1, 2, 1), ceil_mode=True, count_include_pad=True),
    _case("average_empty_windows", "average", (1, 2, 3, 3), (2, 2), pads=(2, 2, 3, 3)),
    _case("average_1d", "average", (2, 3, 31), (4,), strides=(3,), pads=(1, 2)),
    _case("average_3d", "average", (1, 2, 7, 6, 5), (3, 2, 2), strides=(2, 1, 2), pads=(1, 0, 1, 0, 1, 1)),
    _case("average_offsets", "average", (1, 3, 7, 5), (2, 3), x_offset=3, y_offset=5),
    _case("average_half", "average", (1, 3, 9, 8), (3, 3), pads=(1, 1, 1, 1), dtype=FLOAT16, y_offset=3),
    _case("average_large_window", "average", (1, 2, 120, 110), (100, 101), strides=(9, 5)),
    _case("lp_1", "lp", (1, 3, 9, 8), (3, 3), pads=(1, 1, 1, 1), p=1.0),
    _case("lp_2_same_upper", "lp", (1, 3, 9, 8), (2, 2), auto_pad="SAME_UPPER"),
    _case("lp_3_dilated", "lp", (1, 3, 9, 8), (2, 3), dilations=(2, 2), p=3.0),
    _case("lp_ceil_1d", "lp", (2, 3, 30), (4,), strides=(3,), ceil_mode=True, p=4.0),
    _case("lp_3d_half", "lp", (1, 2, 5, 6, 5), (2, 2, 2), dtype=FLOAT16),
]  # fmt: skip
