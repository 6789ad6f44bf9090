"""Convolution kernels: the families CONV and CONV_TRANSPOSE."""

from __future__ import annotations

from .families import CONV, CONV_TRANSPOSE

__all__ = ["CONV", "CONV_TRANSPOSE", "FAMILY"]

FAMILY = CONV
