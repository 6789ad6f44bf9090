"""Cases of convolution: edge shapes, every fused last step, and the layers of real models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16
from ...kernels.conv import CONV
from ...kernels.conv.tiles import TILES
from ...problems.activation import Activation
from ...problems.conv import Convolution, ConvProblem, with_auto_pad
from ..reference import conv as reference
from .case import Arrays, Case

FAMILY = CONV


def arrays(problem: Convolution, rng: np.random.Generator) -> Arrays:
    """Every operand read, flat, with its offset's elements before it.

    Weights are scaled so that sums have the size of the input.
    """
    fan_in = max(1, math.prod(problem.w_shape[1:]))
    scales = {"w": fan_in**-0.5}
    made = {}
    for role, shape, is_written in problem.operands():
        if not is_written:
            count = getattr(problem, f"{role}_offset") + math.prod(shape)
            values = rng.standard_normal(count, dtype=np.float32) * np.float32(scales.get(role, 1.0))
            made[role] = values.astype(problem.dtype.name)
    return made


def shaped(problem: Convolution, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """The operands without what lies before their offsets, in their shapes."""
    return {
        role: arrays[role][getattr(problem, f"{role}_offset") :][: math.prod(shape)].reshape(shape)
        for role, shape, is_written in problem.operands()
        if not is_written
    }


def expected(problem: ConvProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    operands = shaped(problem, arrays)
    return {"y": reference.finish(reference.conv(operands["x"], operands["w"], problem), problem, operands)}


def _case(name: str, *shapes: tuple[int, ...], variants: tuple[str, ...] | None = None, **fields: Any) -> Case:
    problem = ConvProblem(*shapes, **fields)
    return Case(name, problem, 2e-3 if problem.dtype == FLOAT16 else 1e-5, variants)


def _edges() -> list[Case]:
    """Every stride and dilation of 1 to 3 with three kinds of padding."""
    kinds = {"none": (0, 0, 0, 0), "asymmetric": (1, 0, 2, 3), "beyond_kernel": (4, 5, 3, 4)}
    made = []
    for stride in (1, 2, 3):
        for dilation in (1, 2, 3):
            for kind, pads in kinds.items():
                made.append(
                    _case(
                        f"stride_{stride}_dilation_{dilation}_pads_{kind}",
                        (1 + (stride + dilation) % 3, 5, 11, 13),
                        (7, 5, 3, 3),
                        pads=pads,
                        strides=(stride, 4 - stride),
                        dilations=(dilation, 1 + dilation % 3),
                        has_bias=True,
                    )
                )
    return made


def _channels() -> list[Case]:
    """Odd channel counts, alone and in groups."""
    counts = (1, 3, 5, 7, 17)
    made = [
        _case(f"channels_{c}_to_{m}", (1, c, 5, 7), (m, c, 3, 3), pads=(1, 1, 1, 1), has_bias=True)
        for c in counts
        for m in counts
    ]
    for group, c, m in ((3, 5, 7), (5, 3, 1), (2, 17, 3), (7, 1, 1), (5, 1, 3)):
        shapes = (2, group * c, 5, 7), (group * m, c, 3, 3)
        made.append(_case(f"groups_{group}_of_{c}_to_{m}", *shapes, pads=(1, 1, 1, 1), group=group, has_bias=True))
    return made


_EXTENTS = [
    _case("kernel_is_input", (3, 5, 7, 5), (3, 5, 7, 5), has_bias=True),
    _case("kernel_beyond_input", (1, 3, 3, 2), (5, 3, 5, 5), pads=(1, 2, 1, 2), has_bias=True),
    _case("output_extent_1", (1, 7, 3, 9), (5, 7, 3, 2), strides=(1, 3), has_bias=True),
    _case("output_1_of_many_strides", (2, 3, 5, 5), (3, 3, 3, 3), strides=(3, 3), has_bias=True),
    _case("one_pixel", (3, 17, 1, 1), (7, 17, 1, 1), has_bias=True),
    _case("one_pixel_padded", (1, 5, 1, 1), (3, 5, 3, 3), pads=(1, 1, 1, 1), has_bias=True),
    _case("pointwise_stride_2", (2, 17, 9, 7), (5, 17, 1, 1), strides=(2, 2), has_bias=True),
    _case("pointwise_padded", (1, 7, 4, 5), (5, 7, 1, 1), pads=(1, 0, 2, 1), has_bias=True),
    _case("wide_kernel", (1, 3, 5, 29), (4, 3, 1, 11), pads=(0, 5, 0, 5), has_bias=True),
    _case("tall_depthwise", (1, 3, 29, 5), (3, 1, 11, 1), pads=(5, 0, 5, 0), group=3, has_bias=True),
    _case("depthwise_stride_3", (1, 3, 17, 19), (3, 1, 3, 3), strides=(3, 3), group=3, has_bias=True),
    _case("depthwise_dilated_2", (2, 3, 13, 11), (6, 1, 5, 5), dilations=(2, 2), pads=(4, 4, 4, 4), group=3),
    _case("depthwise_3d", (1, 4, 4, 5, 6), (4, 1, 3, 3, 3), pads=(1,) * 6, strides=(2, 1, 2), group=4),
    _case("same_upper_stride_2", (1, 3, 8, 9), (4, 3, 3, 3), strides=(2, 2), has_bias=True,
          pads=with_auto_pad((1, 3, 8, 9), (3, 3), (2, 2), (1, 1), "SAME_UPPER")),
    _case("same_lower_dilated", (1, 3, 8, 9), (4, 3, 2, 3), strides=(1, 2), dilations=(3, 2), has_bias=True,
          pads=with_auto_pad((1, 3, 8, 9), (2, 3), (1, 2), (3, 2), "SAME_LOWER")),
    _case("one_dimension", (2, 4, 19), (6, 4, 3), pads=(1, 1), strides=(2,), has_bias=True),
    _case("one_dimension_groups", (1, 6, 21), (6, 2, 5), pads=(4, 0), dilations=(2,), group=3, has_bias=True),
    _case("three_dimensions", (2, 4, 5, 6, 4), (6, 2, 3, 2, 3), group=2, pads=(1, 0, 1, 1, 1, 0), strides=(2, 1, 1)),
    _case("flat_windows_padded_depth", (1, 3, 4, 5, 6), (5, 3, 1, 3, 3), pads=(1, 1, 1, 2, 1, 1), has_bias=True),
    _case("three_dimensions_dilated", (1, 3, 7, 5, 6), (5, 3, 2, 2, 2), dilations=(3, 2, 1), has_bias=True),
    _case("few_pixels", (3, 70, 2, 1), (9, 70, 2, 1), has_bias=True, activation=Activation("hard_sigmoid", 1 / 6)),
]  # fmt: skip

_SUMS = [
    _case("long_sums", (1, 300, 6, 7), (20, 300, 1, 1), has_bias=True, activation=Activation("silu")),
    _case("long_windows", (2, 40, 6, 7), (70, 40, 3, 3), pads=(1, 1, 1, 1), has_residual=True, has_slope=True),
    _case("long_groups", (2, 86, 5, 5), (6, 43, 3, 3), group=2, has_bias=True, has_residual=True),
    _case("whole_tiles", (2, 64, 8, 8), (128, 64, 1, 1), has_bias=True),
    _case("past_one_grid_row", (1, 1, 2050, 2050), (1, 1, 1, 1), has_bias=True, variants=("plain",)),
]

_FUSED = [
    _case(f"fused_{kind}", (2, 6, 5, 7), (9, 2, 3, 3), pads=(1, 0, 1, 2), group=3, has_bias=True, has_residual=True,
          activation=Activation(kind))
    for kind in ("relu", "sigmoid", "tanh", "silu", "hard_sigmoid", "hard_swish", "leaky_relu")
] + [
    _case("fused_relu6", (1, 7, 9, 11), (7, 1, 3, 3), group=7, pads=(1, 1, 1, 1), has_bias=True,
          activation=Activation("clip", 0.0, 6.0)),
    _case("fused_prelu", (2, 5, 5, 7), (9, 5, 3, 3), pads=(1, 1, 1, 1), has_bias=True, has_residual=True,
          has_slope=True),
    _case("depthwise_prelu", (1, 5, 9, 11), (15, 1, 5, 3), group=5, pads=(2, 1, 1, 0), strides=(2, 1), has_slope=True),
    _case("offsets", (2, 6, 5, 7), (9, 2, 3, 3), group=3, has_bias=True, has_residual=True, has_slope=True,
          x_offset=3, w_offset=1, bias_offset=5, residual_offset=7, slope_offset=2, y_offset=9),
    _case("offsets_depthwise", (1, 3, 5, 7), (3, 1, 3, 3), group=3, x_offset=1, w_offset=3, y_offset=5),
]  # fmt: skip

_HALF = [
    _case("half", (2, 20, 9, 7), (9, 20, 3, 3), pads=(1, 1, 1, 1), has_bias=True, has_residual=True, has_slope=True,
          x_offset=3, w_offset=1, bias_offset=5, residual_offset=7, slope_offset=2, y_offset=9, dtype=FLOAT16),
    _case("half_long_sums", (1, 300, 6, 7), (20, 300, 1, 1), has_bias=True, dtype=FLOAT16),
    _case("half_depthwise", (2, 6, 9, 7), (6, 1, 3, 3), group=6, pads=(1, 1, 1, 1), has_bias=True, dtype=FLOAT16),
    _case("half_beyond_2048_pixels", (1, 1, 1, 2101), (1, 1, 1, 3), strides=(1, 2), has_bias=True, dtype=FLOAT16),
]  # fmt: skip

_TILES = [
    _case(f"tile_{name}", (1, 35, 9, 17), (133, 35, 3, 3), pads=(1, 1, 1, 1), has_bias=True,
          variants=(f"implicit_gemm@{name}",))
    for name in TILES
]  # fmt: skip

_TILES.append(_case("tile_chosen", (1, 35, 9, 17), (133, 35, 3, 3), pads=(1, 1, 1, 1), has_bias=True))

_CONSTANT = [
    _case("constant_w", (2, 20, 9, 7), (37, 20, 3, 3), pads=(1, 1, 1, 1), has_bias=True, w_constant=True, w_offset=3),
    _case("constant_w_by_tap", (2, 32, 9, 7), (37, 32, 3, 3), pads=(1, 0, 1, 2), has_bias=True, w_constant=True),
    _case("constant_w_groups", (2, 96, 5, 7), (66, 32, 3, 3), pads=(1, 1, 1, 1), group=3, has_bias=True,
          w_constant=True),
    _case("constant_w_pointwise", (1, 260, 9, 7), (37, 260, 1, 1), has_bias=True, w_constant=True),
    _case("constant_w_3d", (1, 16, 5, 4, 7), (9, 16, 2, 3, 3), pads=(1,) * 6, has_bias=True, w_constant=True),
    _case("constant_w_half", (2, 32, 9, 7), (37, 32, 3, 3), pads=(1, 1, 1, 1), w_constant=True, dtype=FLOAT16),
]  # fmt: skip

CASES = [*_edges(), *_channels(), *_EXTENTS, *_SUMS, *_FUSED, *_HALF, *_CONSTANT, *_TILES]
