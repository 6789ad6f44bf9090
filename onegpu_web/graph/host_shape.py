"""Operators that make, move and select elements, in numpy, by ONNX's definitions."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

import numpy as np

from ..errors import ModelError, UnsupportedError
from .host_values import HostOp, Inputs, admit, axes_of, axis_in, distinct_axes, integers, operand, optional
from .model import Array, Node


def _identity(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    return [operand(node, inputs, 0)]


def _constant(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    tensor = node.get_tensor("value")
    if tensor is not None:
        return [tensor]
    if "value_float" in node.attributes:
        return [np.array(node.get_float("value_float", 0.0), np.float32)]
    if "value_int" in node.attributes:
        return [np.array(node.get_int("value_int", 0), np.int64)]
    floats, ints = node.get_floats("value_floats"), node.get_ints("value_ints")
    if floats is not None and "value_floats" in node.attributes:
        return [np.array(floats, np.float32)]
    if ints is not None:
        return [np.array(ints, np.int64)]
    raise UnsupportedError(f"{node.label}: the value must be a tensor or numbers, got {', '.join(node.attributes)}")


def _constant_of_shape(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    value = node.get_tensor("value")
    value = np.zeros(1, np.float32) if value is None else value
    if value.size != 1:
        raise ModelError(f"{node.label}: value must have one element, got {value.size}")
    shape = admit(node, integers(node, operand(node, inputs, 0)), value.dtype)
    return [np.full(shape, value.reshape(())[()], value.dtype)]


def _shape(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    shape = operand(node, inputs, 0).shape
    start, end = node.get_int("start", 0), node.get_int("end", len(shape))
    return [np.array(shape[slice(start, end)], np.int64)]


def _size(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    return [np.array(operand(node, inputs, 0).size, np.int64)]


def _indices(node: Node, value: Array, extent: int) -> Array:
    """Indices counted from the front. Raises: ModelError outside -extent to extent - 1."""
    if value.dtype.kind not in "iu":
        raise ModelError(f"{node.label}: indices must be integers, got {value.dtype}")
    index = value.astype(np.int64)
    if index.size and (index.min() < -extent or index.max() >= extent):
        raise ModelError(f"{node.label}: indices must be {-extent} to {extent - 1}, got {index.min()} to {index.max()}")
    return np.where(index < 0, index + extent, index).astype(np.intp)


def _gather(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x = operand(node, inputs, 0)
    axis = axis_in(node, node.get_int("axis", 0), x.ndim)
    index = _indices(node, operand(node, inputs, 1), x.shape[axis])
    admit(node, x.shape[:axis] + index.shape + x.shape[axis + 1 :], x.dtype)
    return [np.asarray(np.take(x, index, axis=axis))]


def _gather_elements(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x = operand(node, inputs, 0)
    axis = axis_in(node, node.get_int("axis", 0), x.ndim)
    index = _indices(node, operand(node, inputs, 1), x.shape[axis])
    within = index.ndim == x.ndim and all(
        index.shape[other] <= x.shape[other] for other in range(x.ndim) if other != axis
    )
    if not within:
        raise ModelError(f"{node.label}: indices of shape {index.shape} do not fit data of shape {x.shape}")
    places = [np.arange(extent, dtype=np.intp) for extent in index.shape]
    grid = list(np.ix_(*places))
    grid[axis] = index
    return [x[tuple(grid)]]


def _gather_nd(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x, indices = operand(node, inputs, 0), operand(node, inputs, 1)
    batch = node.get_int("batch_dims", 0)
    depth = indices.shape[-1] if indices.ndim else 0
    if not (0 <= batch < indices.ndim and 0 < depth <= x.ndim - batch and x.shape[:batch] == indices.shape[:batch]):
        raise ModelError(f"{node.label}: indices of shape {indices.shape} do not fit data of shape {x.shape}")
    admit(node, indices.shape[:-1] + x.shape[batch + depth :], x.dtype)
    columns = [_indices(node, indices[..., column], x.shape[batch + column]) for column in range(depth)]
    rank = indices.ndim - 1
    places = [
        np.arange(extent, dtype=np.intp).reshape([-1 if index == axis else 1 for index in range(rank)])
        for axis, extent in enumerate(x.shape[:batch])
    ]
    return [np.asarray(x[tuple(places + columns)])]


def _concat(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    arrays = [operand(node, inputs, index) for index in range(len(inputs))]
    if not arrays or len({array.dtype for array in arrays}) != 1:
        raise ModelError(f"{node.label}: inputs must be given and have one dtype")
    axis = axis_in(node, node.get_int("axis", 1), arrays[0].ndim)
    admit(node, [sum(array.size for array in arrays)], arrays[0].dtype)
    return [np.concatenate(arrays, axis=axis)]


def _unsqueeze(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x, axes = operand(node, inputs, 0), axes_of(node, inputs, 1)
    if axes is None:
        raise ModelError(f"{node.label}: axes must be given")
    added = distinct_axes(node, axes, x.ndim + len(axes))
    extents = iter(x.shape)
    return [x.reshape([1 if axis in added else next(extents) for axis in range(x.ndim + len(added))])]


def _squeeze(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x, axes = operand(node, inputs, 0), axes_of(node, inputs, 1)
    ones = [axis for axis, extent in enumerate(x.shape) if extent == 1]
    dropped = ones if axes is None else distinct_axes(node, axes, x.ndim)
    if not set(dropped) <= set(ones):
        raise ModelError(f"{node.label}: axes {dropped} of shape {x.shape} must have extent 1")
    return [x.reshape([extent for axis, extent in enumerate(x.shape) if axis not in dropped])]


def reshaped(node: Node, old: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """The shape that Reshape's `wanted` makes of `old`: 0 copies (unless allowzero), -1 takes the rest."""
    copies = not node.get_int("allowzero", 0)
    if copies and any(extent == 0 and index >= len(old) for index, extent in enumerate(wanted)):
        raise ModelError(f"{node.label}: shape {tuple(wanted)} copies a dimension that {tuple(old)} does not have")
    shape = [old[index] if copies and extent == 0 else extent for index, extent in enumerate(wanted)]
    free = [index for index, extent in enumerate(shape) if extent == -1]
    rest = prod(extent for extent in shape if extent != -1)
    if len(free) == 1 and rest > 0 and prod(old) % rest == 0:
        shape[free[0]] = prod(old) // rest
    if min(shape, default=0) < 0 or prod(shape) != prod(old):
        raise ModelError(f"{node.label}: {tuple(old)} cannot take shape {tuple(wanted)}")
    return tuple(shape)


