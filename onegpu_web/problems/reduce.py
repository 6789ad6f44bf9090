"""Problems that reduce axes: sums and their like, Softmax, ArgMax."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dtypes import FLOAT16, FLOAT32, INT32, DType
from ..errors import KernelShapeError
from .strides import Shape, check_axis, check_offsets, check_shape

# The position is the constant KIND of wgsl/reduce_float.wgsl and wgsl/reduce_int.wgsl.
REDUCTIONS = ("sum", "mean", "max", "min", "prod", "l1", "sum_square", "l2", "log_sum")
INT_REDUCTIONS = REDUCTIONS[:7]


@dataclass(frozen=True, slots=True)
class ReduceProblem:
    """y = kind over `axes` of x. Source: ONNX ReduceSum-13, ReduceMean-18 and their like.

    axes: counted from the front or the back; of no element at all the sum is 0, the product 1, the maximum the
    lowest value. kind: of REDUCTIONS; int32 has INT_REDUCTIONS.
    """

    kind: str
    x_shape: Shape
    axes: Shape
    keepdims: bool = True
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        kinds = INT_REDUCTIONS if self.dtype == INT32 else REDUCTIONS
        if self.kind not in kinds or self.dtype not in (FLOAT32, FLOAT16, INT32):
            raise KernelShapeError(
                f"reduce: kind of {self.dtype.name} must be of {', '.join(kinds)}, got {self.kind!r}"
            )
        axes = [check_axis(self.op, "axes", axis, len(self.x_shape)) for axis in self.axes]
        if len(set(axes)) != len(axes):
            raise KernelShapeError(f"{self.op}: axes must be distinct, got {self.axes}")
        x = check_shape(self.op, "x_shape", self.x_shape)
        y = check_shape(self.op, "output_shape", self.output_shape)
        check_offsets(self.op, x_offset=(self.x_offset, x), y_offset=(self.y_offset, y))

    @property
    def op(self) -> str:
        return f"reduce_{self.kind}"

    @property
    def reduced(self) -> frozenset[int]:
        """The axes, counted from the front."""
        return frozenset(axis % len(self.x_shape) for axis in self.axes)

    @property
    def output_shape(self) -> Shape:
        reduced = self.reduced
        if self.keepdims:
            return tuple(1 if axis in reduced else size for axis, size in enumerate(self.x_shape))
        return tuple(size for axis, size in enumerate(self.x_shape) if axis not in reduced)


@dataclass(frozen=True, slots=True)
class SoftmaxProblem:
    """y = exp(x) / sum(exp(x)) along `axis`, or its logarithm. Source: ONNX Softmax-13, LogSoftmax-13.

    y: of x's shape. A NaN makes the whole row NaN.
    """

    x_shape: Shape
    axis: int = -1
    log: bool = False
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        if self.dtype not in (FLOAT32, FLOAT16):
            raise KernelShapeError(f"{self.op}: dtype must be float32 or float16, got {self.dtype.name}")
        check_axis(self.op, "axis", self.axis, len(self.x_shape))
        elements = check_shape(self.op, "x_shape", self.x_shape)
        check_offsets(self.op, x_offset=(self.x_offset, elements), y_offset=(self.y_offset, elements))

    @property
    def op(self) -> str:
        return "log_softmax" if self.log else "softmax"

    @property
    def sizes(self) -> Shape:
        """Elements before the axis, of the axis, behind the axis."""
        return _around(self.x_shape, self.axis)


@dataclass(frozen=True, slots=True)
class ArgProblem:
    """y = the index of the largest (smallest: smallest=True) element along `axis`, int32.

    Ties give the first index, or the last with select_last_index; NaN counts as the extreme, as in NumPy.
    Source: ONNX ArgMax-13, ArgMin-13.
    """

    x_shape: Shape
    axis: int = 0
    smallest: bool = False
    keepdims: bool = True
    select_last_index: bool = False
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        axis = check_axis(self.op, "axis", self.axis, len(self.x_shape))
        if self.x_shape[axis] == 0:
            raise KernelShapeError(f"{self.op}: axis {axis} must have elements, got {self.x_shape}")
        x = check_shape(self.op, "x_shape", self.x_shape)
        check_offsets(self.op, x_offset=(self.x_offset, x), y_offset=(self.y_offset, math.prod(self.output_shape)))

    @property
    def op(self) -> str:
        return "arg_min" if self.smallest else "arg_max"

    @property
    def sizes(self) -> Shape:
        """Elements before the axis, of the axis, behind the axis."""
        return _around(self.x_shape, self.axis)

    @property
    def output_shape(self) -> Shape:
        axis = self.axis % len(self.x_shape)
        return self.x_shape[:axis] + ((1,) if self.keepdims else ()) + self.x_shape[axis + 1 :]


def _around(shape: Shape, axis: int) -> Shape:
    axis %= len(shape)
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
