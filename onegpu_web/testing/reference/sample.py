"""MaxUnpool, Col2Im and GridSample as ONNX's text defines them, in numpy."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from .windows import axes_of

if TYPE_CHECKING:
    from ...problems.col2im import Col2ImProblem
    from ...problems.grid_sample import GridSampleProblem
    from ...problems.max_unpool import MaxUnpoolProblem

Array = np.ndarray[Any, Any]


def max_unpool(problem: MaxUnpoolProblem, x: Array, indices: Array) -> Array:
    """y (N, C, O1..On): zeros, x's elements at their indices; later elements overwrite earlier ones."""
    shape, rank = problem.x_shape, len(problem.x_shape) - 2
    strides, pads = problem.strides or (1,) * rank, problem.pads or (0,) * 2 * rank
    rows = zip(shape[2:], strides, problem.kernel_shape, pads[:rank], pads[rank:], strict=True)
    inferred = (*shape[:2], *((size - 1) * stride + k - begin - end for size, stride, k, begin, end in rows))
    flat = np.zeros(int(np.prod(inferred)), x.dtype)
    for place, element in zip(indices.reshape(-1), x.reshape(-1), strict=True):
        if 0 <= place < flat.size:
            flat[place] = element
    y = np.zeros(problem.wanted_shape or inferred, x.dtype)
    y[tuple(slice(0, size) for size in inferred)] = flat.reshape(inferred)
    return y


def col2im(problem: Col2ImProblem, x: Array) -> Array:
    """y (N, C, *image) in float64: every block element added where it was taken from."""
    image = problem.image_shape
    axes = axes_of(image, problem.block_shape, problem.strides, problem.dilations, problem.pads)
    blocks = tuple(axis.out for axis in axes)
    n, c = x.shape[0], x.shape[1] // int(np.prod(problem.block_shape))
    columns = x.astype(np.float64).reshape(n, c, *problem.block_shape, *blocks)
    padded = np.zeros((n, c, *(axis.size + axis.begin + axis.end for axis in axes)))
    for tap in itertools.product(*(range(k) for k in problem.block_shape)):
        rows = zip(tap, axes, strict=True)
        ends = [slice(t * a.dilation, t * a.dilation + (a.out - 1) * a.stride + 1, a.stride) for t, a in rows]
        at: tuple[Any, ...] = (..., *ends)
        block: tuple[Any, ...] = (..., *tap, *(slice(None) for _ in blocks))
        padded[at] += columns[block]
    inner: tuple[Any, ...] = tuple(slice(axis.begin, axis.begin + axis.size) for axis in axes)
    return padded[(..., *inner)]


def grid_sample(problem: GridSampleProblem, x: Array, grid: Array) -> Array:
    """y (N, C, *output sizes) in float64, from coordinates worked out in float32."""
    axes = len(problem.x_shape) - 2
    taps = {"nearest": (0,), "linear": (0, 1), "cubic": (-1, 0, 1, 2)}[problem.mode]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n in range(problem.x_shape[0]):
        lost = np.zeros(grid.shape[1:-1], bool)
        table = []  # for each axis (depth first) and tap: indices, weights
        for axis in range(axes):
            size = problem.x_shape[2 + axis]
            points = _coordinates(problem, grid[n, ..., axes - 1 - axis].astype(np.float32), size)
            lost |= np.isnan(points)  # no place at all
            points = np.clip(np.where(np.isnan(points), 0, points), -1e9, 1e9)
            below = np.floor(points)
            rest = (points - below).astype(np.float64)
            rows = [
                (_resolve(problem, below.astype(np.int64) + t, size), _weight(problem.mode, t - rest)) for t in taps
            ]
            table.append(rows)
        for choice in itertools.product(*table):
            weight = np.prod([w for _, w in choice], axis=0)
            inside = np.all([i >= 0 for i, _ in choice], axis=0)
            where: tuple[Any, ...] = (slice(None), *(np.maximum(i, 0) for i, _ in choice))
            value = x[n][where].astype(np.float64)
            y[n] += np.where(inside, weight * value, 0)
        y[n][:, lost] = np.nan
    return y


def _weight(mode: str, offset: Array) -> Array:
    """The weight of a tap at an offset from the point."""
    distance = np.abs(offset)
    if mode == "nearest":
        return np.ones(offset.shape)
    if mode == "linear":
        return 1 - distance
    a = -0.75
    inner = (a + 2) * distance**3 - (a + 3) * distance**2 + 1
    return np.where(distance <= 1, inner, a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a)


def _coordinates(problem: GridSampleProblem, grid: Array, size: int) -> Array:
    one, two, extent = np.float32(1), np.float32(2), np.float32(size)
    points = (grid + one) / two * (extent - one) if problem.align_corners else ((grid + one) * extent - one) / two
    if problem.mode == "nearest":
        points = np.rint(points)
    low, high = (0, size - 1) if problem.align_corners else (-0.5, size - 0.5)
    outside = (points < low) | (points > high)
    if problem.padding_mode == "border":
        return np.where(outside, np.clip(points, 0, size - 1), points).astype(np.float32)
    if problem.padding_mode == "reflection":
        return np.where(outside, _reflect(points, low, high), points).astype(np.float32)
    return points


def _reflect(points: Array, low: float, high: float) -> Array:
    """Points thrown back from the borders until they lie within; NaN for infinities, which never do."""
    span = high - low
    if span == 0:
        return np.full(points.shape, low)
    with np.errstate(invalid="ignore"):
        period = np.mod(points.astype(np.float64) - low, 2 * span)
    return low + np.where(period > span, 2 * span - period, period)


def _resolve(problem: GridSampleProblem, index: Array, size: int) -> Array:
    """The index that a tap reads; -1 for zero."""
    if problem.padding_mode == "zeros":
        return np.where((index >= 0) & (index < size), index, -1)
    if problem.padding_mode == "border":
        return np.clip(index, 0, size - 1)
    low, high = (0, size - 1) if problem.align_corners else (-0.5, size - 0.5)
    inside = (index >= low) & (index <= high)
    return np.clip(np.where(inside, index, _reflect(index, low, high).astype(np.int64)), 0, size - 1)
