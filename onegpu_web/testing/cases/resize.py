"""Cases of resize: the attributes one by one, then those of networks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT8, INT32, UINT8, UINT32
from ...kernels.resize import FAMILY
from ...problems.resize import ResizeProblem
from ..reference import resize as reference
from .case import Arrays, Case

__all__ = ["CASES", "FAMILY", "arrays", "expected"]


def arrays(problem: ResizeProblem, rng: np.random.Generator) -> Arrays:
    """x, flat, behind x_offset elements of its own; nearest moves any bits, NaN among them."""
    count, dtype = problem.x_offset + math.prod(problem.x_shape), np.dtype(problem.dtype.name)
    if problem.mode == "nearest" and problem.dtype is not FLOAT16:
        return {"x": rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype)}
    return {"x": rng.standard_normal(count).astype(dtype)}


def expected(problem: ResizeProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y: x's own type for nearest, else float64."""
    return {"y": reference.resize(problem, arrays["x"][problem.x_offset :].reshape(problem.x_shape))}


def _case(name: str, x_shape: tuple[int, ...], **fields: Any) -> Case:
    nearest = fields.setdefault("mode", "nearest") == "nearest"
    if coordinates := fields.pop("coordinates", None):
        fields["coordinate_transformation_mode"] = coordinates
    tolerance = 0.0 if nearest else 2e-3 if fields.get("dtype") is FLOAT16 else 1e-5
    return Case(name, ResizeProblem(x_shape, **fields), tolerance)


_CROP: dict[str, Any] = {"coordinates": "tf_crop_and_resize", "extrapolation_value": 2.5}

