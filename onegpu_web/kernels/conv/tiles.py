"""Tile shapes of the matrix product, and which one a shape gets: the one that a model of its time prefers.

The model was fitted to every tile on every layer of ResNet-50, MobileNetV3-large and a DBNet at batch 1
and 8 (H200, wgpu-py 0.32, 2026-11-29): docs/kernels/conv.md says how well it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...shader import Constant

BLOCK = 32  # terms of one chain of sums
MOST_RANGES = 16
_MULTIPROCESSORS = 132
_START_US = 2.6  # of a dispatch that waits for the one before
_WAVE_US = 0.9  # start and end of a further workgroup of 64 x 64 outputs on a multiprocessor
_EPILOGUE_US = 3.3  # of a second dispatch that adds planes of sums
_PLANE_BYTES_PER_US = 2.0e6


@dataclass(frozen=True, slots=True)
class Tile:
    """A workgroup's share: m x n outputs in steps of k terms; each thread makes 4 vm x 4 vn outputs.

    alone_ns: of one term where a multiprocessor has one workgroup. shared_ns: of one term of each
    workgroup where it has many.
    """

    m: int
    n: int
    k: int
    vm: int
    vn: int
    alone_ns: float
    shared_ns: float

    @property
    def name(self) -> str:
        """As in 64x64x16_4x4."""
        return f"{self.m}x{self.n}x{self.k}_{4 * self.vm}x{4 * self.vn}"

    @property
    def constants(self) -> dict[str, Constant]:
        """The constants of wgsl/conv_gemm.wgsl."""
        # A step of k written out is 10 % faster where a thread has few sums; more of them only lengthen the text.
        written_out = 16 if self.vm * self.vn < 4 else 4
        tile: dict[str, Constant] = {"TILE_M": self.m, "TILE_N": self.n, "TILE_K": self.k, "VM": self.vm, "VN": self.vn}
        return tile | {"K_STEP": written_out}

    def workgroups(self, m: int, n: int) -> int:
        """Tiles over an m x n product."""
        return -(-m // self.m) * -(-n // self.n)


TILES = {
    tile.name: tile
    for tile in (
        Tile(64, 64, 16, 1, 1, 70, 56.9),
        Tile(64, 64, 16, 2, 1, 73, 48.9),
        Tile(64, 64, 32, 1, 1, 60, 54),
        Tile(64, 64, 16, 2, 2, 118, 78),
        Tile(128, 64, 16, 2, 1, 104, 103),
        Tile(64, 128, 16, 2, 2, 109, 116),
        Tile(128, 128, 16, 2, 2, 165, 167),
        Tile(32, 64, 32, 1, 1, 47, 28.5),
        Tile(64, 32, 32, 1, 1, 48, 28.5),
        Tile(32, 32, 32, 1, 1, 48, 15.1),
    )
}


@dataclass(frozen=True, slots=True)
class Size:
    """A matrix product: m x n outputs of k terms, in each of `group` groups."""

    m: int
    n: int
    k: int
    group: int = 1


def span_of(k: int, ranges: int) -> int:
    """Terms of each of `ranges` ranges of k, whole blocks."""
    return -(-k // (ranges * BLOCK)) * BLOCK


def possible_ranges(k: int) -> list[int]:
    """The numbers of ranges, two or more, that k can be cut into with none left empty."""
    return [r for r in range(2, MOST_RANGES + 1) if -(-k // span_of(k, r)) == r]


def time_us(size: Size, tile: Tile, ranges: int) -> float:
    """What the product takes on an H200, as the model has it."""
    share = -(-tile.workgroups(size.m, size.n) * size.group * ranges // _MULTIPROCESSORS)
    terms = size.k if ranges == 1 else span_of(size.k, ranges)
    loop = terms * max(tile.alone_ns, share * tile.shared_ns) / 1000
    total = _START_US + loop + (share - 1) * _WAVE_US * tile.m * tile.n / 4096
    if ranges > 1:
        planes = (2 * ranges + 1) * 4 * size.m * size.n * size.group
        total += _EPILOGUE_US + planes / _PLANE_BYTES_PER_US
    return total


def choose_tile(size: Size, ranges: Iterable[int] = (1,), tiles: Iterable[Tile] = TILES.values()) -> tuple[Tile, int]:
    """The tile, and of `ranges` the number of ranges of k, that take the least time. Sizes alone decide."""
    return min(((tile, r) for tile in tiles for r in ranges), key=lambda cut: time_us(size, *cut))
