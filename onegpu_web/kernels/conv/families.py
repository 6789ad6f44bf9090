"""The families CONV and CONV_TRANSPOSE: their variants, the preferred ones first."""

from __future__ import annotations

from ...problems.conv import Convolution
from ..family import Family
from .depthwise import Depthwise
from .gemm import TILES, ImplicitGemm
from .plain import Plain
from .transpose_pointwise import TransposePointwise

CONV: Family[Convolution] = Family(
    "conv", (Depthwise(), ImplicitGemm("implicit_gemm", TILES["64x64"]), Plain("conv_plain"))
)
CONV_TRANSPOSE: Family[Convolution] = Family("conv_transpose", (TransposePointwise(), Plain("conv_transpose_plain")))