CASES = [
    _case("nearest_twice", (2, 3, 5, 150), scales=(1, 1, 2, 2), coordinates="asymmetric", nearest_mode="floor"),
    _case("nearest_half_pixel", (1, 3, 5, 7), sizes=(1, 3, 11, 5)),
    _case("nearest_align_corners", (1, 2, 5, 7), sizes=(1, 2, 9, 4), coordinates="align_corners",
          nearest_mode="round_prefer_ceil"),
    _case("nearest_third", (1, 2, 9, 12), scales=(1, 1, 1 / 3, 1 / 3), nearest_mode="floor"),
    _case("nearest_last_axes_and_channels", (1, 3, 4, 5), sizes=(1, 5, 8, 3), nearest_mode="ceil"),
    _case("nearest_channels_last", (1, 5, 9, 3), sizes=(1, 10, 18, 3), coordinates="asymmetric", nearest_mode="floor"),
    _case("nearest_five_axes", (2, 3, 4, 3, 5), sizes=(3, 2, 8, 4, 7)),
    _case("nearest_crop", (1, 2, 6, 5), sizes=(7, 4), axes=(2, 3), roi=(-0.2, 0.1, 0.7, 1.3), **_CROP),
    _case("nearest_offsets", (1, 3, 5, 12), scales=(1, 1, 2, 3), x_offset=3, y_offset=5),
    _case("nearest_half_type", (1, 3, 5, 4), scales=(1, 1, 2, 1.5), dtype=FLOAT16, x_offset=1, y_offset=3),
    _case("nearest_uint8", (1, 3, 5, 4), scales=(1, 1, 2, 2), dtype=UINT8, x_offset=3, y_offset=1),
    _case("nearest_uint8_twice", (1, 3, 5, 100), scales=(1, 1, 2, 2), dtype=UINT8, x_offset=3, y_offset=8),
    _case("nearest_uint8_channels_last", (1, 5, 30, 3), sizes=(1, 15, 60, 3), coordinates="asymmetric",
          nearest_mode="floor", dtype=UINT8, x_offset=1),
    _case("nearest_half_thrice", (2, 3, 5, 50), scales=(1, 1, 2, 3), dtype=FLOAT16, x_offset=1, y_offset=2),
    _case("nearest_int8_crop", (1, 3, 5, 7), sizes=(9, 6), axes=(2, 3), roi=(0, 0.1, 1.2, 0.8), dtype=INT8, **_CROP),
    _case("nearest_int32", (1, 3, 5, 4), sizes=(1, 3, 3, 9), dtype=INT32),
    _case("nearest_uint32_spans", (5, 2, 2, 2, 3), sizes=(7, 2, 2, 2, 5), dtype=UINT32),
    _case("nearest_nothing", (2, 3, 4), scales=(1, 1, 1)),
    _case("nearest_wide_grid", (1, 1, 1, 1_100_000), scales=(1, 1, 2, 2), coordinates="asymmetric",
          nearest_mode="floor"),
    _case("linear_twice", (2, 3, 5, 41), mode="linear", scales=(1, 1, 2, 2)),
    _case("linear_sizes", (1, 2, 9, 5), mode="linear", sizes=(1, 2, 4, 12)),
    _case("linear_asymmetric", (1, 2, 5, 6), mode="linear", scales=(1, 1, 2, 1.5), coordinates="asymmetric"),
    _case("linear_align_corners", (1, 2, 5, 6), mode="linear", sizes=(1, 2, 10, 3), coordinates="align_corners"),
    _case("linear_align_corners_fraction", (1, 1, 2, 4), mode="linear", scales=(1, 1, 0.6, 0.6),
          coordinates="align_corners"),
    _case("linear_pytorch_half_pixel", (1, 2, 4, 4), mode="linear", sizes=(1, 2, 3, 1),
          coordinates="pytorch_half_pixel"),
    _case("linear_symmetric", (1, 1, 5, 4), mode="linear", scales=(1, 1, 2.3, 2.94),
          coordinates="half_pixel_symmetric"),
    _case("linear_channels_last", (2, 5, 4, 3), mode="linear", sizes=(8, 9), axes=(1, 2)),
    _case("linear_axes_reversed", (2, 3, 4, 5), mode="linear", sizes=(8, 9), axes=(-1, 2)),
    _case("linear_three_axes", (2, 3, 4, 5, 6), mode="linear", scales=(1, 1, 2, 1.5, 0.7)),
    _case("linear_five_axes", (2, 3, 4, 3, 5), mode="linear", sizes=(3, 2, 8, 4, 7)),
    _case("linear_one_axis", (3, 40), mode="linear", sizes=(3, 64)),
    _case("linear_crop", (3, 2, 6, 5), mode="linear", sizes=(7, 4), axes=(2, 3), roi=(-0.2, 0.1, 0.7, 1.3), **_CROP),
    _case("linear_exclude_outside", (1, 2, 5, 6), mode="linear", sizes=(1, 2, 9, 4), exclude_outside=True),
    _case("linear_antialias", (1, 3, 19, 23), mode="linear", sizes=(1, 3, 7, 5), antialias=True),
    _case("linear_not_larger", (1, 3, 9, 12), mode="linear", sizes=(20, 20), axes=(2, 3),
          keep_aspect_ratio_policy="not_larger"),
    _case("linear_offsets", (1, 3, 5, 4), mode="linear", scales=(1, 1, 2, 2), x_offset=3, y_offset=7),
    _case("linear_half", (1, 5, 5, 4), mode="linear", scales=(1, 1, 2, 2), dtype=FLOAT16, y_offset=1),
    _case("cubic_twice", (2, 3, 5, 4), mode="cubic", scales=(1, 1, 2, 2)),
    _case("cubic_a_exclude_outside", (1, 2, 5, 6), mode="cubic", sizes=(1, 2, 9, 4), cubic_coeff_a=-0.5,
          exclude_outside=True),
    _case("cubic_antialias", (1, 2, 19, 17), mode="cubic", sizes=(1, 2, 6, 7), antialias=True),
    _case("cubic_antialias_exclude", (1, 2, 19, 17), mode="cubic", sizes=(1, 2, 6, 30), antialias=True,
          exclude_outside=True),
    _case("cubic_align_corners", (1, 2, 5, 4), mode="cubic", scales=(1, 1, 0.8, 0.8), coordinates="align_corners"),
    _case("cubic_three_axes", (1, 2, 4, 5, 6), mode="cubic", sizes=(1, 2, 5, 4, 9)),
    _case("cubic_half", (1, 2, 5, 4), mode="cubic", scales=(1, 1, 2, 2), dtype=FLOAT16),
]  # fmt: skip
