"""MaxUnpool in ONNX's words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dtypes import BY_NAME, FLOAT32, DType
from ..errors import KernelShapeError
from . import sizes


@dataclass(frozen=True, slots=True)
class MaxUnpoolProblem:
    """Each element of x goes where `indices` says, into zeros; of several for one place the last one stays.

    x, indices (int32): (N, C, D1..Dn), n of 1 to 3. indices are flat, row major, in (N, C, *inferred), the shape
    that kernel_shape, strides and pads (begins, then ends) invert to. output_shape: (N, C, O1..On) at
    least as large, whose first corner that is; () for the same. Any dtype moves bit for bit.
    Indices outside are ignored. Offsets are in elements. Source: ONNX MaxUnpool-22.
    """

    x_shape: tuple[int, ...]
    kernel_shape: tuple[int, ...]
    strides: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()
    wanted_shape: tuple[int, ...] = ()
    dtype: DType = FLOAT32
    x_offset: int = 0
    indices_offset: int = 0
    y_offset: int = 0
    scratch_offset: int = 0

    def __post_init__(self) -> None:
        axes = len(self.x_shape) - 2
        if not 1 <= axes <= 3:
            raise KernelShapeError(f"{self.op}: x_shape must be N, C and 1 to 3 spatial sizes, got {self.x_shape}")
        sizes.operand(self.op, "x", self.x_shape, self.x_offset)
        sizes.operand(self.op, "indices", self.x_shape, self.indices_offset)
        sizes.integers(self.op, "x_shape[2:]", self.x_shape[2:], axes, 1)
        sizes.integers(self.op, "kernel_shape", self.kernel_shape, axes, 1)
        for field, value, count, least in (("strides", self.strides, axes, 1), ("pads", self.pads, 2 * axes, 0)):
            if value != ():
                sizes.integers(self.op, field, value, count, least)
        sizes.element_type(self.op, self.dtype, tuple(BY_NAME.values()))
        sizes.operand(self.op, "y", self.output_shape, self.y_offset)
        sizes.operand(self.op, "scratch", self.inferred_shape, self.scratch_offset)
        if min(self.inferred_shape[2:]) < 1:
            raise KernelShapeError(f"{self.op}: pads must leave outputs, got {self.pads} for {self.inferred_shape}")
        fits = len(self.output_shape) == len(self.x_shape) and self.output_shape[:2] == self.x_shape[:2]
        if not fits or any(o < i for o, i in zip(self.output_shape, self.inferred_shape, strict=True)):
            raise KernelShapeError(
                f"{self.op}: output_shape must hold {self.inferred_shape} with its N and C, got {self.wanted_shape}"
            )

    @property
    def op(self) -> str:
        return "max_unpool"

    @property
    def inferred_shape(self) -> tuple[int, ...]:
        """The shape in which the indices count."""
        axes = len(self.x_shape) - 2
        strides, pads = self.strides or (1,) * axes, self.pads or (0,) * 2 * axes
        rows = zip(self.x_shape[2:], strides, self.kernel_shape, pads[:axes], pads[axes:], strict=True)
        return (*self.x_shape[:2], *((size - 1) * stride + k - begin - end for size, stride, k, begin, end in rows))

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of y."""
        return self.wanted_shape or self.inferred_shape

    @property
    def elements(self) -> int:
        """Elements of x."""
        return math.prod(self.x_shape)
