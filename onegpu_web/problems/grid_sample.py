"""GridSample in ONNX's words."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import FLOAT16, FLOAT32, DType
from ..errors import KernelShapeError
from . import sizes

MODES = ("nearest", "linear", "cubic")
PADDING_MODES = ("zeros", "border", "reflection")


@dataclass(frozen=True, slots=True)
class GridSampleProblem:
    """x read at the places that a grid names.

    x: (N, C, H, W) or (N, C, D, H, W). grid: (N, OH, OW, 2) or (N, OD, OH, OW, 3), of grid_dtype, x before y
    before z, from -1 to 1 over the input. y: (N, C, OH, OW) or (N, C, OD, OH, OW). Coordinates are worked out in
    float32, step by step as in the operator's definition. Offsets are in elements.
    Source: ONNX GridSample-22.
    """

    x_shape: tuple[int, ...]
    grid_shape: tuple[int, ...]
    mode: str = "linear"
    padding_mode: str = "zeros"
    align_corners: bool = False
    dtype: DType = FLOAT32
    grid_dtype: DType = FLOAT32
    x_offset: int = 0
    grid_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        axes = len(self.x_shape) - 2
        if axes not in (2, 3):
            raise KernelShapeError(f"{self.op}: x_shape must be N, C and 2 or 3 spatial sizes, got {self.x_shape}")
        sizes.operand(self.op, "x", self.x_shape, self.x_offset)
        sizes.operand(self.op, "grid", self.grid_shape, self.grid_offset)
        sizes.integers(self.op, "x_shape[2:]", self.x_shape[2:], axes, 1)
        if len(self.grid_shape) != axes + 2 or (self.grid_shape[0], self.grid_shape[-1]) != (self.x_shape[0], axes):
            raise KernelShapeError(
                f"{self.op}: grid_shape must be ({self.x_shape[0]}, {axes} output sizes, {axes}), got {self.grid_shape}"
            )
        sizes.one_of(self.op, "mode", self.mode, MODES)
        sizes.one_of(self.op, "padding_mode", self.padding_mode, PADDING_MODES)
        for dtype in (self.dtype, self.grid_dtype):
            sizes.element_type(self.op, dtype, (FLOAT32, FLOAT16))
        sizes.operand(self.op, "y", self.output_shape, self.y_offset)

    @property
    def op(self) -> str:
        return "grid_sample"

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(N, C, *output sizes)."""
        return (*self.x_shape[:2], *self.grid_shape[1:-1])
