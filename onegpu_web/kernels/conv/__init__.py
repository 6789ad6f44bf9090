"""Convolution kernels: ConvKernels for callers with buffers, the families CONV and CONV_TRANSPOSE behind it."""

from __future__ import annotations

from .families import CONV, CONV_TRANSPOSE
from .kernels import ConvKernels, Scratch

__all__ = ["CONV", "CONV_TRANSPOSE", "FAMILY", "ConvKernels", "Scratch"]

FAMILY = CONV
