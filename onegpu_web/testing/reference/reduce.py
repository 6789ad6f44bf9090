"""Reductions in float64 (integers exactly), written from the operators' ONNX text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...problems.reduce import ArgProblem, ReduceProblem, SoftmaxProblem

Array = np.ndarray[Any, Any]


def reduce(problem: ReduceProblem, x: Array) -> Array:
    """Float64 of floats, int32 of integers."""
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    axes = tuple({axis % x.ndim for axis in problem.axes})
    if problem.kind in ("max", "min"):
        start = np.inf if problem.kind == "min" else -np.inf
        function: Callable[..., Array] = np.min if problem.kind == "min" else np.max
        kept = {"initial": start} if x.dtype.kind == "f" else {}
        return np.asarray(function(wide, axis=axes, keepdims=problem.keepdims, **kept), wide.dtype)
    terms = {"l1": np.abs(wide), "sum_square": wide * wide, "l2": wide * wide}.get(problem.kind, wide)
    with np.errstate(all="ignore"):
        if problem.kind == "prod":
            return _kept(np.prod(terms, axis=axes, keepdims=True, dtype=wide.dtype), axes, problem.keepdims)
        total = _kept(np.sum(terms, axis=axes, keepdims=True, dtype=wide.dtype), axes, problem.keepdims)
        if problem.kind == "mean":
            count = x.size // max(1, total.size)
            mean = np.asarray(total / count)
            return mean if x.dtype.kind == "f" else np.asarray(np.trunc(mean), x.dtype)
        if problem.kind == "l2":
            return np.asarray(np.sqrt(total))
        return np.asarray(np.log(total)) if problem.kind == "log_sum" else total


def _kept(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """A reduction that kept its axes, without them unless they are wanted."""
    return x if keepdims else np.squeeze(x, axes)


def softmax(problem: SoftmaxProblem, x: Array) -> Array:
    """Float64."""
    with np.errstate(all="ignore"):
        away = x.astype(np.float64) - x.max(problem.axis, keepdims=True)
        powers = np.exp(away)
        total = powers.sum(problem.axis, keepdims=True)
        return np.asarray(away - np.log(total) if problem.log else powers / total)


def arg_extreme(problem: ArgProblem, x: Array) -> Array:
    """int32."""
    axis = problem.axis % x.ndim
    function = np.argmin if problem.smallest else np.argmax
    if problem.select_last_index:
        found = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis)
    else:
        found = function(x, axis=axis)
    return (np.expand_dims(found, axis) if problem.keepdims else np.asarray(found)).astype(np.int32)
