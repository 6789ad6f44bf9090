"""Cases of transposed convolution."""

from __future__ import annotations

from typing import Any

from ...kernels.conv import CONV_TRANSPOSE
from ...problems.activation import Activation
from ...problems.conv_transpose import ConvTransposeProblem
from ..reference import conv as reference
from .case import Arrays, Case
from .conv import arrays, shaped

FAMILY = CONV_TRANSPOSE


def expected(problem: ConvTransposeProblem, arrays: Arrays) -> Arrays:
    """y in float64."""
    operands = shaped(problem, arrays)
    sums = reference.conv_transpose(operands["x"], operands["w"], problem)
    return {"y": reference.finish(sums, problem, operands)}


def _case(name: str, *shapes: tuple[int, ...], tolerance: float = 1e-5, **fields: Any) -> Case:
    return Case(name, ConvTransposeProblem(*shapes, **fields), tolerance)


__all__ = ["CASES", "FAMILY", "arrays", "expected"]

CASES = [
    _case("kernel_is_stride", (2, 5, 7, 6), (5, 3, 2, 2), strides=(2, 2), has_bias=True),
    _case("kernel_is_stride_cut", (1, 70, 7, 6), (70, 3, 3, 2), strides=(3, 2), pads=(1, 1, 2, 0), group=2),
    _case("kernel_is_stride_long", (1, 150, 5, 14), (150, 1, 2, 2), strides=(2, 2), has_residual=True,
          activation=Activation("sigmoid")),
    _case("kernel_is_stride_3d", (2, 4, 3, 4, 5), (4, 3, 2, 1, 3), strides=(2, 1, 3), has_slope=True),
    _case("kernel_3_stride_2", (2, 5, 7, 6), (5, 3, 3, 3), strides=(2, 2), pads=(1, 1, 1, 1), has_bias=True),
    _case("output_padding", (1, 3, 5, 5), (3, 4, 3, 3), strides=(2, 3), pads=(1, 0, 1, 1), output_padding=(1, 2)),
    _case("dilated", (1, 3, 4, 5), (3, 2, 3, 2), dilations=(2, 3), strides=(1, 2), pads=(1, 2, 0, 1)),
    _case("groups", (2, 6, 4, 5), (6, 3, 3, 3), group=3, strides=(2, 2), has_bias=True, has_residual=True),
    _case("one_dimension", (1, 3, 9), (3, 2, 4), strides=(3,), pads=(1, 2)),
    _case("three_dimensions", (1, 2, 3, 4, 3), (2, 3, 2, 3, 2), strides=(2, 1, 2), pads=(1, 0, 1, 0, 1, 0)),
    _case("outputs_beyond_reach", (1, 2, 3, 3), (2, 2, 2, 2), strides=(2, 2), pads=(0, 0, -3, -1), has_bias=True),
]  # fmt: skip
