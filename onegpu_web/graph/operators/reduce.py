"""ONNX operators that reduce axes: sums and their like, Softmax, ArgMax."""

from __future__ import annotations

import math

from ...dtypes import INT32
from ...kernels.arg_extreme import FAMILY as ARG
from ...kernels.reduce import FAMILY as REDUCE
from ...kernels.softmax import FAMILY as SOFTMAX
from ...problems.reduce import ArgProblem, ReduceProblem, SoftmaxProblem
from ...problems.strides import check_axis
from ..lowering import Alias, Handler, Lowered, NodeView, Step, Value
from .elementwise import binary_step, unary_step, words

_REDUCTIONS = {
    "ReduceSum": "sum",
    "ReduceMean": "mean",
    "ReduceMax": "max",
    "ReduceMin": "min",
    "ReduceProd": "prod",
    "ReduceL1": "l1",
    "ReduceL2": "l2",
    "ReduceSumSquare": "sum_square",
    "ReduceLogSum": "log_sum",
}


def reduction(node: NodeView) -> list[Lowered]:
    """ReduceSum-13, ReduceMean-18 and their like: axes as an attribute or an input; none means all."""
    x, axes = node.required(0), reduced_axes(node)
    if axes is None:
        return [Alias(x.name, node.output(0, x.shape, x.dtype))]
    keepdims, kind = node.node.get_int("keepdims", 1) != 0, _REDUCTIONS[node.op_type]
    if x.dtype == "bool" and 0 in x.shape:
        kind = {"max": "sum", "min": "prod"}.get(kind, kind)  # of nothing: False, True
    step = reduce_step(kind, x, axes, keepdims)
    return [Step(step.family, step.problem, step.reads, {"y": node.output(0, step.problem.output_shape, x.dtype)})]


def reduce_step(kind: str, x: Value, axes: tuple[int, ...], keepdims: bool, y: Value | None = None) -> Step:
    """The step y = kind over x's axes. Booleans reduce as the integers 0 and 1."""
    problem = ReduceProblem(kind, x.shape, axes, keepdims, INT32 if x.dtype == "bool" else words(x))
    made = Value("", x.dtype, problem.output_shape) if y is None else y
    return Step(REDUCE, problem, {"x": x.name}, {"y": made})


def log_sum_exp(node: NodeView) -> list[Lowered]:
    """ReduceLogSumExp-18: from the largest element, so that nothing overflows."""
    x, axes = node.required(0), reduced_axes(node)
    if axes is None:
        return [Alias(x.name, node.output(0, x.shape, x.dtype))]
    most = reduce_step("max", x, axes, True).problem.output_shape
    shape = most if node.node.get_int("keepdims", 1) else _without(x.shape, axes)
    largest, total, logarithm = (node.temporary(label, most, x.dtype) for label in ("max", "sum", "log"))
    away, powers = (node.temporary(label, x.shape, x.dtype) for label in ("away", "powers"))
    result = node.temporary("result", most, x.dtype)
    return [
        reduce_step("max", x, axes, True, largest),
        binary_step("sub", x, largest, away),
        unary_step("exp", away, powers),
        reduce_step("sum", powers, axes, True, total),
        unary_step("log", total, logarithm),
        binary_step("add", logarithm, largest, result),
        Alias(result.name, node.output(0, shape, x.dtype)),
    ]


def _without(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    gone = {axis % len(shape) for axis in axes}
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def reduced_axes(node: NodeView) -> tuple[int, ...] | None:
    """The axes to reduce; None where noop_with_empty_axes leaves x as it is."""
    known = node.known(1)
    given = node.node.get_ints("axes") if known is None else tuple(int(v) for v in known.reshape(-1))
    if given:
        return given
    if node.node.get_int("noop_with_empty_axes", 0):
        return None
    return tuple(range(len(node.required(0).shape)))


def softmax(node: NodeView) -> list[Lowered]:
    """Softmax-13, LogSoftmax-13 along one axis; before opset 13 over all axes from `axis` on."""
    x = node.required(0)
    log, shape = node.op_type == "LogSoftmax", x.shape
    axis = node.node.get_int("axis", -1 if node.opset >= 13 else 1)
    if node.opset < 13:
        axis = axis if axis == len(shape) else check_axis(node.node.label, "axis", axis, len(shape))
        shape, axis = (math.prod(shape[:axis]), math.prod(shape[axis:])), 1
    problem = SoftmaxProblem(shape, axis, log, words(x))
    return [Step(SOFTMAX, problem, {"x": x.name}, {"y": node.output(0, x.shape, x.dtype)})]


def arg_extreme(node: NodeView) -> list[Lowered]:
    """ArgMax-13, ArgMin-13."""
    x, attributes = node.required(0), node.node
    problem = ArgProblem(
        x.shape,
        attributes.get_int("axis", 0),
        smallest=node.op_type == "ArgMin",
        keepdims=attributes.get_int("keepdims", 1) != 0,
        select_last_index=attributes.get_int("select_last_index", 0) != 0,
        dtype=words(x),
    )
    return [Step(ARG, problem, {"x": x.name}, {"y": node.output(0, problem.output_shape, "int64")})]


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_REDUCTIONS, reduction),
    "ReduceLogSumExp": log_sum_exp,
    "Softmax": softmax,
    "LogSoftmax": softmax,
    "ArgMax": arg_extreme,
    "ArgMin": arg_extreme,
}
