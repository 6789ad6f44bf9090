"""Transposed convolution as a problem: ONNX ConvTranspose with what follows it fused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..windows import Window
from .conv import Convolution, check_auto_pad


@dataclass(frozen=True, slots=True)
class ConvTransposeProblem(Convolution):
    """y = activation(conv_transpose(x, w) + bias + residual).

    x_shape: (N, C, *spatial). w_shape: (C, M/group, *kernel). pads cut the output, begins then ends;
    a negative one adds outputs that no window reaches (bias alone). output_padding: further outputs
    at the end, one per spatial dimension, empty for none. Source: ONNX ConvTranspose-22.
    """

    output_padding: tuple[int, ...] = field(default=(), kw_only=True)
    op: ClassVar[str] = "conv_transpose"

    def __post_init__(self) -> None:
        rank = len(self.x_shape) - 2
        object.__setattr__(self, "output_padding", tuple(self.output_padding) or (0,) * rank)
        fits = len(self.output_padding) == rank and all(isinstance(v, int) and v >= 0 for v in self.output_padding)
        self._must(fits, "output_padding", f"{rank} non-negative integers", self.output_padding)
        Convolution.__post_init__(self)

    def _least_pad(self) -> int:
        return -(2**31)

    def _check_channels(self) -> None:
        c = self.x_shape[1]
        self._must(c % self.group == 0, "group", f"a divisor of x's {c} channels", self.group)
        self._must(self.w_shape[0] == c, "w_shape", f"({c}, M/group, *kernel) for x's {c} channels", self.w_shape)

    @property
    def out_channels(self) -> int:
        return self.w_shape[1] * self.group

    @property
    def output_shape(self) -> tuple[int, ...]:
        axes = zip(self.x_shape[2:], self.windows, self.output_padding, strict=True)
        extents = (w.transpose_output_extent(e, output_padding=more) for e, w, more in axes)
        return (self.x_shape[0], self.out_channels, *extents)


def with_transpose_auto_pad(
    x_shape: tuple[int, ...],
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    output_padding: tuple[int, ...],
    auto_pad: str,
    output_shape: tuple[int, ...] | None = None,
) -> tuple[int, ...]:
    """Explicit pads (begins, then ends) for auto_pad or a wanted output_shape (spatial extents).

    Source: ONNX ConvTranspose-22. Raises: KernelShapeError.
    """
    check_auto_pad("conv_transpose", auto_pad, x_shape, kernel_shape, strides, dilations)
    wanted = output_shape or (None,) * len(kernel_shape)
    axes = zip(x_shape[2:], kernel_shape, strides, dilations, output_padding, wanted, strict=True)
    windows = [Window(k, s, d).with_transpose_auto_pad(auto_pad, e, more, out) for e, k, s, d, more, out in axes]
    return (*(w.pad_begin for w in windows), *(w.pad_end for w in windows))
