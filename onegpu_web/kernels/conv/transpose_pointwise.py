"""Transposed convolution whose kernel is its stride (wgsl/conv_transpose_pointwise.wgsl)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...caps import Caps
from ...plan import Launch, fold_grid
from ...problems.conv import Convolution
from .parameters import half_reason, launch, shader
from .variant import ConvVariant

_WORKGROUP = 64
_ROWS = (4, 8, 16)  # (channel, tap) rows a thread may make


@dataclass(frozen=True, slots=True)
class TransposePointwise(ConvVariant):
    """A product per input pixel; no window overlaps another."""

    name: str = "transpose_pointwise"

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        g = problem.geometry()
        if g.k != g.strides:
            return "the kernel is not the stride"
        if any(k > 1 and d > 1 for k, d in zip(g.k, g.dilations, strict=True)):
            return "the window has gaps"
        if any(o + p > x * s for o, p, x, s in zip(g.y, g.pads, g.x, g.strides, strict=True)) or min(problem.pads) < 0:
            return "some outputs are in no window"
        return half_reason(problem, caps)

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        g = problem.geometry()
        rows = g.m * g.k_volume
        per_thread = next((r for r in _ROWS if r >= rows), _ROWS[-1])
        made = shader("conv_transpose_pointwise", problem, {"ROWS_4": per_thread // 4})
        tiles = -(-rows // per_thread) * -(-g.n * math.prod(g.x) // _WORKGROUP)
        workgroups = fold_grid(tiles * g.group, caps.limits)
        return [launch(made, problem, workgroups, f"conv_transpose {self.name}")]
