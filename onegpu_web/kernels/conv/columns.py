"""Variants that write windows out in the scratch: im2col for Conv, gemm_col2im for ConvTranspose."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...caps import Caps
from ...plan import Launch, grid
from ...problems.conv import Convolution, ConvProblem
from .gemm import product
from .parameters import READS, params, shader, sums_only
from .tiles import Size, choose_tile
from .variant import ConvVariant

_WORKGROUP = 64
_LEAST_TERMS = 8  # of the transposed product; below it a gathering thread does as well


@dataclass(frozen=True, slots=True)
class Im2col(ConvVariant):
    """Columns in the scratch, then a plain product with the fused last pass."""

    name: str = "im2col"

    def suits(self, problem: Convolution, /) -> bool:
        return False  # the same product gathers its windows without the columns' traffic

    def image_scratch(self, problem: Convolution, caps: Caps, /) -> int:
        g = problem.geometry()
        return g.group * g.c * g.k_volume * g.y_volume

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        g = problem.geometry()
        terms = g.c * g.k_volume
        writing = Launch(
            shader("conv_im2col", sums_only(problem, 0), flags=False),
            ("x",),
            ("scratch",),
            params(sums_only(problem, scratch_offset)),
            grid(g.n * self.image_scratch(problem, caps), _WORKGROUP, caps.limits),
            f"conv {self.name} columns",
        )
        flat = ConvProblem(
            (g.n, g.group * terms, g.y_volume),
            (problem.out_channels, terms, 1),
            group=g.group,
            has_bias=problem.has_bias,
            has_residual=problem.has_residual,
            has_slope=problem.has_slope,
            activation=problem.activation,
            dtype=problem.dtype,
            x_offset=scratch_offset,
            w_offset=problem.w_offset,
            bias_offset=problem.bias_offset,
            residual_offset=problem.residual_offset,
            slope_offset=problem.slope_offset,
            y_offset=problem.y_offset,
        )
        images = whole.x_shape[0] if caps.deterministic else g.n
        tile, _ = choose_tile(Size(g.m, images * g.y_volume, terms, g.group))
        label = f"conv {self.name} {tile.name}"
        return [writing, product(flat, tile, caps, label, x="scratch", aliases={"X": "f32"})]


@dataclass(frozen=True, slots=True)
class GemmCol2im(ConvVariant):
    """Transposed weights times input into columns, then a thread for each output gathers its taps."""

    name: str = "gemm_col2im"

    def suits(self, problem: Convolution, /) -> bool:
        g = problem.geometry()
        return g.c >= _LEAST_TERMS and g.m * g.k_volume >= _LEAST_TERMS

    def image_scratch(self, problem: Convolution, caps: Caps, /) -> int:
        g = problem.geometry()
        return g.group * g.m * g.k_volume * g.x_volume

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        g = problem.geometry()
        rows = g.m * g.k_volume
        flat = ConvProblem(
            (g.n, g.group * g.c, g.x_volume),
            (g.group * rows, g.c, 1),
            group=g.group,
            dtype=problem.dtype,
            x_offset=problem.x_offset,
            w_offset=problem.w_offset,
            y_offset=scratch_offset,
        )
        images = whole.x_shape[0] if caps.deterministic else g.n
        tile, _ = choose_tile(Size(rows, images * g.x_volume, g.c, g.group))
        label = f"conv_transpose {self.name} {tile.name}"
        gathering = Launch(
            shader("conv_col2im", problem),
            ("scratch", *READS[2:]),
            ("y",),
            params(problem, scratch_offset),
            grid(math.prod(problem.output_shape), _WORKGROUP, caps.limits),
            f"conv_transpose {self.name} gather",
        )
        return [product(flat, tile, caps, label, w_row=rows, y="scratch", aliases={"Y": "f32"}), gathering]
