"""Col2Im in ONNX's words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dtypes import FLOAT16, FLOAT32, DType
from ..errors import KernelShapeError
from ..windows import Window
from . import sizes


@dataclass(frozen=True, slots=True)
class Col2ImProblem:
    """Blocks laid side by side are added back into the image they came from.

    x: (N, C * prod(block_shape), blocks). image_shape, block_shape, strides, dilations: n of 1 to 3 each;
    pads: n begins, then n ends; () for ONNX's defaults. y: (N, C, *image_shape). Offsets are in elements.
    Source: ONNX Col2Im-18.
    """

    x_shape: tuple[int, ...]
    image_shape: tuple[int, ...]
    block_shape: tuple[int, ...]
    strides: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        axes = len(self.image_shape)
        if not 1 <= axes <= 3:
            raise KernelShapeError(f"{self.op}: image_shape must be 1 to 3 sizes, got {self.image_shape}")
        sizes.operand(self.op, "x", self.x_shape, self.x_offset)
        for field, value, count, least in (
            ("image_shape", self.image_shape, axes, 1),
            ("block_shape", self.block_shape, axes, 1),
            ("strides", self.strides or (1,) * axes, axes, 1),
            ("dilations", self.dilations or (1,) * axes, axes, 1),
            ("pads", self.pads or (0,) * 2 * axes, 2 * axes, 0),
        ):
            sizes.integers(self.op, field, value, count, least)
        sizes.element_type(self.op, self.dtype, (FLOAT32, FLOAT16))
        taps = math.prod(self.block_shape)
        if min(self.blocks) < 1:
            raise KernelShapeError(f"{self.op}: block_shape must fit into the padded image, got {self.block_shape}")
        if len(self.x_shape) != 3 or self.x_shape[1] % taps or self.x_shape[2] != math.prod(self.blocks):
            raise KernelShapeError(
                f"{self.op}: x_shape must be (N, a multiple of {taps}, {math.prod(self.blocks)}), got {self.x_shape}"
            )
        sizes.operand(self.op, "y", self.output_shape, self.y_offset)

    @property
    def op(self) -> str:
        return "col2im"

    @property
    def windows(self) -> tuple[Window, ...]:
        """The window along each axis of the image."""
        axes = len(self.image_shape)
        pads = self.pads or (0,) * 2 * axes
        strides, dilations = self.strides or (1,) * axes, self.dilations or (1,) * axes
        rows = zip(self.block_shape, strides, dilations, pads[:axes], pads[axes:], strict=True)
        return tuple(Window(*row) for row in rows)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Blocks along each axis."""
        return tuple(w.output_extent(size) for w, size in zip(self.windows, self.image_shape, strict=True))

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(N, C, *image_shape)."""
        return (self.x_shape[0], self.x_shape[1] // math.prod(self.block_shape), *self.image_shape)
