"""Normalizations: over rows of the input itself, or with statistics given (BatchNormalization)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dtypes import FLOAT32, DType
from ..errors import KernelShapeError
from .strides import Shape, check_axis, check_offsets, check_shape

NORMALIZATIONS = ("layer", "instance", "group")


@dataclass(frozen=True, slots=True)
class NormalizationProblem:
    """y = (x - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance of each row of x.

    kind: `layer`: a row is what lies from `axis` on, scale and bias have its elements;
    `instance`: a row is a channel (N, C, ...) of one image, scale and bias are (C);
    `group`: a row is one of num_groups groups of channels, scale and bias are (C), or (num_groups) with
    scale_per_group (opset 18). has_bias: layer normalization's bias may be left out.
    Source: ONNX LayerNormalization-17, InstanceNormalization-22, GroupNormalization-21.
    """

    kind: str
    x_shape: Shape
    epsilon: float = 1e-5
    axis: int = -1
    num_groups: int = 1
    scale_per_group: bool = False
    has_bias: bool = True
    dtype: DType = FLOAT32
    x_offset: int = 0
    scale_offset: int = 0
    bias_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        if self.kind not in NORMALIZATIONS:
            raise KernelShapeError(f"normalization: kind must be of {', '.join(NORMALIZATIONS)}, got {self.kind!r}")
        least = 1 if self.kind == "layer" else 2
        if len(self.x_shape) < least:
            raise KernelShapeError(f"{self.op}: x must have {least} axes or more, got {self.x_shape}")
        if self.kind == "layer":
            check_axis(self.op, "axis", self.axis, len(self.x_shape))
        elif self.num_groups < 1 or self.x_shape[1] % self.num_groups:
            raise KernelShapeError(f"{self.op}: num_groups must divide {self.x_shape[1]}, got {self.num_groups}")
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise KernelShapeError(f"{self.op}: epsilon must be a number of 0 or more, got {self.epsilon}")
        elements = check_shape(self.op, "x_shape", self.x_shape)
        scales = self.channels[1]
        check_offsets(
            self.op,
            x_offset=(self.x_offset, elements),
            scale_offset=(self.scale_offset, scales),
            bias_offset=(self.bias_offset, scales),
            y_offset=(self.y_offset, elements),
        )

    @property
    def op(self) -> str:
        return f"{self.kind}_normalization"

    @property
    def rows(self) -> tuple[int, int]:
        """How many rows, and the elements of each."""
        if self.kind == "layer":
            axis = self.axis % len(self.x_shape)
            return math.prod(self.x_shape[:axis]), math.prod(self.x_shape[axis:])
        groups = self.x_shape[1] if self.kind == "instance" else self.num_groups
        return self.x_shape[0] * groups, self.x_shape[1] // max(1, groups) * math.prod(self.x_shape[2:])

    @property
    def channels(self) -> tuple[int, int]:
        """(span, count): element i of x takes scale[i / span % count]."""
        if self.kind == "layer":
            return 1, self.rows[1]
        if self.scale_per_group:
            return self.rows[1], self.num_groups
        return math.prod(self.x_shape[2:]), self.x_shape[1]


@dataclass(frozen=True, slots=True)
class BatchNormalizationProblem:
    """y = (x - mean) / sqrt(var + epsilon) * scale + bias with (C) statistics given.

    x, y: (N, C, ...). Source: ONNX BatchNormalization-15, inference.
    """

    x_shape: Shape
    epsilon: float = 1e-5
    dtype: DType = FLOAT32
    x_offset: int = 0
    scale_offset: int = 0
    bias_offset: int = 0
    mean_offset: int = 0
    variance_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        if not self.x_shape:
            raise KernelShapeError("batch_normalization: x must have 1 axis or more, got ()")
        elements, c = check_shape(self.op, "x_shape", self.x_shape), self.channels
        check_offsets(
            self.op,
            x_offset=(self.x_offset, elements),
            scale_offset=(self.scale_offset, c),
            bias_offset=(self.bias_offset, c),
            mean_offset=(self.mean_offset, c),
            variance_offset=(self.variance_offset, c),
            y_offset=(self.y_offset, elements),
        )

    @property
    def op(self) -> str:
        return "batch_normalization"

    @property
    def channels(self) -> int:
        """C; 1 for an x of one axis."""
        return self.x_shape[1] if len(self.x_shape) > 1 else 1

    @property
    def plane(self) -> int:
        """Elements of one channel of one image."""
        return math.prod(self.x_shape[2:])
