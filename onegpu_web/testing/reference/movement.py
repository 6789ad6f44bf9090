"""What moves elements, in numpy, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...problems.movement import CopyProblem, PadProblem

Array = np.ndarray[Any, Any]


def copy(problem: CopyProblem, x: Array) -> Array:
    """The elements of a strided walk over flat x, in the walk's shape."""
    index = np.full(problem.shape, problem.x_offset, np.int64)
    for axis, (size, stride) in enumerate(zip(problem.shape, problem.x_strides, strict=True)):
        steps = np.arange(size, dtype=np.int64) * stride
        index += steps.reshape([-1 if a == axis else 1 for a in range(len(problem.shape))])
    return x[index]


def pad(problem: PadProblem, x: Array) -> Array:
    """x with its border. Source: ONNX Pad-24."""
    begins, ends = problem.pads[: x.ndim], problem.pads[x.ndim :]
    cuts = [
        slice(max(0, -begin), size + min(0, end))
        for begin, end, size in zip(begins, ends, problem.x_shape, strict=True)
    ]
    widths = [(max(0, begin), max(0, end)) for begin, end in zip(begins, ends, strict=True)]
    mode: Any = problem.mode
    if mode == "constant":
        return np.pad(x[tuple(cuts)], widths, mode, constant_values=np.asarray(problem.value, x.dtype))
    return np.pad(x[tuple(cuts)], widths, mode)
