"""Convolution as a problem: ONNX Conv with what follows it fused (bias, residual, activation)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from ..dtypes import FLOAT16, FLOAT32, DType
from ..errors import KernelShapeError
from ..windows import AUTO_PADS, Window
from .activation import IDENTITY, Activation

Triple = tuple[int, int, int]
_MOST = 2**31 - 1  # kernels index with 32-bit integers


@dataclass(frozen=True, slots=True)
class Geometry:
    """Sizes with depth, height and width always there (1 where the problem has fewer spatial dimensions).

    n: images. c, m: input and output channels of one group. x, y: input and output extents.
    k: kernel taps. pads: before the first element.
    """

    n: int
    group: int
    c: int
    m: int
    x: Triple
    y: Triple
    k: Triple
    strides: Triple
    dilations: Triple
    pads: Triple

    @property
    def x_volume(self) -> int:
        """Input elements of one channel."""
        return math.prod(self.x)

    @property
    def y_volume(self) -> int:
        """Output elements of one channel."""
        return math.prod(self.y)

    @property
    def k_volume(self) -> int:
        """Taps of one window in one channel."""
        return math.prod(self.k)


@dataclass(frozen=True, slots=True)
class Convolution:
    """What ConvProblem and ConvTransposeProblem share.

    x_shape: (N, C, *spatial), 1 to 3 spatial dimensions. pads: begins, then ends; strides, dilations: one
    per spatial dimension; all three may be left empty (0, 1, 1). bias: (M,). residual: y's shape.
    slope: (M,), of a PRelu in place of an activation. Offsets are in elements, of any alignment.
    w_constant: the weights are there when the plan is loaded and stay, so that a variant may lay them
    out once. The last pass rounds in float32 in this order: sum, bias, residual, activation or PRelu.
    Raises: KernelShapeError.
    """

    x_shape: tuple[int, ...]
    w_shape: tuple[int, ...]
    pads: tuple[int, ...] = field(default=(), kw_only=True)
    strides: tuple[int, ...] = field(default=(), kw_only=True)
    dilations: tuple[int, ...] = field(default=(), kw_only=True)
    group: int = field(default=1, kw_only=True)
    has_bias: bool = field(default=False, kw_only=True)
    has_residual: bool = field(default=False, kw_only=True)
    has_slope: bool = field(default=False, kw_only=True)
    activation: Activation = field(default=IDENTITY, kw_only=True)
    dtype: DType = field(default=FLOAT32, kw_only=True)
    w_constant: bool = field(default=False, kw_only=True)
    x_offset: int = field(default=0, kw_only=True)
    w_offset: int = field(default=0, kw_only=True)
    bias_offset: int = field(default=0, kw_only=True)
    residual_offset: int = field(default=0, kw_only=True)
    slope_offset: int = field(default=0, kw_only=True)
    y_offset: int = field(default=0, kw_only=True)
    op: ClassVar[str] = "conv"

    def __post_init__(self) -> None:
        rank = len(self.x_shape) - 2
        self._must(1 <= rank <= 3, "x_shape", "(N, C, *spatial) with 1 to 3 spatial dimensions", self.x_shape)
        for name, value in (("pads", (0,) * 2 * rank), ("strides", (1,) * rank), ("dilations", (1,) * rank)):
            object.__setattr__(self, name, tuple(getattr(self, name)) or value)
        self._must(len(self.w_shape) == rank + 2, "w_shape", f"of rank {rank + 2} like x_shape", self.w_shape)
        for name in ("x_shape", "w_shape"):
            shape = getattr(self, name)
            self._must(all(_is_int(v) and v > 0 for v in shape), name, "positive integers", shape)
        for name, count, least in (("strides", rank, 1), ("dilations", rank, 1), ("pads", 2 * rank, self._least_pad())):
            got = getattr(self, name)
            fits = len(got) == count and all(_is_int(v) and v >= least for v in got)
            self._must(fits, name, f"{count} integers of at least {least}", got)
            self._must(max(got) <= _MOST, name, "within 32-bit indices", got)
        self._must(_is_int(self.group) and self.group > 0, "group", "a positive integer", self.group)
        self._must(self.dtype in (FLOAT32, FLOAT16), "dtype", "float32 or float16", self.dtype.name)
        self._must(isinstance(self.activation, Activation), "activation", "an Activation", self.activation)
        self._must(not self.has_slope or self.activation == IDENTITY, "activation", "identity beside a slope",
                   self.activation.kind)  # fmt: skip
        self._check_channels()
        self._check_extents()

    def _least_pad(self) -> int:
        return 0

    def _check_channels(self) -> None:
        c, m = self.x_shape[1], self.w_shape[0]
        self._must(c % self.group == 0, "group", f"a divisor of x's {c} channels", self.group)
        self._must(m % self.group == 0, "group", f"a divisor of w's {m} output channels", self.group)
        per_group = c // self.group
        self._must(self.w_shape[1] == per_group, "w_shape", f"(M, {per_group}, *kernel) for x's {c} channels in "
                   f"{self.group} groups", self.w_shape)  # fmt: skip

    def _check_extents(self) -> None:
        for axis, (extent, window) in enumerate(zip(self.x_shape[2:], self.windows, strict=True)):
            room = extent + window.pad_begin + window.pad_end
            self._must(self.output_shape[2 + axis] > 0, "w_shape", f"a window that fits the padded extent {room} "
                       f"of spatial axis {axis}", f"a span of {window.extent}")  # fmt: skip
            self._must(room + window.extent <= _MOST, "pads", "within 32-bit indices", self.pads)
        for name, shape, _ in self.operands():
            offset = getattr(self, f"{name}_offset")
            self._must(_is_int(offset) and offset >= 0, f"{name}_offset", "a non-negative integer", offset)
            end = offset + math.prod(shape)
            self._must(end <= _MOST, name, "below 2**31 elements, its offset included (32-bit indices)", end)

    def _must(self, holds: bool, field_name: str, rule: str, got: object) -> None:
        if not holds:
            raise KernelShapeError(f"{self.op}: {field_name} must be {rule}, got {got}")

    @property
    def windows(self) -> tuple[Window, ...]:
        """The window along each spatial axis."""
        rank = len(self.x_shape) - 2
        steps = zip(self.w_shape[2:], self.strides, self.dilations, self.pads[:rank], self.pads[rank:], strict=True)
        return tuple(Window(*step) for step in steps)

    @property
    def out_channels(self) -> int:
        """M, over all groups."""
        return self.w_shape[0]

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(N, M, *spatial)."""
        extents = zip(self.x_shape[2:], self.windows, strict=True)
        return (self.x_shape[0], self.out_channels, *(w.output_extent(e) for e, w in extents))

    def operands(self) -> list[tuple[str, tuple[int, ...], bool]]:
        """Name, shape and whether it is written, of every operand the problem has."""
        channels = (self.out_channels,)
        found = [("x", self.x_shape, False), ("w", self.w_shape, False)]
        if self.has_bias:
            found.append(("bias", channels, False))
        if self.has_residual:
            found.append(("residual", self.output_shape, False))
        if self.has_slope:
            found.append(("slope", channels, False))
        return [*found, ("y", self.output_shape, True)]

    def geometry(self) -> Geometry:
        """The sizes that kernels work with."""
        y_shape = self.output_shape
        rank = len(self.x_shape) - 2

        def three(values: tuple[int, ...], fill: int) -> Triple:
            depth, height, width = (fill,) * (3 - rank) + tuple(values)
            return depth, height, width

        return Geometry(
            n=self.x_shape[0],
            group=self.group,
            c=self.x_shape[1] // self.group,
            m=self.out_channels // self.group,
            x=three(self.x_shape[2:], 1),
            y=three(y_shape[2:], 1),
            k=three(self.w_shape[2:], 1),
            strides=three(self.strides, 1),
            dilations=three(self.dilations, 1),
            pads=three(self.pads[:rank], 0),
        )


