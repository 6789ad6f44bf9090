"""Conv and ConvTranspose in float64, written from the operators' ONNX text."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .activation import activate
from .windows import axes_of

if TYPE_CHECKING:
    from ...problems.conv import Convolution
    from ...problems.conv_transpose import ConvTransposeProblem

Array = np.ndarray[Any, Any]


def conv(x: Array, w: Array, problem: Convolution) -> Array:
    """The sums of a convolution. x: (N, C, *spatial), w: (M, C/group, *kernel). Source: ONNX Conv-22."""
    group, rank = problem.group, x.ndim - 2
    pads = [(0, 0), (0, 0), *zip(problem.pads[:rank], problem.pads[rank:], strict=True)]
    padded = np.pad(x.astype(np.float64), pads)
    n, c = x.shape[:2]
    axes = axes_of(x.shape[2:], w.shape[2:], problem.strides, problem.dilations, problem.pads)
    extents = tuple(axis.out for axis in axes)
    y = np.zeros((n, group, w.shape[0] // group, *extents))
    grouped = padded.reshape(n, group, c // group, *padded.shape[2:])
    weights = w.astype(np.float64).reshape(group, w.shape[0] // group, *w.shape[1:])
    for tap in itertools.product(*map(range, w.shape[2:])):
        cut = tuple(
            slice(t * a.dilation, t * a.dilation + (a.out - 1) * a.stride + 1, a.stride)
            for t, a in zip(tap, axes, strict=True)
        )
        y += _channels(grouped[(slice(None),) * 3 + cut], weights[(slice(None),) * 3 + tap])
    return y.reshape(n, w.shape[0], *extents)


def conv_transpose(x: Array, w: Array, problem: ConvTransposeProblem) -> Array:
    """The sums of a transposed convolution: each input spreads its window over the output.

    x: (N, C, *spatial), w: (C, M/group, *kernel). Source: ONNX ConvTranspose-22.
    """
    group, rank = problem.group, x.ndim - 2
    n, c = x.shape[:2]
    begins = [max(0, p) for p in problem.pads[:rank]]
    lead = [max(0, -p) for p in problem.pads[:rank]]  # outputs before all windows
    outs = [
        s * (e - 1) + more + (k - 1) * d + 1 - begin - end
        for e, s, k, d, more, begin, end in zip(
            x.shape[2:], problem.strides, w.shape[2:], problem.dilations, problem.output_padding,
            problem.pads[:rank], problem.pads[rank:], strict=True,
        )
    ]  # fmt: skip
    reach = [
        max((e - 1) * s + (k - 1) * d + 1, b + out)
        for e, s, k, d, b, out in zip(
            x.shape[2:], problem.strides, w.shape[2:], problem.dilations, begins, outs, strict=True
        )
    ]
    full = np.zeros((n, group, w.shape[1], *(r + before for r, before in zip(reach, lead, strict=True))))
    grouped = x.astype(np.float64).reshape(n, group, c // group, *x.shape[2:])
    weights = w.astype(np.float64).reshape(group, c // group, *w.shape[1:]).swapaxes(1, 2)
    for tap in itertools.product(*map(range, w.shape[2:])):
        cut = tuple(
            slice(before + t * d, before + t * d + (e - 1) * s + 1, s)
            for before, t, d, s, e in zip(lead, tap, problem.dilations, problem.strides, x.shape[2:], strict=True)
        )
        full[(slice(None),) * 3 + cut] += _channels(grouped, weights[(slice(None),) * 3 + tap])
    cut = tuple(slice(b, b + out) for b, out in zip(begins, outs, strict=True))
    return full[(slice(None),) * 3 + cut].reshape(n, group * w.shape[1], *outs)


def _channels(x: Array, w: Array) -> Array:
    """Sums over channels. x: (N, G, C, *spatial), w: (G, M, C); gives (N, G, M, *spatial)."""
    n, group, c = x.shape[:3]
    sums = w[None] @ x.reshape(n, group, c, -1)
    return np.asarray(sums.reshape(n, group, w.shape[1], *x.shape[3:]))


def finish(sums: Array, problem: Convolution, operands: Mapping[str, Array]) -> Array:
    """Bias, residual, then activation or PRelu. sums: (N, M, *spatial)."""
    channels = (1, -1) + (1,) * (sums.ndim - 2)
    if problem.has_bias:
        sums = sums + operands["bias"].astype(np.float64).reshape(channels)
    if problem.has_residual:
        sums = sums + operands["residual"].astype(np.float64)
    if problem.has_slope:
        slope = operands["slope"].astype(np.float64).reshape(channels)
        return np.where(sums < 0, sums * slope, sums)
    return activate(problem.activation, sums)
