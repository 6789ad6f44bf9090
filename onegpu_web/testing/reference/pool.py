"""Pooling as ONNX's text defines it, in numpy: max in the elements' own type, sums in float64."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .windows import axes_of

if TYPE_CHECKING:
    from ...problems.pool import GlobalPoolProblem, PoolProblem

Array = np.ndarray[Any, Any]

_LOWEST = {"float32": np.finfo(np.float32).min, "float16": np.finfo(np.float16).min}


def pool(problem: PoolProblem, x: Array) -> dict[str, Array]:
    """y (and indices, int32) of x (N, C, D1..Dn).

    Source: ONNX MaxPool-22, AveragePool-22, LpPool-22.
    """
    sizes = problem.x_shape[2:]
    axes = axes_of(
        sizes, problem.kernel_shape, problem.strides, problem.dilations, problem.pads,
        auto_pad=problem.auto_pad, ceil_mode=problem.ceil_mode,
    )  # fmt: skip
    starts = [np.arange(axis.out) * axis.stride - axis.begin for axis in axes]
    shape = (*problem.x_shape[:2], *(axis.out for axis in axes))
    state: _Max | _Sum = _Max(problem, x, shape) if problem.kind == "max" else _Sum(problem, shape)
    for tap in itertools.product(*(range(k) for k in problem.kernel_shape)):
        # Where each output's tap lies, axis by axis.
        at = [s + t * a.dilation for s, t, a in zip(starts, tap, axes, strict=True)]
        inside = _grid_and([(a >= 0) & (a < size) for a, size in zip(at, sizes, strict=True)])
        padded = _grid_and([a < axis.size + axis.end for a, axis in zip(at, axes, strict=True)])
        clipped: tuple[Any, ...] = np.ix_(*(np.clip(a, 0, size - 1) for a, size in zip(at, sizes, strict=True)))
        state.add(x[(slice(None), slice(None), *clipped)], inside, padded, clipped)
    return state.results()


def _grid_and(masks: list[Array]) -> Array:
    """The outer conjunction of one mask for each axis."""
    result = np.ones((), bool)
    for mask in masks:
        result = np.logical_and(result[..., None], mask)
    return result


class _Sum:
    """AveragePool and LpPool."""

    def __init__(self, problem: PoolProblem, shape: tuple[int, ...]) -> None:
        self.problem = problem
        self.sum = np.zeros(shape)
        self.count = np.zeros(shape[2:])

    def add(self, v: Array, inside: Array, padded: Array, _where: Any) -> None:
        v = v.astype(np.float64)
        if self.problem.kind == "lp":
            v = np.abs(v) ** self.problem.p
        self.sum += np.where(inside, v, 0.0)
        self.count += padded if self.problem.count_include_pad else inside

    def results(self) -> dict[str, Array]:
        if self.problem.kind == "lp":
            return {"y": self.sum ** (1 / self.problem.p)}
        with np.errstate(invalid="ignore"):
            return {"y": np.where(self.count > 0, self.sum / np.maximum(self.count, 1), np.nan)}


class _Max:
    """MaxPool: NaN only where all taps are; the first of equals; the lowest finite value of an empty window."""

    def __init__(self, problem: PoolProblem, x: Array, shape: tuple[int, ...]) -> None:
        self.problem = problem
        lowest = _LOWEST.get(x.dtype.name)
        lowest = np.iinfo(x.dtype).min if lowest is None else lowest
        self.best = np.full(shape, lowest, x.dtype)
        self.index = np.full(shape, -1, np.int32)

    def add(self, v: Array, inside: Array, _padded: Array, where: tuple[Array, ...]) -> None:
        sizes = self.problem.x_shape[2:]
        column_major = self.problem.storage_order == 1
        weights = [math.prod(sizes[:axis] if column_major else sizes[axis + 1 :]) for axis in range(len(sizes))]
        flat = sum(a * w for a, w in zip(where, weights, strict=True))
        planes = np.arange(np.prod(self.problem.x_shape[:2], dtype=np.int64)) * int(np.prod(sizes))
        flat = flat + planes.reshape(*self.problem.x_shape[:2], *(1 for _ in sizes))
        better = inside & ((self.index < 0) | (v > self.best) | (np.isnan(self.best) & ~np.isnan(v)))
        self.best = np.where(better, v, self.best)
        self.index = np.where(better, flat, self.index).astype(np.int32)

    def results(self) -> dict[str, Array]:
        return {"y": self.best} | ({"indices": self.index} if self.problem.indices else {})


def global_pool(problem: GlobalPoolProblem, x: Array) -> dict[str, Array]:
    """y (N, C, 1..1) of x (N, C, D1..Dn)."""
    planes = x.reshape(*x.shape[:2], -1)
    shape = x.shape[:2] + (1,) * (x.ndim - 2)
    if problem.kind == "max":
        numbers = ~np.isnan(planes) if planes.dtype.kind == "f" else np.ones(planes.shape, bool)
        low = -np.inf if planes.dtype.kind == "f" else np.iinfo(planes.dtype).min
        best = np.where(numbers, planes, np.asarray(low, planes.dtype)).max(-1)
        if planes.dtype.kind == "f":
            best = np.where(numbers.any(-1), best, np.asarray(np.nan, planes.dtype))
        return {"y": best.reshape(shape)}
    wide = planes.astype(np.float64)
    sums = wide.mean(-1) if problem.kind == "average" else (np.abs(wide) ** problem.p).sum(-1) ** (1 / problem.p)
    return {"y": sums.reshape(shape)}
