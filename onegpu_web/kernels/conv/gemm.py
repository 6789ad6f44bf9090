"""Variants by a matrix product that gathers windows as it loads them (wgsl/conv_gemm.wgsl)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...caps import Caps
from ...plan import Launch, fold_grid
from ...problems.conv import Convolution
from ...shader import Constant
from ..family import Lowering
from .parameters import half_reason, launch, shader

_BLOCK = 32  # terms of one chain of sums
_COMMON_KERNELS = {(1, k, k) for k in (1, 2, 3, 5, 7)} | {(1, 1, 3)}


@dataclass(frozen=True, slots=True)
class Tile:
    """A workgroup's share: m x n outputs; each thread makes 4 vm x 4 vn of them."""

    m: int
    n: int
    vm: int
    vn: int
    k: int = 16

    @property
    def constants(self) -> dict[str, Constant]:
        """The constants of wgsl/conv_gemm.wgsl."""
        return {"TILE_M": self.m, "TILE_N": self.n, "TILE_K": self.k, "VM": self.vm, "VN": self.vn}

    def workgroups(self, m: int, n: int) -> int:
        """Tiles over an m x n product."""
        return -(-m // self.m) * -(-n // self.n)


TILES = {
    "64x64": Tile(64, 64, 1, 1),
}


def terms(problem: Convolution) -> int:
    """k of the product: input channels of a group times taps."""
    return math.prod(problem.w_shape[1:])


def columns(problem: Convolution) -> int:
    """n of the product: pixels of all images."""
    g = problem.geometry()
    return g.n * g.y_volume


def product(
    problem: Convolution, tile: Tile, caps: Caps, label: str, *, ranges: int = 1, constants: dict[str, Constant]
) -> Launch:
    """The launch of conv_gemm over the problem's own operands, k cut into `ranges`."""
    g = problem.geometry()
    k = terms(problem)
    span = -(-k // (ranges * _BLOCK)) * _BLOCK
    made = shader("conv_gemm", problem, {**window_constants(problem), **tile.constants, **constants})
    m_tiles, n_tiles = -(-g.m // tile.m), -(-columns(problem) // tile.n)
    workgroups = fold_grid(m_tiles * n_tiles * g.group * ranges, caps.limits)
    return launch(made, problem, workgroups, label, (m_tiles, n_tiles, ranges, span, 0))


def window_constants(problem: Convolution) -> dict[str, Constant]:
    """The constants that describe the window: common kernels get their own arithmetic, others share a shader."""
    g = problem.geometry()
    kd, kh, kw = g.k if g.k in _COMMON_KERNELS else (0, 0, 0)
    return {
        "KD": kd,
        "KH": kh,
        "KW": kw,
        "DEEP": g.k[0] > 1 or g.y[0] > 1 or g.pads[0] > 0,
        "PADDED": any(problem.pads),
    }


@dataclass(frozen=True, slots=True)
class ImplicitGemm:
    """The product with windows gathered by the loads; runs every convolution."""

    name: str
    tile: Tile

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        return half_reason(problem, caps)

    def lower(self, problem: Convolution, caps: Caps, /) -> Lowering:
        return Lowering((product(problem, self.tile, caps, f"conv {self.name}", constants={}),))
