"""What the numpy operators share: how they take operands and how they refuse results that are too big."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from ..errors import ModelError, UnsupportedError
from .model import Array, Node

Inputs: TypeAlias = Sequence[Array | None]
HostOp: TypeAlias = Callable[[Node, Inputs, int], list[Array]]

# A few bytes of file can ask for any size (ConstantOfShape, Expand, Tile); nothing bigger is ever allocated.
RESULT_LIMIT_BYTES = 1 << 30


def admit(node: Node, shape: Sequence[int], dtype: np.dtype[np.generic]) -> tuple[int, ...]:
    """The shape, where a result of it may be allocated.

    Raises: UnsupportedError above RESULT_LIMIT_BYTES, ModelError for a negative size.
    """
    if any(size < 0 for size in shape):
        raise ModelError(f"{node.label}: shape must not be negative, got {tuple(shape)}")
    size = prod(max(extent, 1) for extent in shape) * dtype.itemsize
    if size > RESULT_LIMIT_BYTES:
        raise UnsupportedError(
            f"{node.label}: a constant of {RESULT_LIMIT_BYTES} bytes is the most, got {size} for {tuple(shape)}"
        )
    return tuple(shape)


def operand(node: Node, inputs: Inputs, index: int) -> Array:
    """Input `index`. Raises: ModelError where the node leaves it out."""
    value = optional(inputs, index)
    if value is None:
        raise ModelError(f"{node.label}: input {index} must be given")
    return value


def optional(inputs: Inputs, index: int) -> Array | None:
    """Input `index`, None where the node leaves it out."""
    return inputs[index] if index < len(inputs) else None


def integers(node: Node, value: Array) -> tuple[int, ...]:
    """The integers of a shape, axes or pads tensor. Raises: ModelError for another dtype."""
    if value.dtype.kind not in "iu":
        raise ModelError(f"{node.label}: sizes and axes must be integers, got {value.dtype}")
    return tuple(int(item) for item in value.reshape(-1))


def axes_of(node: Node, inputs: Inputs, index: int) -> tuple[int, ...] | None:
    """Attribute or input `axes` (an input from the opset on that made it one), None where absent."""
    axes = node.get_ints("axes")
    if axes is not None:
        return axes
    value = optional(inputs, index)
    return None if value is None else integers(node, value)


def axis_in(node: Node, axis: int, rank: int) -> int:
    """The axis counted from the front. Raises: ModelError outside -rank to rank - 1."""
    if not -rank <= axis < rank:
        raise ModelError(f"{node.label}: axis must be {-rank} to {rank - 1}, got {axis}")
    return axis % rank


def distinct_axes(node: Node, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """The axes counted from the front. Raises: ModelError for one outside the rank or named twice."""
    found = tuple(axis_in(node, axis, rank) for axis in axes)
    if len(set(found)) != len(found):
        raise ModelError(f"{node.label}: axes must be distinct, got {tuple(axes)}")
    return found
