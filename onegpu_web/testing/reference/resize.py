"""Resize as ONNX's text defines it, in numpy and float64: dense weights along each axis, nearest by index.

Independent of problems/resize_taps.py, which it checks. Source: ONNX Resize-19.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...problems.resize import ResizeProblem

Array = np.ndarray[Any, Any]


def output_shape(problem: ResizeProblem) -> tuple[int, ...]:
    """The shape that scales or sizes ask for."""
    return tuple(int(out) for out, _, _, _ in _axes(problem))


def resize(problem: ResizeProblem, x: Array) -> Array:
    """y: x's own type for nearest, else float64."""
    outside = []
    nearest = problem.mode == "nearest"
    y = x if nearest else x.astype(np.float64)
    for axis, (out, scale, length, roi) in enumerate(_axes(problem)):
        size = problem.x_shape[axis]
        if (out, scale, roi) == (size, 1.0, (0.0, 1.0)):
            outside.append(np.zeros(out, bool))
            continue  # not resized
        points = coordinates(problem.coordinate_transformation_mode, size, out, scale, length, roi)
        if problem.sizes and problem.keep_aspect_ratio_policy == "stretch":
            points = between_lengths(problem.coordinate_transformation_mode, size, out, points)
        crop = problem.coordinate_transformation_mode == "tf_crop_and_resize"
        outside.append((points < 0) | (points > size - 1) if crop else np.zeros(out, bool))
        if nearest:
            y = np.take(y, nearest_indices(problem.nearest_mode, points, scale, size), axis)
        else:
            weights = weight_matrix(problem, points, size, scale)
            y = np.moveaxis(np.tensordot(weights, y, (1, axis)), 0, axis)
    for axis, mask in enumerate(outside):
        fill = np.asarray(problem.extrapolation_value).astype(y.dtype)
        y = np.where(mask.reshape([-1 if a == axis else 1 for a in range(y.ndim)]), fill, y)
    return y


def _axes(problem: ResizeProblem) -> list[tuple[int, float, float, tuple[float, float]]]:
    """Output size, scale, length_resized and roi of every axis."""
    rank = len(problem.x_shape)
    axes = [a % rank for a in problem.axes] or list(range(rank))
    extents = np.array([problem.x_shape[a] for a in axes], np.float64)
    roi = np.array(problem.roi or [0.0] * len(axes) + [1.0] * len(axes), np.float32).astype(np.float64)
    if problem.coordinate_transformation_mode != "tf_crop_and_resize":
        roi = np.array([0.0] * len(axes) + [1.0] * len(axes))
    starts, ends = roi[: len(axes)], roi[len(axes) :]
    if problem.scales:
        scales = np.array(problem.scales, np.float32).astype(np.float64)
        single = [a.astype(np.float32) for a in (scales, ends - starts, extents)]
        outs = lengths = np.maximum(np.floor((single[0] * single[1]) * single[2]), 0).astype(np.float64)
    else:
        outs = np.array(problem.sizes, np.float64)
        scales, lengths = outs / extents, outs
        if problem.keep_aspect_ratio_policy != "stretch":
            ratio = scales.min() if problem.keep_aspect_ratio_policy == "not_larger" else scales.max()
            scales, lengths = np.full(len(axes), ratio), ratio * extents
            outs = np.floor(lengths + 0.5)
    full: list[tuple[int, float, float, tuple[float, float]]] = [
        (n, 1.0, float(n), (0.0, 1.0)) for n in problem.x_shape
    ]
    for i, axis in enumerate(axes):
        full[axis] = (int(outs[i]), float(scales[i]), float(lengths[i]), (float(starts[i]), float(ends[i])))
    return full


def coordinates(mode: str, size: int, out: int, scale: float, length: float, roi: tuple[float, float]) -> Array:
    """x_original of each x_resized."""
    x = np.arange(out, dtype=np.float64)
    match mode:
        case "half_pixel":
            return (x + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            return size / 2 * (1 - out / (scale * size)) + (x + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (x + 0.5) / scale - 0.5 if length > 1 else np.zeros(out)
        case "align_corners":
            return x * (size - 1) / (length - 1) if length != 1 else np.zeros(out)
        case "asymmetric":
            return x / scale
        case "tf_half_pixel_for_nn":
            return (x + 0.5) / scale
        case "tf_crop_and_resize":
            start, end = roi
            if length > 1:
                return start * (size - 1) + x * (end - start) * (size - 1) / (length - 1)
            return np.full(out, 0.5 * (start + end) * (size - 1))
    raise ValueError(mode)


def between_lengths(mode: str, size: int, out: int, points: Array) -> Array:
    """`points` in exact arithmetic, each rounded once; of a crop as they are."""
    ratio, last = Fraction(size, out or 1), Fraction(size - 1, max(out - 1, 1))
    centre = [(x + Fraction(1, 2)) * ratio for x in range(out)]
    match mode:
        case "align_corners":
            exact = [x * last for x in range(out)]
        case "asymmetric":
            exact = [x * ratio for x in range(out)]
        case "tf_half_pixel_for_nn":
            exact = centre
        case "tf_crop_and_resize":
            return points
        case "pytorch_half_pixel" if out == 1:
            exact = [Fraction(0)]
        case _:
            exact = [x - Fraction(1, 2) for x in centre]
    return np.array([float(x) for x in exact])


def nearest_indices(mode: str, points: Array, scale: float, size: int) -> Array:
    """The input index of each output, within the input."""
    if mode == "before_opset_11":
        mode = "ceil" if scale < 1 else "floor"
    below = np.floor(points)
    rest = points - below
    above = {
        "floor": np.zeros(points.shape, bool),
        "ceil": rest > 0,
        "round_prefer_floor": rest > 0.5,
        "round_prefer_ceil": rest >= 0.5,
    }[mode]
    index: Array = np.clip(below + above, 0, size - 1).astype(np.int64)
    return index


def weight_matrix(problem: ResizeProblem, points: Array, size: int, scale: float) -> Array:
    """(outputs, size) float64: the filter at each input's distance, taps outside moved to the edge or excluded."""
    stretch = min(scale, 1.0) if problem.antialias else 1.0
    reach = int(np.ceil((1 if problem.mode == "linear" else 2) / stretch)) + 1
    taps = np.floor(points).astype(np.int64)[:, None] + np.arange(-reach, reach + 2)
    distance = np.abs(taps - points[:, None]) * stretch
    if problem.mode == "linear":
        weights = np.maximum(0, 1 - distance)
    else:
        a = float(np.float32(problem.cubic_coeff_a))
        inner = (a + 2) * distance**3 - (a + 3) * distance**2 + 1
        outer = a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a
        weights = np.where(distance <= 1, inner, np.where(distance < 2, outer, 0))
    if problem.antialias:
        weights = weights / weights.sum(1, keepdims=True)
    if problem.exclude_outside:
        weights = np.where((taps >= 0) & (taps < size), weights, 0)
        total = weights.sum(1, keepdims=True)
        weights = weights / np.where(total == 0, 1, total)
    dense = np.zeros((len(points), size))
    np.add.at(dense, (np.arange(len(points))[:, None], np.clip(taps, 0, size - 1)), weights)
    return dense
