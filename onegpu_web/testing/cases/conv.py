"""Cases of convolution: edge shapes, every fused last step, and the layers of real models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...kernels.conv import CONV
from ...problems.activation import Activation
from ...problems.conv import Convolution, ConvProblem
from ..reference import conv as reference
from .case import Arrays, Case

FAMILY = CONV


def arrays(problem: Convolution, rng: np.random.Generator) -> Arrays:
    """Every operand read, flat, with its offset's elements before it.

    Weights are scaled so that sums have the size of the input.
    """
    fan_in = max(1, math.prod(problem.w_shape[1:]))
    scales = {"w": fan_in**-0.5}
    made = {}
    for role, shape, is_written in problem.operands():
        if not is_written:
            count = getattr(problem, f"{role}_offset") + math.prod(shape)
            values = rng.standard_normal(count, dtype=np.float32) * np.float32(scales.get(role, 1.0))
            made[role] = values.astype(problem.dtype.name)
    return made


def shaped(problem: Convolution, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """The operands without what lies before their offsets, in their shapes."""
    return {
        role: arrays[role][getattr(problem, f"{role}_offset") :][: math.prod(shape)].reshape(shape)
        for role, shape, is_written in problem.operands()
        if not is_written
    }


def expected(problem: ConvProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    operands = shaped(problem, arrays)
    return {"y": reference.finish(reference.conv(operands["x"], operands["w"], problem), problem, operands)}


def _case(name: str, *shapes: tuple[int, ...], tolerance: float = 1e-5, **fields: Any) -> Case:
    return Case(name, ConvProblem(*shapes, **fields), tolerance)


CASES = [
    _case("kernel_3", (2, 5, 9, 7), (6, 5, 3, 3), pads=(1, 1, 1, 1), has_bias=True),
    _case("stride_2_relu", (1, 3, 17, 15), (8, 3, 3, 3), pads=(0, 0, 1, 1), strides=(2, 2), has_bias=True,
          activation=Activation("relu")),
    _case("pointwise", (3, 17, 5, 7), (33, 17, 1, 1), has_bias=True, has_residual=True),
    _case("depthwise", (2, 7, 9, 11), (7, 1, 3, 3), group=7, pads=(1, 1, 1, 1), has_bias=True,
          activation=Activation("hard_swish")),
    _case("depthwise_multiplier_3", (2, 5, 9, 11), (15, 1, 5, 3), group=5, pads=(2, 1, 1, 0), strides=(2, 1)),
    _case("groups", (2, 6, 5, 7), (9, 2, 3, 2), group=3, pads=(1, 0, 2, 1), has_bias=True, has_residual=True),
    _case("dilated", (1, 4, 12, 13), (5, 4, 3, 3), dilations=(2, 3), pads=(2, 3, 1, 0), strides=(1, 2)),
    _case("one_dimension", (2, 4, 19), (6, 4, 3), pads=(1, 1), strides=(2,)),
    _case("few_pixels", (3, 70, 2, 1), (9, 70, 2, 1), has_bias=True, activation=Activation("hard_sigmoid", 1 / 6, 0.5)),
    _case("long_sums", (1, 300, 6, 7), (20, 300, 1, 1), has_bias=True, activation=Activation("silu")),
    _case("long_windows", (2, 40, 6, 7), (70, 40, 3, 3), pads=(1, 1, 1, 1), has_residual=True, has_slope=True),
    _case("three_dimensions", (2, 4, 5, 6, 4), (6, 2, 3, 2, 3), group=2, pads=(1, 0, 1, 1, 1, 0), strides=(2, 1, 1)),
]  # fmt: skip
