"""Operators that only give a tensor another shape: no kernel runs for them."""

from __future__ import annotations

import math

import numpy as np

from ...errors import KernelShapeError, UnsupportedError
from ..lowering import Alias, Lowered, NodeView, Value


def identity(node: NodeView) -> list[Lowered]:
    """Identity-25."""
    x = node.required(0)
    return [Alias(x.name, node.output(0, x.shape, x.dtype))]


def dropout(node: NodeView) -> list[Lowered]:
    """Dropout-22 in inference: the input itself, and a mask that is true everywhere."""
    training = node.known(2)
    if training is not None and bool(training.any()):
        raise UnsupportedError(f"{node.node.label}: training_mode must be false")
    x = node.required(0)
    steps: list[Lowered] = [Alias(x.name, node.output(0, x.shape, x.dtype))]
    if len(node.outputs) > 1 and node.outputs[1]:
        mask = np.ones(x.shape, bool)
        steps.append(Alias(x.name, Value(node.outputs[1], "bool", x.shape, mask)))
    return steps


def reshape(node: NodeView) -> list[Lowered]:
    """Reshape-21: 0 copies the input's size (unless allowzero), -1 is what is left."""
    x = node.required(0)
    asked = node.known(1)
    wanted = node.node.get_ints("shape") or () if asked is None else tuple(int(v) for v in asked.reshape(-1))
    if not node.node.get_int("allowzero", 0):
        if any(size == 0 and axis >= len(x.shape) for axis, size in enumerate(wanted)):
            raise KernelShapeError(f"{node.node.label}: a 0 must stand for an axis of {x.shape}, got {wanted}")
        wanted = tuple(x.shape[axis] if size == 0 else size for axis, size in enumerate(wanted))
    return [_view(node, _with_rest(node, math.prod(x.shape), wanted))]


def _with_rest(node: NodeView, elements: int, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """`wanted` with its one -1 worked out."""
    known = math.prod(size for size in wanted if size != -1)
    if wanted.count(-1) == 1 and known and elements % known == 0:
        wanted = tuple(elements // known if size == -1 else size for size in wanted)
    if min(wanted, default=0) < 0 or math.prod(wanted) != elements:
        raise KernelShapeError(f"{node.node.label}: shape must hold {elements} elements, got {wanted}")
    return wanted


def flatten(node: NodeView) -> list[Lowered]:
    """Flatten-21: axes before `axis` and from it on become two."""
    shape = node.required(0).shape
    axis = node.node.get_int("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise KernelShapeError(f"{node.node.label}: axis must be within the rank {len(shape)}, got {axis}")
    axis = axis + len(shape) if axis < 0 else axis
    return [_view(node, (math.prod(shape[:axis]), math.prod(shape[axis:])))]


def squeeze(node: NodeView) -> list[Lowered]:
    """Squeeze-21: axes of size 1 go, all of them or those named."""
    shape = node.required(0).shape
    axes = _axes(node, len(shape))
    axes = tuple(axis for axis, size in enumerate(shape) if size == 1) if axes is None else axes
    if any(shape[axis] != 1 for axis in axes):
        raise KernelShapeError(f"{node.node.label}: axes must have size 1, got {axes} of {shape}")
    return [_view(node, tuple(size for axis, size in enumerate(shape) if axis not in axes))]


def unsqueeze(node: NodeView) -> list[Lowered]:
    """Unsqueeze-21: axes of size 1 come in at their positions in the result."""
    shape = list(node.required(0).shape)
    given = node.known(1) if node.input(1) is not None else node.node.get_ints("axes")
    axes = _axes(node, len(shape) + (0 if given is None else np.size(given)))
    for axis in sorted(axes or ()):
        shape.insert(axis, 1)
    return [_view(node, tuple(shape))]


def _axes(node: NodeView, rank: int) -> tuple[int, ...] | None:
    """`axes` as an input or attribute, counted from the front; None where not given."""
    known = node.known(1)
    given = node.node.get_ints("axes") if known is None else tuple(int(v) for v in known.reshape(-1))
    if given is None:
        return None
    axes = tuple(axis + rank if axis < 0 else axis for axis in given)
    if len(set(axes)) != len(axes) or not all(0 <= axis < rank for axis in axes):
        raise KernelShapeError(f"{node.node.label}: axes must be distinct and within the rank {rank}, got {given}")
    return axes


def _view(node: NodeView, shape: tuple[int, ...]) -> Alias:
    x = node.required(0)
    return Alias(x.name, node.output(0, shape, x.dtype))


HANDLERS = {
    "Identity": identity,
    "Dropout": dropout,
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
}
