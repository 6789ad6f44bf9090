"""Normalizations in float64, written from the operators' ONNX text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...problems.normalization import BatchNormalizationProblem, NormalizationProblem

Array = np.ndarray[Any, Any]


def normalize(problem: NormalizationProblem, x: Array, scale: Array, bias: Array | None) -> Array:
    """Rows of x by their own mean and variance."""
    shape = x.shape
    if problem.kind == "layer":
        axis = problem.axis % len(shape)
        rows = x.astype(np.float64).reshape(*shape[:axis], -1)
        wide_scale, wide_bias = (np.asarray(v, np.float64) for v in (scale, 0.0 if bias is None else bias))
    else:
        groups = shape[1] if problem.kind == "instance" else problem.num_groups
        rows = x.astype(np.float64).reshape(shape[0], groups, -1)
        each = shape[1] // len(scale)
        plane = rows.size // max(1, shape[0] * shape[1])
        pair = (scale, np.zeros(len(scale)) if bias is None else bias)
        wide_scale, wide_bias = (np.repeat(v.astype(np.float64), each * plane).reshape(groups, -1) for v in pair)
    away = rows - rows.mean(-1, keepdims=True)
    y = away / np.sqrt((away**2).mean(-1, keepdims=True) + problem.epsilon) * wide_scale
    return np.asarray(y + wide_bias).reshape(shape)


def batch_normalize(problem: BatchNormalizationProblem, operands: Mapping[str, Array]) -> Array:
    """Channels of x by the statistics given."""
    axes = (1, -1) + (1,) * (len(problem.x_shape) - 2)
    given = {role: array.astype(np.float64) for role, array in operands.items()}
    scale, bias, mean, variance = (given[role].reshape(axes) for role in ("scale", "bias", "mean", "variance"))
    return np.asarray((given["x"] - mean) / np.sqrt(variance + problem.epsilon) * scale + bias)
