"""The families CONV and CONV_TRANSPOSE: their variants, the preferred ones first."""

from __future__ import annotations

from ...problems.conv import Convolution
from ..family import Family
from .plain import Plain

CONV: Family[Convolution] = Family("conv", (Plain("conv_plain"),))
CONV_TRANSPOSE: Family[Convolution] = Family("conv_transpose", (Plain("conv_transpose_plain"),))
