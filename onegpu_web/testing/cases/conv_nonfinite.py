"""Convolution of NaN and infinities: the zeros of the padding are terms, and an infinite weight makes NaN of them."""

from __future__ import annotations

import numpy as np

from ...kernels.conv import CONV
from ...problems.conv import Convolution, ConvProblem
from . import conv
from .case import Arrays, Case

__all__ = ["CASES", "FAMILY", "arrays", "expected"]

FAMILY = CONV


def arrays(problem: Convolution, rng: np.random.Generator) -> Arrays:
    """As for finite cases; then the first weight is infinite, the last NaN, and x holds both infinities."""
    made = conv.arrays(problem, rng)
    w = made["w"][problem.w_offset :]
    w[0], w[-1] = np.inf, np.nan
    x = made["x"][problem.x_offset :]
    x[len(x) // 2], x[-1] = np.inf, -np.inf
    return made


def expected(problem: ConvProblem, arrays: Arrays) -> Arrays:
    """y in float64."""
    with np.errstate(invalid="ignore"):
        return conv.expected(problem, arrays)


CASES = [
    Case("stem", ConvProblem((1, 3, 7, 8), (5, 3, 3, 3), pads=(1, 1, 1, 1), has_bias=True)),
    Case("deep", ConvProblem((2, 33, 4, 5), (6, 33, 3, 3), pads=(1, 0, 2, 1), strides=(2, 1), has_bias=True)),
    Case("deep_constant_w", ConvProblem((1, 32, 4, 5), (6, 32, 3, 3), pads=(1, 1, 1, 1), w_constant=True)),
    Case("depthwise", ConvProblem((1, 4, 7, 9), (4, 1, 3, 3), pads=(1, 1, 1, 1), group=4)),
    Case("pointwise", ConvProblem((1, 40, 5, 6), (9, 40, 1, 1), has_bias=True)),
]
