"""Shapes and strides of dense tensors, in elements: broadcasting, and merging axes that one stride serves.

Standard library only. Kernels loop over at most RANK axes; collapsing brings what models use below that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import KernelShapeError

RANK = 8
_MOST_ELEMENTS = 2**31 - 1

Shape = tuple[int, ...]


def row_major(shape: Sequence[int]) -> Shape:
    """The strides of a dense tensor whose last axis is contiguous."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def broadcast_shape(op: str, *shapes: Sequence[int]) -> Shape:
    """The shape that `shapes` broadcast to. Raises: KernelShapeError. Source: ONNX Broadcasting.md."""
    rank = max(map(len, shapes))
    out = []
    for sizes in zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes), strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise KernelShapeError(f"{op}: shapes must broadcast together, got {' and '.join(map(str, shapes))}")
        out.append(wide.pop() if wide else 1)
    return tuple(out)


def broadcast_strides(shape: Sequence[int], out: Sequence[int]) -> Shape:
    """The strides that walk a dense tensor of `shape` over `out`: 0 along axes it is repeated on."""
    lead = len(out) - len(shape)
    strides = row_major(shape)
    return (0,) * lead + tuple(0 if size == 1 else stride for size, stride in zip(shape, strides, strict=True))


def collapse(shape: Sequence[int], *strides: Sequence[int]) -> tuple[Shape, tuple[Shape, ...]]:
    """The same walk over fewer axes: axes of size 1 go, neighbours that one stride serves merge.

    Returns: the shape, of one axis at least, and each operand's strides over it.
    """
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if sizes and all(kept[-1] == of[axis] * size for kept, of in zip(steps, strides, strict=True)):
            sizes[-1] *= size
            for kept, of in zip(steps, strides, strict=True):
                kept[-1] = of[axis]
            continue
        sizes.append(size)
        for kept, of in zip(steps, strides, strict=True):
            kept.append(of[axis])
    if not sizes:
        return (1,), tuple((0,) for _ in strides)
    return tuple(sizes), tuple(map(tuple, steps))


def padded(values: Sequence[int], fill: int = 0) -> Shape:
    """`values` filled up to RANK entries, as a uniform's two vec4 hold them."""
    return tuple(values) + (fill,) * (RANK - len(values))


def check_shape(op: str, field: str, shape: Sequence[int]) -> int:
    """The number of elements. Raises: KernelShapeError for negative sizes or more than 32-bit indices reach."""
    if any(isinstance(size, bool) or not isinstance(size, int) or size < 0 for size in shape):
        raise KernelShapeError(f"{op}: {field} must be non-negative integers, got {tuple(shape)}")
    elements = math.prod(shape)
    if elements > _MOST_ELEMENTS:
        raise KernelShapeError(f"{op}: {field} must hold fewer than 2**31 elements, got {tuple(shape)}")
    return elements


def check_offsets(op: str, **reach: tuple[int, int]) -> None:
    """Raise KernelShapeError unless every operand's (offset, elements) lies within 32-bit indices."""
    for field, (offset, elements) in reach.items():
        if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
            raise KernelShapeError(f"{op}: {field} must be a non-negative integer, got {offset!r}")
        if offset + elements > _MOST_ELEMENTS:
            raise KernelShapeError(f"{op}: {field} + elements must be below 2**31, got {offset} + {elements}")


def check_axis(op: str, field: str, axis: int, rank: int) -> int:
    """`axis` counted from the front. Raises: KernelShapeError."""
    if not -rank <= axis < rank:
        raise KernelShapeError(f"{op}: {field} must be within the rank {rank}, got {axis}")
    return axis % rank
