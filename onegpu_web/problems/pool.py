"""Pooling in ONNX's words: windows over 1 to 3 spatial axes, and over whole planes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..dtypes import FLOAT16, FLOAT32, INT8, INT32, UINT8, DType
from ..errors import KernelShapeError
from ..windows import AUTO_PADS, Window
from . import sizes

KINDS = ("max", "average", "lp")
FLOATS = (FLOAT32, FLOAT16)
MAX_TYPES = (FLOAT32, FLOAT16, INT8, UINT8, INT32)


@dataclass(frozen=True, slots=True)
class PoolProblem:
    """MaxPool (optionally with Indices), AveragePool or LpPool.

    kind: one of KINDS. x_shape: (N, C, D1..Dn), n of 1 to 3. kernel_shape, strides, dilations: n each;
    pads: n begins, then n ends; () for ONNX's defaults. auto_pad takes the place of pads.
    count_include_pad: average only. p: lp only. indices: max also writes `indices`, int32, flat in the
    whole tensor, row major (storage_order 0) or column major within a plane (1); -1 for a window that
    holds no element. Offsets are in elements, of any alignment.
    Max skips NaN unless all taps are NaN; an empty window gives the type's lowest finite value. An empty
    average window gives NaN, an empty lp window 0.
    Source: ONNX MaxPool-22, AveragePool-22, LpPool-22.
    """

    kind: str
    x_shape: tuple[int, ...]
    kernel_shape: tuple[int, ...]
    strides: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    auto_pad: str = "NOTSET"
    ceil_mode: bool = False
    count_include_pad: bool = False
    p: float = 2.0
    indices: bool = False
    storage_order: int = 0
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0
    indices_offset: int = 0

    def __post_init__(self) -> None:
        sizes.one_of("pool", "kind", self.kind, KINDS)
        axes = len(self.x_shape) - 2
        if not 1 <= axes <= 3:
            raise KernelShapeError(f"{self.op}: x_shape must be N, C and 1 to 3 spatial sizes, got {self.x_shape}")
        sizes.operand(self.op, "x", self.x_shape, self.x_offset)
        sizes.integers(self.op, "x_shape[2:]", self.x_shape[2:], axes, 1)
        self._check_window(axes)
        sizes.element_type(self.op, self.dtype, MAX_TYPES if self.kind == "max" else FLOATS)
        if not (math.isfinite(self.p) and self.p > 0):
            raise KernelShapeError(f"{self.op}: p must be a positive number, got {self.p}")
        sizes.one_of(self.op, "storage_order", self.storage_order, (0, 1))
        if self.indices and self.kind != "max":
            raise KernelShapeError(f"{self.op}: indices must be asked of max alone")
        if min(self.output_shape[2:]) < 1:
            raise KernelShapeError(
                f"{self.op}: kernel_shape must fit into the padded input, got {self.kernel_shape} over {self.x_shape}"
            )
        sizes.operand(self.op, "y", self.output_shape, self.y_offset)
        sizes.operand(self.op, "indices", self.output_shape, self.indices_offset)

    def _check_window(self, axes: int) -> None:
        sizes.integers(self.op, "kernel_shape", self.kernel_shape, axes, 1)
        for field, value, count, least in (
            ("strides", self.strides, axes, 1),
            ("dilations", self.dilations, axes, 1),
            ("pads", self.pads, 2 * axes, 0),
        ):
            if value != ():
                sizes.integers(self.op, field, value, count, least)
        sizes.one_of(self.op, "auto_pad", self.auto_pad, AUTO_PADS)
        if self.auto_pad != "NOTSET" and any(self.pads):
            raise KernelShapeError(f"{self.op}: pads must be absent where auto_pad is {self.auto_pad}, got {self.pads}")
        reach = [w.extent + w.pad_begin + w.pad_end + size for w, size in zip(self.windows, self.spatial, strict=True)]
        if max(reach) > sizes.MOST_ELEMENTS:
            raise KernelShapeError(f"{self.op}: windows must stay in 32-bit reach, got {max(reach):,} elements")

    @property
    def op(self) -> str:
        return f"{self.kind}_pool"

    @property
    def spatial(self) -> tuple[int, ...]:
        """The spatial sizes of x."""
        return self.x_shape[2:]

    @property
    def windows(self) -> tuple[Window, ...]:
        """The window along each spatial axis, its pads explicit."""
        axes = len(self.x_shape) - 2
        strides, dilations = self.strides or (1,) * axes, self.dilations or (1,) * axes
        pads = self.pads or (0,) * 2 * axes
        rows = zip(self.kernel_shape, strides, dilations, pads[:axes], pads[axes:], strict=True)
        return tuple(
            Window(*row).with_auto_pad(self.auto_pad, size) for row, size in zip(rows, self.spatial, strict=True)
        )

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(N, C, O1..On). With auto_pad ceil_mode changes nothing: ONNX gives those sizes outright."""
        ceil_mode = self.ceil_mode and self.auto_pad == "NOTSET"
        outs = [w.output_extent(size, ceil_mode=ceil_mode) for w, size in zip(self.windows, self.spatial, strict=True)]
        return (*self.x_shape[:2], *outs)

    @property
    def covers_planes(self) -> bool:
        """Whether each plane is one window, without padding."""
        rows = zip(self.windows, self.spatial, self.output_shape[2:], strict=True)
        return all(w.extent == size == w.kernel and w.pad_begin == w.pad_end == 0 and o == 1 for w, size, o in rows)

    @property
    def operands(self) -> dict[str, tuple[tuple[int, ...], DType]]:
        """Shape and element type of each operand."""
        made = {"x": (self.x_shape, self.dtype), "y": (self.output_shape, self.dtype)}
        return made | ({"indices": (self.output_shape, INT32)} if self.indices else {})


