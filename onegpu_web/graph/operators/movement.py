"""ONNX operators that move elements or change their type alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...errors import KernelShapeError
from ...kernels.cast import FAMILY as CAST
from ...kernels.copy import CONCAT
from ...kernels.copy import FAMILY as COPY
from ...kernels.gather import FAMILY as GATHER
from ...kernels.pad import FAMILY as PAD
from ...problems.movement import (
    CastProblem,
    ConcatProblem,
    CopyProblem,
    GatherProblem,
    PadProblem,
    depth_to_space,
    expand,
    slice_axes,
    space_to_depth,
    tile,
    transpose,
)
from ...problems.strides import check_axis, collapse
from ..host_shape import slice_range
from ..lowering import Alias, Handler, Lowered, NodeView, Step, Value, storage
from ..model import element_name
from .elementwise import words


def transpose_axes(node: NodeView) -> list[Lowered]:
    """Transpose-25; an Alias where only axes of size 1 change places."""
    x = node.required(0)
    perm = node.node.get_ints("perm") or tuple(reversed(range(len(x.shape))))
    problem = transpose(x.shape, perm, x.stored)
    return [_copy(x, node.output(0, problem.shape, x.dtype), problem)]


def slices(node: NodeView) -> list[Lowered]:
    """Slice-13: starts, ends, axes, steps as inputs; as attributes without steps before opset 10."""
    x = node.required(0)
    if node.opset < 10:
        starts, ends = node.node.get_ints("starts") or (), node.node.get_ints("ends") or ()
        axes, steps = node.node.get_ints("axes"), None
    else:
        starts, ends = _ints(node, 1) or (), _ints(node, 2) or ()
        axes, steps = _ints(node, 3), _ints(node, 4)
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise KernelShapeError(f"{node.node.label}: starts, ends, axes and steps must agree, got {starts} {ends}")
    wanted = [(0, size, 1) for size in x.shape]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis = check_axis(node.node.label, "axes", axis, len(x.shape))
        found = range(*slice_range(start, end, step, x.shape[axis]).indices(x.shape[axis]))
        wanted[axis] = (found.start, len(found), step)
    problem = slice_axes(x.shape, wanted, x.stored)
    return [_copy(x, node.output(0, problem.shape, x.dtype), problem)]


def concat(node: NodeView) -> list[Lowered]:
    """Concat-13."""
    values = [node.required(index) for index in range(len(node.inputs))]
    first = values[0]
    problem = ConcatProblem(tuple(v.shape for v in values), node.node.get_int("axis", 0), first.stored)
    y = node.output(0, problem.output_shape, first.dtype)
    if len(values) == 1:
        return [Alias(first.name, y)]
    return [Step(CONCAT, problem, {f"x{i}": value.name for i, value in enumerate(values)}, {"y": y})]


def split(node: NodeView) -> list[Lowered]:
    """Split-18: sizes as an input (an attribute before opset 13), or equal parts with a smaller last one."""
    x = node.required(0)
    axis = check_axis(node.node.label, "axis", node.node.get_int("axis", 0), len(x.shape))
    size, count = x.shape[axis], node.node.get_int("num_outputs", len(node.outputs))
    sizes = _ints(node, 1) if node.opset >= 13 else node.node.get_ints("split")
    if sizes is None:
        part = -(-size // count)
        sizes = tuple(max(0, min(part, size - index * part)) for index in range(count))
    if len(sizes) != len(node.outputs) or sum(sizes) != size or min(sizes, default=0) < 0:
        raise KernelShapeError(f"{node.node.label}: split must be {len(node.outputs)} parts of {size}, got {sizes}")
    steps: list[Lowered] = []
    start = 0
    for index, part in enumerate(sizes):
        wanted = [(0, other, 1) for other in x.shape]
        wanted[axis] = (start if part else 0, part, 1)
        problem = slice_axes(x.shape, wanted, x.stored)
        if node.outputs[index]:
            steps.append(_copy(x, node.output(index, problem.shape, x.dtype), problem))
        start += part
    return steps


def pad(node: NodeView) -> list[Lowered]:
    """Pad-24: pads, value and axes as inputs; as attributes before opset 11."""
    x, attributes = node.required(0), node.node
    value = 0.0
    if node.opset < 11:
        pads = attributes.get_ints("pads") or attributes.get_ints("paddings") or ()
        value = attributes.get_float("value", 0.0)
    else:
        given, constant = _ints(node, 1) or (), node.known(2)
        value = 0.0 if constant is None or constant.size == 0 else float(constant.reshape(-1)[0])
        pads = _on_axes(node, given, _ints(node, 3), len(x.shape))
    problem = PadProblem(x.shape, pads, attributes.get_str("mode", "constant"), value, x.stored)
    y = node.output(0, problem.output_shape, x.dtype)
    if not any(pads):
        return [Alias(x.name, y)]
    return [Step(PAD, problem, {"x": x.name}, {"y": y})]


def _on_axes(node: NodeView, pads: Sequence[int], axes: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """pads over all axes: those not among `axes` get none."""
    if axes is None:
        return tuple(pads)
    if len(pads) != 2 * len(axes):
        raise KernelShapeError(f"{node.node.label}: pads must be {2 * len(axes)} integers, got {tuple(pads)}")
    full = [0] * (2 * rank)
    for index, axis in enumerate(axes):
        at = check_axis(node.node.label, "axes", axis, rank)
        full[at], full[rank + at] = pads[index], pads[len(axes) + index]
    return tuple(full)


def expand_shape(node: NodeView) -> list[Lowered]:
    """Expand-13."""
    x = node.required(0)
    problem = expand(x.shape, _ints(node, 1) or (), x.stored)
    return [_copy(x, node.output(0, problem.shape, x.dtype), problem)]


def tile_axes(node: NodeView) -> list[Lowered]:
    """Tile-13."""
    x = node.required(0)
    repeats = _ints(node, 1) or ()
    problem = tile(x.shape, repeats, x.stored)
    shape = tuple(size * count for size, count in zip(x.shape, repeats, strict=True))
    return [_copy(x, node.output(0, shape, x.dtype), problem)]


def depth_space(node: NodeView) -> list[Lowered]:
    """DepthToSpace-13, SpaceToDepth-13."""
    x, b = node.required(0), node.node.get_int("blocksize", 0)
    mode = node.node.get_str("mode", "DCR")
    if node.op_type == "DepthToSpace":
        problem = depth_to_space(x.shape, b, mode, x.stored)
        shape = (x.shape[0], x.shape[1] // (b * b), x.shape[2] * b, x.shape[3] * b)
    else:
        problem = space_to_depth(x.shape, b, mode, x.stored)
        shape = (x.shape[0], x.shape[1] * b * b, x.shape[2] // b, x.shape[3] // b)
    return [_copy(x, node.output(0, shape, x.dtype), problem)]


def gather(node: NodeView) -> list[Lowered]:
    """Gather-13; one index that the host knows is a slice."""
    x, indices = node.required(0), node.required(1)
    problem = GatherProblem(x.shape, indices.shape, node.node.get_int("axis", 0), words(x))
    axis, y = problem.axis % len(x.shape), node.output(0, problem.output_shape, x.dtype)
    if indices.array is not None and indices.array.size == 1:
        at = check_axis(node.node.label, "indices", int(indices.array.reshape(())), x.shape[axis])
        wanted = [(at, 1, 1) if i == axis else (0, size, 1) for i, size in enumerate(x.shape)]
        return [_copy(x, y, slice_axes(x.shape, wanted, words(x)))]
    return [Step(GATHER, problem, {"x": x.name, "indices": indices.name}, {"y": y})]


def cast(node: NodeView) -> list[Lowered]:
    """Cast-25 between the types that the GPU holds; an Alias where they are held alike."""
    return _cast(node, element_name(node.node.get_int("to", 0)))


def cast_like(node: NodeView) -> list[Lowered]:
    """CastLike-25."""
    return _cast(node, node.required(1).dtype)


def _cast(node: NodeView, dtype: str) -> list[Lowered]:
    x = node.required(0)
    y, boolean = node.output(0, x.shape, dtype), dtype == "bool" and x.dtype != "bool"
    if x.stored == storage(dtype) and not boolean:
        return [Alias(x.name, y)]
    problem = CastProblem(math.prod(x.shape), x.stored, words(y), boolean)
    return [Step(CAST, problem, {"x": x.name}, {"y": y})]


def _copy(x: Value, y: Value, problem: CopyProblem) -> Lowered:
    """The copy, or an Alias where it would move nothing."""
    shape, (x_strides, y_strides) = collapse(problem.shape, problem.x_strides, problem.y_strides)
    dense = x_strides == y_strides and len(shape) == 1 and x_strides[0] in (0, 1)
    if dense and problem.x_offset == 0 and math.prod(shape) == math.prod(x.shape):
        return Alias(x.name, y)
    return Step(COPY, problem, {"x": x.name}, {"y": y})


def _ints(node: NodeView, index: int) -> tuple[int, ...] | None:
    """Input `index`, integers that the host knows; None where left out."""
    known = node.known(index)
    return None if known is None else tuple(int(v) for v in known.reshape(-1))


HANDLERS: dict[str, Handler] = {
    "Transpose": transpose_axes,
    "Slice": slices,
    "Concat": concat,
    "Split": split,
    "Pad": pad,
    "Expand": expand_shape,
    "Tile": tile_axes,
    "DepthToSpace": depth_space,
    "SpaceToDepth": depth_space,
    "Gather": gather,
    "Cast": cast,
    "CastLike": cast_like,
}
