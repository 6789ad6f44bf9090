"""Pooling as ONNX's text defines it, in numpy: max in the elements' own type, sums in float64."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ...problems.pool import GlobalPoolProblem, PoolProblem

Array = np.ndarray[Any, Any]

_LOWEST = {"float32": np.finfo(np.float32).min, "float16": np.finfo(np.float16).min}


def pool(problem: PoolProblem, x: Array) -> dict[str, Array]:
    """y (and indices, int32) of x (N, C, D1..Dn).

    Source: ONNX MaxPool-22, AveragePool-22, LpPool-22.
    """
    starts, sizes = [], problem.x_shape[2:]
    for window, out in zip(problem.windows, problem.output_shape[2:], strict=True):
        starts.append(np.arange(out) * window.stride - window.pad_begin)
    state: _Max | _Sum = _Max(problem, x) if problem.kind == "max" else _Sum(problem)
    for tap in itertools.product(*(range(k) for k in problem.kernel_shape)):
        # Where each output's tap lies, axis by axis.
        at = [s + t * w.dilation for s, t, w in zip(starts, tap, problem.windows, strict=True)]
        inside = _grid_and([(a >= 0) & (a < size) for a, size in zip(at, sizes, strict=True)])
        padded = _grid_and([a < size + w.pad_end for a, size, w in zip(at, sizes, problem.windows, strict=True)])
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

    def __init__(self, problem: PoolProblem) -> None:
        self.problem = problem
        self.sum = np.zeros(problem.output_shape)
        self.count = np.zeros(problem.output_shape[2:])

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

    def __init__(self, problem: PoolProblem, x: Array) -> None:
        self.problem = problem
        lowest = _LOWEST.get(x.dtype.name)
        lowest = np.iinfo(x.dtype).min if lowest is None else lowest
        self.best = np.full(problem.output_shape, lowest, x.dtype)
        self.index = np.full(problem.output_shape, -1, np.int32)

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
    if problem.kind == "max":
        numbers = ~np.isnan(planes) if planes.dtype.kind == "f" else np.ones(planes.shape, bool)
        low = -np.inf if planes.dtype.kind == "f" else np.iinfo(planes.dtype).min
        best = np.where(numbers, planes, np.asarray(low, planes.dtype)).max(-1)
        if planes.dtype.kind == "f":
            best = np.where(numbers.any(-1), best, np.asarray(np.nan, planes.dtype))
        return {"y": best.reshape(problem.output_shape)}
    wide = planes.astype(np.float64)
    sums = wide.mean(-1) if problem.kind == "average" else (np.abs(wide) ** problem.p).sum(-1) ** (1 / problem.p)
    return {"y": sums.reshape(problem.output_shape)}