@dataclass(frozen=True, slots=True)
class GlobalPoolProblem:
    """GlobalMaxPool, GlobalAveragePool or GlobalLpPool: x (N, C, D1..Dn), any n >= 1, to y (N, C, 1..1).

    NaN as in PoolProblem. scratch_offset is in float32 elements.
    Source: ONNX GlobalMaxPool-22, GlobalAveragePool-22, GlobalLpPool-22.
    """

    kind: str
    x_shape: tuple[int, ...]
    p: float = 2.0
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0
    scratch_offset: int = 0

    def __post_init__(self) -> None:
        sizes.one_of("global_pool", "kind", self.kind, KINDS)
        if len(self.x_shape) < 3:
            raise KernelShapeError(f"{self.op}: x_shape must be N, C and spatial sizes, got {self.x_shape}")
        sizes.operand(self.op, "x", self.x_shape, self.x_offset)
        sizes.integers(self.op, "x_shape[2:]", self.x_shape[2:], len(self.x_shape) - 2, 1)
        sizes.operand(self.op, "y", self.output_shape, self.y_offset)
        sizes.operand(self.op, "scratch", self.x_shape, self.scratch_offset)
        sizes.element_type(self.op, self.dtype, MAX_TYPES if self.kind == "max" else FLOATS)
        if not (math.isfinite(self.p) and self.p > 0):
            raise KernelShapeError(f"{self.op}: p must be a positive number, got {self.p}")

    @property
    def op(self) -> str:
        return f"global_{self.kind}_pool"

    @property
    def planes(self) -> int:
        """Planes of x, one output each."""
        return self.x_shape[0] * self.x_shape[1]

    @property
    def plane(self) -> int:
        """Elements of a plane."""
        return math.prod(self.x_shape[2:])

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(N, C, 1..1)."""
        return (*self.x_shape[:2], *(1 for _ in self.x_shape[2:]))

    @property
    def operands(self) -> dict[str, tuple[tuple[int, ...], DType]]:
        """Shape and element type of each operand."""
        return {"x": (self.x_shape, self.dtype), "y": (self.output_shape, self.dtype)}

    def images(self, first: int, count: int) -> GlobalPoolProblem:
        """The problem for `count` images of the batch from `first` on, on the same buffers."""
        skipped = first * self.x_shape[1]
        return replace(
            self,
            x_shape=(count, *self.x_shape[1:]),
            x_offset=self.x_offset + skipped * self.plane,
            y_offset=self.y_offset + skipped,
        )
