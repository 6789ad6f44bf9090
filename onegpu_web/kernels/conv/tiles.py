"""Tile shapes of the matrix product, and which one a shape gets."""

from __future__ import annotations

from dataclasses import dataclass

from ...shader import Constant


@dataclass(frozen=True, slots=True)
class Tile:
    """A workgroup's share: m x n outputs in steps of k terms; each thread makes 4 vm x 4 vn outputs."""

    m: int
    n: int
    k: int
    vm: int
    vn: int

    @property
    def name(self) -> str:
        """As in 64x64x16_4x4."""
        return f"{self.m}x{self.n}x{self.k}_{4 * self.vm}x{4 * self.vn}"

    @property
    def constants(self) -> dict[str, Constant]:
        """The constants of wgsl/conv_gemm.wgsl."""
        return {"TILE_M": self.m, "TILE_N": self.n, "TILE_K": self.k, "VM": self.vm, "VN": self.vn}

    def workgroups(self, m: int, n: int) -> int:
        """Tiles over an m x n product."""
        return -(-m // self.m) * -(-n // self.n)


TILES = {
    tile.name: tile
    for tile in (
        Tile(64, 64, 16, 1, 1),
        Tile(64, 64, 16, 2, 1),
        Tile(64, 64, 32, 1, 1),
        Tile(64, 64, 16, 2, 2),
        Tile(128, 64, 16, 2, 1),
        Tile(64, 128, 16, 2, 2),
        Tile(128, 128, 16, 2, 2),
        Tile(32, 64, 32, 1, 1),
        Tile(64, 32, 32, 1, 1),
        Tile(32, 32, 32, 1, 1),
    )
}
_SMALL, _MEDIUM, _LARGE = TILES["32x32x32_4x4"], TILES["64x64x16_4x4"], TILES["128x128x16_8x8"]
_FULL_GRID = 264  # two workgroups for each multiprocessor of an H200


def choose_tile(m: int, n: int, group: int) -> Tile:
    """The largest tile that fills the grid without much waste. The shape alone decides; no sum's order depends on it.

    m, n: of one group's product.
    """
    if m >= 96 and _LARGE.workgroups(m, n) * group >= _FULL_GRID:
        return _LARGE
    if m > 32 and n > 32:
        return _MEDIUM
    return _SMALL
