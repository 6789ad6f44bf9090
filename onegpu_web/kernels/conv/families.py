"""The families CONV and CONV_TRANSPOSE: their variants, the preferred ones first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...caps import Caps
from ...errors import KernelShapeError
from ...problems.conv import Convolution
from ..family import Family, Variant
from .columns import GemmCol2im, Im2col
from .depthwise import Depthwise
from .direct import Direct, Dot
from .gemm import ImplicitGemm, Pointwise, Product, SplitK
from .plain import Plain
from .tiles import TILES
from .transpose_pointwise import TransposePointwise
from .variant import ConvVariant


@dataclass(frozen=True, slots=True)
class ConvFamily(Family[Convolution]):
    """A family whose variants say which problems they suit.

    A forced variant may name a tile of the product: `implicit_gemm@128x128x16_8x8`.
    """

    def choose(self, problem: Convolution, caps: Caps, variant: str | None = None) -> Variant[Convolution]:
        """The first variant that supports and suits the problem, or the forced one. Raises: KernelShapeError."""
        return self.choose_conv(problem, caps, variant)

    def choose_conv(self, problem: Convolution, caps: Caps, variant: str | None = None) -> ConvVariant:
        """The same, as a variant of convolution."""
        if variant is None:
            preferred = (v for v in self.variants if isinstance(v, ConvVariant) and v.suits(problem))
            variant = next((v.name for v in preferred if v.supports(problem, caps) is None), None)
        name, _, tile = (variant or "").partition("@")
        found = Family.choose(self, problem, caps, name or None)
        if not isinstance(found, ConvVariant):
            raise KernelShapeError(f"{self.name}: {found.name} is no variant of convolution")
        if not tile:
            return found
        if not isinstance(found, Product) or tile not in TILES:
            raise KernelShapeError(f"{self.name}: tile must be one of {', '.join(TILES)} for a product, got {variant}")
        return replace(found, tile=TILES[tile])


CONV = ConvFamily(
    "conv",
    (Depthwise(), Dot(), Direct(), SplitK(), Pointwise(), ImplicitGemm(), Im2col(), Plain("plain", "conv_plain")),
)
CONV_TRANSPOSE = ConvFamily(
    "conv_transpose", (TransposePointwise(), GemmCol2im(), Plain("plain", "conv_transpose_plain"))
)
