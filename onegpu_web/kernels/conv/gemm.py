"""Variants by a matrix product that gathers windows as it loads them (wgsl/conv_gemm.wgsl)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...caps import Caps
from ...plan import Launch, fold_grid, grid, pack_params
from ...problems.conv import Convolution
from ...shader import Constant, build
from .parameters import epilogue, half_reason, launch, shader, sums_only
from .tiles import BLOCK, TILES, Size, Tile, choose_tile, possible_ranges, span_of, time_us
from .variant import ConvVariant

_PACK_WORKGROUP = 64
_COMMON_KERNELS = {(1, k, k) for k in (1, 2, 3, 5, 7)} | {(1, 1, 3)}


def terms(problem: Convolution) -> int:
    """k of the product: input channels of a group times taps."""
    return math.prod(problem.w_shape[1:])


def columns(problem: Convolution) -> int:
    """n of the product: pixels of all images."""
    g = problem.geometry()
    return g.n * g.y_volume


def size_of(problem: Convolution) -> Size:
    """The product of one group, and how many groups there are."""
    g = problem.geometry()
    return Size(g.m, columns(problem), terms(problem), g.group)


def product(
    problem: Convolution,
    tile: Tile,
    caps: Caps,
    label: str,
    *,
    ranges: int = 1,
    w: str = "w",
    w_row: int = 0,
    by_tap: bool = False,
    x: str = "x",
    y: str = "y",
    aliases: Mapping[str, str] | None = None,
) -> Launch:
    """The launch of conv_gemm, k cut into `ranges`.

    w_row: 0 where w lies as (M, k); else it lies as (group, k, M) in rows of so many elements. by_tap: k runs
    over (taps, c). w, x, y: the operands in these places.
    """
    g = problem.geometry()
    span = span_of(terms(problem), ranges)
    types = {"X": problem.dtype.wgsl, "Y": problem.dtype.wgsl, **(aliases or {})}
    constants = {**window_constants(problem), **tile.constants, "W_BY_K": w_row > 0, "BY_TAP": by_tap}
    made = shader("conv_gemm", problem, constants, types)
    m_tiles, n_tiles = -(-g.m // tile.m), -(-columns(problem) // tile.n)
    workgroups = fold_grid(m_tiles * n_tiles * g.group * ranges, caps.limits)
    return launch(made, problem, workgroups, label, (m_tiles, n_tiles, ranges, span, w_row), w=w, x=x, y=y)


def product_of(
    problem: Convolution, tile: Tile, caps: Caps, label: str, *, ranges: int = 1, y: str = "y", raw: bool = False
) -> Launch:
    """The product over the problem's own windows, with weights laid out once where they are constant.

    raw: y takes float32 sums.
    """
    aliases = {"Y": "f32"} if raw else None
    if not problem.w_constant:
        return product(problem, tile, caps, label, ranges=ranges, y=y, aliases=aliases)
    laid_out = replace(problem, w_offset=0)
    row, by_tap = problem.geometry().m, takes_taps(problem, tile)
    return product(
        laid_out, tile, caps, label, ranges=ranges, w="laid_out", w_row=row, by_tap=by_tap, y=y, aliases=aliases
    )


def takes_taps(problem: Convolution, tile: Tile) -> bool:
    """Whether k can run tap by tap, each step of the tile within one."""
    g = problem.geometry()
    return g.k_volume > 1 and g.c % tile.k == 0


def laying_out(problem: Convolution, tile: Tile, caps: Caps) -> Launch | None:
    """The set-up launch that lays constant weights out for `product_of`."""
    if not problem.w_constant:
        return None
    g = problem.geometry()
    aliases = {"T": problem.dtype.wgsl}
    made = build("conv_pack", constants={"BY_TAP": takes_taps(problem, tile)}, aliases=aliases)
    params = pack_params(g.group, g.c, g.m, g.k_volume, problem.w_offset)
    workgroups = grid(math.prod(problem.w_shape), _PACK_WORKGROUP, caps.limits)
    return Launch(made, ("w",), ("laid_out",), params, workgroups, f"{problem.op} lay out")


def window_constants(problem: Convolution) -> dict[str, Constant]:
    """The constants that describe the window: common kernels get their own arithmetic, others share a shader."""
    g = problem.geometry()
    padded_depth = len(problem.strides) == 3 and any(problem.pads[::3])
    kd, kh, kw = g.k if g.k in _COMMON_KERNELS and not padded_depth else (0, 0, 0)
    return {"KD": kd, "KH": kh, "KW": kw, "PADDED": any(problem.pads)}


@dataclass(frozen=True, slots=True)
class Product(ConvVariant):
    """What variants by a product over the problem's own windows share. tile: None to choose."""

    tile: Tile | None = field(default=None, kw_only=True)

    def tile_for(self, problem: Convolution) -> Tile:
        """The tile of the product."""
        return self.tile or choose_tile(size_of(problem))[0]

    def setup(self, problem: Convolution, caps: Caps, /) -> Launch | None:
        return laying_out(problem, self.tile_for(problem), caps)


@dataclass(frozen=True, slots=True)
class ImplicitGemm(Product):
    """The product with windows gathered by the loads; runs every convolution."""

    name: str = "implicit_gemm"

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        tile = self.tile_for(whole)
        return [product_of(problem, tile, caps, f"conv {self.name} {tile.name}")]


@dataclass(frozen=True, slots=True)
class Pointwise(ImplicitGemm):
    """A 1 x 1 window without stride or padding: weights and input are the product's matrices as they lie."""

    name: str = "pointwise"

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        if math.prod(problem.w_shape[2:]) != 1 or any(problem.pads) or any(s != 1 for s in problem.strides):
            return "not a 1 x 1 window without stride and padding"
        return half_reason(problem, caps)


@dataclass(frozen=True, slots=True)
class SplitK(Product):
    """The product with k cut into ranges, each a plane of sums in the scratch, and a pass that adds them."""

    name: str = "split_k"

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        if terms(problem) <= BLOCK:
            return f"no more than {BLOCK} terms in a sum"
        return ConvVariant.supports(self, problem, caps)

    def suits(self, problem: Convolution, /) -> bool:
        size = size_of(problem)
        if size.k <= BLOCK:
            return False
        return time_us(size, *self._cut(problem)) < time_us(size, *choose_tile(size))

    def tile_for(self, problem: Convolution) -> Tile:
        return self._cut(problem)[0]

    def image_scratch(self, problem: Convolution, caps: Caps, /) -> int:
        return self._cut(problem)[1] * math.prod(problem.output_shape[1:])

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        tile, ranges = self._cut(whole)
        sums = sums_only(problem, scratch_offset)
        label = f"conv {self.name} {tile.name} / {ranges}"
        cut = product_of(sums, tile, caps, label, ranges=ranges, y="scratch", raw=True)
        return [cut, epilogue(problem, caps, ranges, scratch_offset)]

    def _cut(self, problem: Convolution) -> tuple[Tile, int]:
        """The tile and the number of ranges, two at least."""
        size = size_of(problem)
        tiles = TILES.values() if self.tile is None else [self.tile]
        return choose_tile(size, possible_ranges(size.k), tiles)
