"""ONNX normalizations."""

from __future__ import annotations

import math

from ...errors import KernelShapeError, UnsupportedError
from ...kernels.batch_normalization import FAMILY as BATCH
from ...kernels.cast import FAMILY as CAST
from ...kernels.normalization import FAMILY as NORMALIZATION
from ...problems.movement import CastProblem
from ...problems.normalization import BatchNormalizationProblem, NormalizationProblem
from ...problems.strides import check_axis
from ..lowering import Handler, Lowered, NodeView, Step, Value
from .elementwise import binary_step, unary_step, words
from .reduce import reduce_step


def batch_normalization(node: NodeView) -> list[Lowered]:
    """BatchNormalization-15 in inference."""
    if node.node.get_int("training_mode", 0) or any(node.outputs[1:]) or not node.node.get_int("spatial", 1):
        raise UnsupportedError(f"{node.node.label}: only inference over channels is there")
    x = node.required(0)
    parameters = {role: node.required(index) for index, role in enumerate(("scale", "bias", "mean", "variance"), 1)}
    y, steps = node.output(0, x.shape, x.dtype), list[Lowered]()
    if any(value.dtype != x.dtype for value in parameters.values()):
        # From opset 14 on parameters may be wider than x: all in float32, then rounded once.
        x, parameters = _widened(node, steps, "x", x), {r: _widened(node, steps, r, v) for r, v in parameters.items()}
    problem = BatchNormalizationProblem(x.shape, node.node.get_float("epsilon", 1e-5), words(x))
    for role, value in parameters.items():
        if math.prod(value.shape) != problem.channels:
            raise KernelShapeError(f"{node.node.label}: {role} must be {problem.channels} elements, got {value.shape}")
    reads = {"x": x.name} | {role: value.name for role, value in parameters.items()}
    made = y if x.dtype == y.dtype else node.temporary("wide", x.shape, x.dtype)
    steps.append(Step(BATCH, problem, reads, {"y": made}))
    if made is not y:
        steps.append(_cast(made, y))
    return steps


def _widened(node: NodeView, steps: list[Lowered], label: str, value: Value) -> Value:
    """`value` in float32, by a step more where it is of another type."""
    if value.dtype == "float32":
        return value
    wide = node.temporary(label, value.shape, "float32")
    steps.append(_cast(value, wide))
    return wide


def _cast(x: Value, y: Value) -> Step:
    return Step(CAST, CastProblem(math.prod(x.shape), words(x), words(y)), {"x": x.name}, {"y": y})


def instance_normalization(node: NodeView) -> list[Lowered]:
    """InstanceNormalization-22."""
    x = node.required(0)
    problem = NormalizationProblem("instance", x.shape, node.node.get_float("epsilon", 1e-5), dtype=words(x))
    return [_step(node, problem)]


def group_normalization(node: NodeView) -> list[Lowered]:
    """GroupNormalization-21; opset 18 had a scale and bias for each group."""
    x = node.required(0)
    groups = node.node.get_int("num_groups", 0)
    problem = NormalizationProblem(
        "group",
        x.shape,
        node.node.get_float("epsilon", 1e-5),
        num_groups=groups,
        scale_per_group=node.opset < 21,
        dtype=words(x),
    )
    return [_step(node, problem)]


def layer_normalization(node: NodeView) -> list[Lowered]:
    """LayerNormalization-17; its mean and inverse deviation take steps of their own, where asked for."""
    x = node.required(0)
    axis = check_axis(node.node.label, "axis", node.node.get_int("axis", -1), len(x.shape))
    epsilon = node.node.get_float("epsilon", 1e-5)
    bias = node.input(2) is not None
    problem = NormalizationProblem("layer", x.shape, epsilon, axis, has_bias=bias, dtype=words(x))
    steps: list[Lowered] = [_step(node, problem)]
    if any(node.outputs[1:]):
        steps += _statistics(node, tuple(range(axis, len(x.shape))), epsilon)
    return steps


def _statistics(node: NodeView, axes: tuple[int, ...], epsilon: float) -> list[Lowered]:
    """The mean over axes and 1 / sqrt(variance + epsilon), as outputs 1 and 2: of float32, as ONNX has them."""
    steps: list[Lowered] = []
    x = _widened(node, steps, "wide", node.required(0))
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    outputs = (*node.outputs, "", "")
    mean = node.output(1, shape, x.dtype) if outputs[1] else node.temporary("mean", shape, x.dtype)
    away = node.temporary("away", x.shape, x.dtype)
    squares, variance, deviation = (node.temporary(n, shape, x.dtype) for n in ("squares", "variance", "deviation"))
    steps.append(reduce_step("mean", x, axes, True, mean))
    if outputs[2]:
        steps += [
            binary_step("sub", x, mean, away),
            reduce_step("sum_square", away, axes, True, squares),
            unary_step("affine", squares, variance, 1 / math.prod(x.shape[axis] for axis in axes), epsilon),
            unary_step("sqrt", variance, deviation),
            unary_step("reciprocal", deviation, node.output(2, shape, x.dtype)),
        ]
    return steps


def _step(node: NodeView, problem: NormalizationProblem) -> Step:
    x = node.required(0)
    reads = {"x": x.name, "scale": node.required(1).name}
    _check_count(node, 1, "scale", problem.channels[1])
    if problem.has_bias:
        _check_count(node, 2, "bias", problem.channels[1])
        reads["bias"] = node.required(2).name
    return Step(NORMALIZATION, problem, reads, {"y": node.output(0, x.shape, x.dtype)})


def _check_count(node: NodeView, index: int, role: str, count: int) -> None:
    """Raise KernelShapeError unless input `index` has `count` elements of x's type."""
    value = node.required(index)
    if math.prod(value.shape) != count or value.stored != node.required(0).stored:
        raise KernelShapeError(
            f"{node.node.label}: {role} must be {count} elements of x's type, got {value.dtype} {value.shape}"
        )


HANDLERS: dict[str, Handler] = {
    "BatchNormalization": batch_normalization,
    "InstanceNormalization": instance_normalization,
    "GroupNormalization": group_normalization,
    "LayerNormalization": layer_normalization,
}