def _reshape(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x = operand(node, inputs, 0)
    return [x.reshape(reshaped(node, x.shape, integers(node, operand(node, inputs, 1))))]


def _flatten(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x = operand(node, inputs, 0)
    axis = node.get_int("axis", 1)
    axis = x.ndim if axis == x.ndim else axis_in(node, axis, x.ndim)
    return [x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))]


def _transpose(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x = operand(node, inputs, 0)
    perm = node.get_ints("perm")
    order = tuple(reversed(range(x.ndim))) if perm is None else perm
    if sorted(order) != list(range(x.ndim)):
        raise ModelError(f"{node.label}: perm must order {x.ndim} axes, got {order}")
    return [np.ascontiguousarray(x.transpose(order)).reshape([x.shape[axis] for axis in order])]


def slice_range(start: int, end: int, step: int, extent: int) -> slice:
    """Slice's elements along one axis, bounds clamped as ONNX does (numpy differs for negative steps)."""
    start, end = (bound + extent if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return slice(min(max(start, 0), extent), min(max(end, 0), extent), step)
    end = min(max(end, -1), extent - 1)
    return slice(min(max(start, 0), extent - 1), end if end >= 0 else None, step) if extent else slice(0)


def _slice(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    """starts, ends and axes are attributes before opset 10."""
    x = operand(node, inputs, 0)
    if opset < 10:
        starts, ends, axes, steps = node.get_ints("starts"), node.get_ints("ends"), node.get_ints("axes"), None
    else:
        starts, ends, axes, steps = (
            None if (value := optional(inputs, index)) is None else integers(node, value) for index in range(1, 5)
        )
    if starts is None or ends is None:
        raise ModelError(f"{node.label}: starts and ends must be given")
    axes = distinct_axes(node, axes if axes is not None else range(len(starts)), x.ndim)
    steps = steps if steps is not None else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise ModelError(f"{node.label}: starts, ends, axes and steps must match and steps not be 0")
    cut = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        cut[axis] = slice_range(start, end, step, x.shape[axis])
    return [x[tuple(cut)].copy()]


def _expand(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x = operand(node, inputs, 0)
    wanted = admit(node, integers(node, operand(node, inputs, 1)), x.dtype)
    shape = admit(node, np.broadcast_shapes(x.shape, wanted), x.dtype)
    return [np.broadcast_to(x, shape).copy()]


def _tile(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x, repeats = operand(node, inputs, 0), integers(node, operand(node, inputs, 1))
    if len(repeats) != x.ndim or min(repeats, default=0) < 0:
        raise ModelError(f"{node.label}: repeats must be {x.ndim} counts, got {repeats}")
    admit(node, [extent * count for extent, count in zip(x.shape, repeats, strict=True)], x.dtype)
    return [np.tile(x, repeats)]


def _range(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    start, limit, delta = (operand(node, inputs, index).reshape(()) for index in range(3))
    first, last, step = start.item(), limit.item(), delta.item()
    if not step or not np.isfinite([first, last, step]).all():
        raise ModelError(f"{node.label}: start, limit and delta must be finite and delta not 0")
    exact = -((first - last) // step) if start.dtype.kind in "iu" else ceil((last - first) / step)
    (count,) = admit(node, [max(exact, 0)], np.dtype(np.float64))
    steps = np.arange(count, dtype=np.int64 if start.dtype.kind in "iu" else np.float64)
    return [(first + steps * step).astype(start.dtype)]


def _split(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    """Sizes are an attribute before opset 13; equal parts, the last one smaller, where there are none."""
    x = operand(node, inputs, 0)
    axis = axis_in(node, node.get_int("axis", 0), x.ndim)
    sizes = node.get_ints("split")
    given = optional(inputs, 1)
    if given is not None:
        sizes = integers(node, given)
    extent, count = x.shape[axis], len(node.outputs)
    if sizes is None:
        part = -(-extent // max(count, 1))
        sizes = tuple(max(min(part, extent - part * index), 0) for index in range(count))
    if len(sizes) != count or sum(sizes) != extent or min(sizes, default=0) < 0:
        raise ModelError(f"{node.label}: split must be {count} sizes that sum to {extent}, got {sizes}")
    cuts = [sum(sizes[:index]) for index in range(1, count)]
    return [part.copy() for part in np.split(x, cuts, axis=axis)]


def _pad(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    """pads and value are attributes before opset 11; axes came with 18; negative pads crop."""
    x = operand(node, inputs, 0)
    pads = node.get_ints("pads") if opset < 11 else integers(node, operand(node, inputs, 1))
    given = optional(inputs, 3)
    axes = range(x.ndim) if given is None else distinct_axes(node, integers(node, given), x.ndim)
    if pads is None or len(pads) != 2 * len(axes):
        raise ModelError(f"{node.label}: pads must be begins, then ends of {len(axes)} axes, got {pads}")
    widths = [(0, 0)] * x.ndim
    for index, axis in enumerate(axes):
        widths[axis] = (pads[index], pads[index + len(axes)])
    admit(node, [extent + begin + end for extent, (begin, end) in zip(x.shape, widths, strict=True)], x.dtype)
    cut = x[
        tuple(slice(max(-begin, 0), extent + min(end, 0)) for extent, (begin, end) in zip(x.shape, widths, strict=True))
    ]
    grown = [(max(begin, 0), max(end, 0)) for begin, end in widths]
    mode = node.get_str("mode", "constant")
    if mode == "constant":
        value = np.array(node.get_float("value", 0.0), x.dtype) if opset < 11 else optional(inputs, 2)
        fill = np.zeros((), x.dtype) if value is None else value.reshape(())
        return [np.pad(cut, grown, constant_values=fill)]
    if mode == "edge":
        return [np.pad(cut, grown, mode="edge")]
    if mode == "reflect":
        return [np.pad(cut, grown, mode="reflect")]
    if mode == "wrap":
        return [np.pad(cut, grown, mode="wrap")]
    raise ModelError(f"{node.label}: mode must be constant, edge, reflect or wrap, got {mode}")


def _non_zero(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    x = operand(node, inputs, 0)
    admit(node, [max(x.ndim, 1), x.size], np.dtype(np.int64))
    return [np.array(np.nonzero(np.atleast_1d(x)), np.int64)]


def _one_hot(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    indices, depth, values = (operand(node, inputs, index) for index in range(3))
    count = int(depth.reshape(()).item())
    axis = axis_in(node, node.get_int("axis", -1), indices.ndim + 1)
    if values.shape != (2,):
        raise ModelError(f"{node.label}: values must be off and on, got shape {values.shape}")
    admit(node, [*indices.shape, count], values.dtype)
    whole = indices.astype(np.int64)
    index = np.expand_dims(np.where(whole < 0, whole + count, whole), axis)
    places = np.arange(count, dtype=np.int64).reshape([-1 if at == axis else 1 for at in range(indices.ndim + 1)])
    return [np.where(index == places, values[1], values[0]).astype(values.dtype)]


SHAPE_OPS: dict[str, HostOp] = {
    "Identity": _identity,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Shape": _shape,
    "Size": _size,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Slice": _slice,
    "Expand": _expand,
    "Tile": _tile,
    "Range": _range,
    "Split": _split,
    "Pad": _pad,
    "NonZero": _non_zero,
    "OneHot": _one_hot,
}