@dataclass(frozen=True, slots=True)
class ConvProblem(Convolution):
    """y = activation(conv(x, w) + bias + residual).

    x_shape: (N, C, *spatial). w_shape: (M, C/group, *kernel). Source: ONNX Conv-22.
    """


def with_auto_pad(
    x_shape: tuple[int, ...],
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    auto_pad: str,
) -> tuple[int, ...]:
    """Explicit pads (begins, then ends) for SAME_UPPER, SAME_LOWER or VALID. Source: ONNX Conv-22.

    Raises: KernelShapeError.
    """
    check_auto_pad("conv", auto_pad, x_shape, kernel_shape, strides, dilations)
    windows = [
        Window(k, s, d).with_auto_pad(auto_pad, extent)
        for extent, k, s, d in zip(x_shape[2:], kernel_shape, strides, dilations, strict=True)
    ]
    return (*(w.pad_begin for w in windows), *(w.pad_end for w in windows))


def check_auto_pad(op: str, auto_pad: str, x_shape: tuple[int, ...], *windows: tuple[int, ...]) -> None:
    """Raise KernelShapeError where pads cannot be worked out. windows: kernel, strides ..., of each axis."""
    if auto_pad not in AUTO_PADS:
        raise KernelShapeError(f"{op}: auto_pad must be one of {', '.join(AUTO_PADS)}, got {auto_pad!r}")
    for value in windows:
        if len(value) != len(x_shape) - 2 or not all(_is_int(v) and v > 0 for v in value):
            raise KernelShapeError(
                f"{op}: kernel_shape, strides and dilations must be {len(x_shape) - 2} positive integers, got {value}"
            )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
