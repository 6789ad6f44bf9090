"""Depthwise convolution: one input channel for each group (wgsl/conv_depthwise.wgsl)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...caps import Caps
from ...plan import Launch, grid
from ...problems.conv import Convolution, Geometry
from ...shader import Constant
from .parameters import half_reason, launch, shader
from .variant import ConvVariant

_WORKGROUP = 64
_MOST_TAPS = 7  # along an axis, that are written out
_MOST_STEP = 2  # stride and dilation with which neighbours share enough of a row
_THREADS = 65_536  # what keeps a large GPU busy; below it more threads beat fewer loads


@dataclass(frozen=True, slots=True)
class Depthwise(ConvVariant):
    """Several neighbours along the width for each thread."""

    name: str = "depthwise"

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        if problem.w_shape[1] != 1:
            return "more than one input channel per group"
        return half_reason(problem, caps)

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        g = problem.geometry()
        constants = _constants(g, math.prod(problem.output_shape))
        made = shader("conv_depthwise", problem, constants)
        tiles = -(-g.y[2] // int(constants["OUTPUTS"]))
        workgroups = grid(math.prod(problem.output_shape) // g.y[2] * tiles, _WORKGROUP, caps.limits)
        return [launch(made, problem, workgroups, f"conv {self.name}")]


def _constants(g: Geometry, outputs: int) -> dict[str, Constant]:
    """What is written out: all of a small window over neighbours, one tap of a large one."""
    stride, dilation = g.strides[2], g.dilations[2]
    if max(g.k[1:]) > _MOST_TAPS or max(stride, dilation) > _MOST_STEP:
        return {"OUTPUTS": 1, "KH_STEP": 1, "KW_STEP": 1, "SW": 1, "DW": 1}
    wide = 4 if outputs >= 4 * _THREADS else 2
    return {"OUTPUTS": wide, "KH_STEP": g.k[1], "KW_STEP": g.k[2], "SW": stride, "DW": dilation}
