"""Variants without a matrix product: few input channels (direct), few output pixels (dot)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...caps import Caps
from ...plan import Launch, fold_grid
from ...problems.conv import Convolution
from .parameters import half_reason, launch, shader
from .variant import ConvVariant

_WORKGROUP = 64
_PIXELS = 2
_ROWS = (4, 8, 16)  # output channels a thread may make
_TERMS = (32, 64, 128, 256)  # sizes of the weights' workgroup memory: at most 16 x 256 x 4 bytes
_MOST_TAPS = 7  # along the width, that are written out
_FEW_CHANNELS = 4
_FEW_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class Direct(ConvVariant):
    """Weights in workgroup memory, several channels and pixels for each thread."""

    name: str = "direct"

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        terms = math.prod(problem.w_shape[1:])
        if terms > _TERMS[-1]:
            return f"more than {_TERMS[-1]} terms in a sum"
        return half_reason(problem, caps)

    def suits(self, problem: Convolution, /) -> bool:
        m = problem.geometry().m
        return m <= _ROWS[1] or (problem.w_shape[1] <= _FEW_CHANNELS and m <= _ROWS[2])

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        g = problem.geometry()
        terms = g.c * g.k_volume
        rows = next((r for r in _ROWS if r >= g.m), _ROWS[-1])
        constants = {
            "ROWS_4": rows // 4,
            "PIXELS": _PIXELS,
            "TERMS": next(t for t in _TERMS if t >= terms),
            "KW_STEP": g.k[2] if g.k[2] <= _MOST_TAPS else 1,
        }
        tiles = -(-g.m // rows) * -(-g.n * g.y_volume // (_WORKGROUP * _PIXELS))
        workgroups = fold_grid(tiles * g.group, caps.limits)
        return [launch(shader("conv_direct", problem, constants), problem, workgroups, f"conv {self.name}")]


@dataclass(frozen=True, slots=True)
class Dot(ConvVariant):
    """A workgroup for each output channel of four columns."""

    name: str = "dot"

    def suits(self, problem: Convolution, /) -> bool:
        g = problem.geometry()
        return g.n * g.y_volume <= _FEW_COLUMNS and g.c * g.k_volume >= _WORKGROUP // 2

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        g = problem.geometry()
        tiles = g.group * g.m * -(-g.n * g.y_volume // 4)
        workgroups = fold_grid(tiles, caps.limits)
        return [launch(shader("conv_dot", problem), problem, workgroups, f"conv {self.name}")]
