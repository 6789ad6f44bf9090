"""Cases of transposed convolution."""

from __future__ import annotations

from typing import Any

from ...dtypes import FLOAT16
from ...kernels.conv import CONV_TRANSPOSE
from ...problems.activation import Activation
from ...problems.conv_transpose import ConvTransposeProblem, with_transpose_auto_pad
from ..reference import conv as reference
from .case import Arrays, Case
from .conv import arrays, shaped

FAMILY = CONV_TRANSPOSE


def expected(problem: ConvTransposeProblem, arrays: Arrays) -> Arrays:
    """y in float64."""
    operands = shaped(problem, arrays)
    sums = reference.conv_transpose(operands["x"], operands["w"], problem)
    return {"y": reference.finish(sums, problem, operands)}


def _case(name: str, *shapes: tuple[int, ...], **fields: Any) -> Case:
    problem = ConvTransposeProblem(*shapes, **fields)
    return Case(name, problem, 2e-3 if problem.dtype == FLOAT16 else 1e-5)


def _edges() -> list[Case]:
    """Every stride and dilation of 1 to 3, with odd channels in and asymmetric pads."""
    return [
        _case(
            f"stride_{stride}_dilation_{dilation}",
            (1 + (stride + dilation) % 3, 7, 5, 6),
            (7, 5, 3, 2),
            strides=(stride, 4 - stride),
            dilations=(dilation, 1 + dilation % 3),
            pads=(1, 0, dilation, 1),
            has_bias=True,
        )
        for stride in (1, 2, 3)
        for dilation in (1, 2, 3)
    ]


__all__ = ["CASES", "FAMILY", "arrays", "expected"]

_STRIDE_KERNELS = [
    _case("kernel_is_stride", (2, 5, 7, 6), (5, 3, 2, 2), strides=(2, 2), has_bias=True),
    _case("kernel_is_stride_cut", (1, 70, 7, 6), (70, 3, 3, 2), strides=(3, 2), pads=(1, 1, 2, 0), group=2),
    _case("kernel_is_stride_long", (1, 150, 5, 14), (150, 1, 2, 2), strides=(2, 2), has_residual=True,
          activation=Activation("sigmoid")),
    _case("kernel_is_stride_wide", (2, 40, 9, 7), (40, 37, 2, 2), strides=(2, 2), has_bias=True,
          activation=Activation("relu")),
    _case("kernel_is_stride_3d", (2, 4, 3, 4, 5), (4, 3, 2, 1, 3), strides=(2, 1, 3), has_slope=True),
    _case("kernel_is_stride_1d", (1, 33, 9), (33, 20, 4), strides=(4,), pads=(1, 2)),
    _case("one_pixel_in", (3, 17, 1, 1), (17, 5, 2, 2), strides=(2, 2), has_bias=True),
    _case("pointwise", (2, 9, 5, 6), (9, 7, 1, 1), has_bias=True),
]  # fmt: skip

_HEADS = [
    _case(f"dbnet_head_{m}_batch_{batch}", (batch, 64, 9, 7), (64, m, 2, 2), strides=(2, 2), has_bias=True,
          activation=Activation(kind))
    for m, kind in ((64, "relu"), (1, "sigmoid"))
    for batch in (1, 8)
]  # fmt: skip

_OTHERS = [
    _case("kernel_3_stride_2", (2, 5, 7, 6), (5, 3, 3, 3), strides=(2, 2), pads=(1, 1, 1, 1), has_bias=True),
    _case("output_padding", (1, 3, 5, 5), (3, 4, 3, 3), strides=(2, 3), pads=(1, 0, 1, 1), output_padding=(1, 2)),
    _case("kernel_2_stride_3", (1, 3, 5, 5), (3, 4, 2, 2), strides=(3, 3), has_bias=True),
    _case("groups", (2, 6, 4, 5), (6, 3, 3, 3), group=3, strides=(2, 2), has_bias=True, has_residual=True),
    _case("groups_of_one_channel", (2, 5, 4, 5), (5, 1, 3, 3), group=5, strides=(2, 2), pads=(1, 1, 1, 1)),
    _case("long_sums", (1, 300, 4, 5), (300, 20, 3, 3), strides=(2, 2), has_bias=True, activation=Activation("silu")),
    _case("one_dimension", (1, 3, 9), (3, 2, 4), strides=(3,), pads=(1, 2)),
    _case("three_dimensions", (1, 2, 3, 4, 3), (2, 3, 2, 3, 2), strides=(2, 1, 2), pads=(1, 0, 1, 0, 1, 0)),
    _case("outputs_beyond_reach", (1, 2, 3, 3), (2, 2, 2, 2), strides=(2, 2), pads=(0, 0, -3, -1), has_bias=True),
    _case("same_upper", (1, 3, 5, 7), (3, 4, 3, 3), strides=(2, 2), has_bias=True,
          pads=with_transpose_auto_pad((1, 3, 5, 7), (3, 3), (2, 2), (1, 1), (0, 0), "SAME_UPPER")),
    _case("output_shape", (1, 3, 5, 7), (3, 4, 3, 3), strides=(3, 2), has_bias=True,
          pads=with_transpose_auto_pad((1, 3, 5, 7), (3, 3), (3, 2), (1, 1), (0, 0), "NOTSET", (16, 17))),
    _case("offsets", (2, 6, 4, 5), (6, 3, 3, 3), group=3, strides=(2, 2), has_bias=True, has_residual=True,
          has_slope=True, x_offset=3, w_offset=1, bias_offset=5, residual_offset=7, slope_offset=2, y_offset=9),
    _case("offsets_kernel_is_stride", (2, 6, 4, 5), (6, 3, 2, 2), group=3, strides=(2, 2), has_bias=True,
          x_offset=3, w_offset=1, bias_offset=5, y_offset=9),
    _case("constant_w", (1, 9, 4, 5), (9, 3, 3, 3), strides=(2, 2), w_constant=True, w_offset=2),
]  # fmt: skip

_HALF = [
    _case("half", (2, 20, 7, 6), (20, 9, 3, 3), strides=(2, 2), pads=(1, 1, 1, 1), has_bias=True, dtype=FLOAT16),
    _case("half_kernel_is_stride", (2, 70, 7, 6), (70, 9, 2, 2), strides=(2, 2), has_bias=True, dtype=FLOAT16,
          x_offset=1, w_offset=3, y_offset=5),
]  # fmt: skip

CASES = [*_edges(), *_STRIDE_KERNELS, *_HEADS, *_OTHERS, *_HALF]
