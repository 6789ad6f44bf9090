"""ONNX operators that compute each element from the elements at its place."""

from __future__ import annotations

import math

from ...dtypes import DType
from ...errors import KernelShapeError, UnsupportedError
from ...kernels.binary import FAMILY as BINARY
from ...kernels.cast import FAMILY as CAST
from ...kernels.unary import FAMILY as UNARY
from ...kernels.where import FAMILY as WHERE
from ...problems.elementwise import COMPARISONS, BinaryProblem, UnaryProblem, WhereProblem
from ...problems.movement import CastProblem
from ..lowering import Alias, Handler, Lowered, NodeView, Step, Value

# Operator -> kind, and the attributes that are alpha and beta with ONNX's defaults.
_UNARIES: dict[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "Relu": ("relu", ()),
    "Sigmoid": ("sigmoid", ()),
    "Tanh": ("tanh", ()),
    "HardSigmoid": ("hard_sigmoid", (("alpha", 0.2), ("beta", 0.5))),
    "HardSwish": ("hard_swish", ()),
    "onegpu.Silu": ("silu", ()),
    "LeakyRelu": ("leaky_relu", (("alpha", 0.01),)),
    "Elu": ("elu", (("alpha", 1.0),)),
    "Selu": ("selu", (("alpha", 1.67326319217681884765625), ("gamma", 1.05070102214813232421875))),
    "Celu": ("celu", (("alpha", 1.0),)),
    "Erf": ("erf", ()),
    "Mish": ("mish", ()),
    "Softplus": ("softplus", ()),
    "Softsign": ("softsign", ()),
    "ThresholdedRelu": ("thresholded_relu", (("alpha", 1.0),)),
    "Abs": ("abs", ()),
    "Neg": ("neg", ()),
    "Exp": ("exp", ()),
    "Log": ("log", ()),
    "Sqrt": ("sqrt", ()),
    "Reciprocal": ("reciprocal", ()),
    "Floor": ("floor", ()),
    "Ceil": ("ceil", ()),
    "Round": ("round", ()),
    "Sin": ("sin", ()),
    "Cos": ("cos", ()),
    "Sign": ("sign", ()),
    "Not": ("not", ()),
}
_BINARIES = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "And": "and",
    "Or": "or",
    "Xor": "xor",
    "Equal": "equal",
    "Less": "less",
    "Greater": "greater",
    "LessOrEqual": "less_or_equal",
    "GreaterOrEqual": "greater_or_equal",
}
_VARIADICS = {"Max": "max", "Min": "min", "Sum": "add", "Mean": "add"}


def words(x: Value) -> DType:
    """The element type that holds x on the GPU, of 16 or 32 bits.

    Raises: UnsupportedError for bytes, which lie four to a word.
    """
    if x.stored.size_bytes < 2:
        raise UnsupportedError(f"'{x.name}': elements must have 16 or 32 bits for this operator, got {x.dtype}")
    return x.stored


def unary(node: NodeView) -> list[Lowered]:
    """The operators of one input."""
    kind, attributes = _UNARIES[node.node.operator]
    factors = [node.node.get_float(name, default) for name, default in attributes]
    x = node.required(0)
    return [unary_step(kind, x, node.output(0, x.shape, x.dtype), *factors)]


def unary_step(kind: str, x: Value, y: Value, alpha: float | None = None, beta: float | None = None) -> Step:
    """The step y = kind(x)."""
    problem = UnaryProblem(kind, math.prod(x.shape), alpha, beta, words(x))
    return Step(UNARY, problem, {"x": x.name}, {"y": y})


def gelu(node: NodeView) -> list[Lowered]:
    """Gelu-20: exact, or by tanh."""
    approximate = node.node.get_str("approximate", "none")
    if approximate not in ("none", "tanh"):
        raise UnsupportedError(f"{node.node.label}: approximate must be none or tanh, got {approximate!r}")
    x = node.required(0)
    return [unary_step("gelu" if approximate == "none" else "gelu_tanh", x, node.output(0, x.shape, x.dtype))]


def swish(node: NodeView) -> list[Lowered]:
    """Swish-24: x * sigmoid(alpha * x)."""
    alpha, x = node.node.get_float("alpha", 1.0), node.required(0)
    y = node.output(0, x.shape, x.dtype)
    if alpha == 1.0:
        return [unary_step("silu", x, y)]
    scaled, gate = (node.temporary(label, x.shape, x.dtype) for label in ("scaled", "gate"))
    return [
        unary_step("affine", x, scaled, alpha, 0.0),
        unary_step("sigmoid", scaled, gate),
        binary_step("mul", x, gate, y),
    ]


def clip(node: NodeView) -> list[Lowered]:
    """Clip-13: bounds as scalars that the host knows, or as tensors; as attributes before opset 11."""
    x = node.required(0)
    y = node.output(0, x.shape, x.dtype)
    if node.opset < 11:
        lo, hi = (node.node.get_float(n, d) for n, d in (("min", float("-inf")), ("max", float("inf"))))
        return [unary_step("clip", x, y, lo, hi)]
    bounds = [node.input(1), node.input(2)]
    if all(bound is None or bound.array is not None for bound in bounds):
        known = [None if b is None or b.array is None else float(b.array.reshape(())) for b in bounds]
        return [unary_step("clip", x, y, known[0], known[1])]
    steps: list[Lowered] = []
    for kind, bound in (("max", bounds[0]), ("min", bounds[1])):
        if bound is not None:
            made = node.temporary(kind, x.shape, x.dtype) if kind == "max" and bounds[1] else y
            steps.append(binary_step(kind, x, bound, made))
            x = made
    return steps


def binary(node: NodeView) -> list[Lowered]:
    """The operators of two inputs of one type, broadcast together."""
    a, b = node.required(0), node.required(1)
    return [_binary(node, _BINARIES[node.op_type], a, b)]


def binary_step(kind: str, a: Value, b: Value, y: Value) -> Step:
    """The step y = kind(a, b); y's shape must be what a and b broadcast to."""
    problem = BinaryProblem(kind, a.shape, b.shape, dtype=words(a))
    if a.stored != b.stored or problem.output_shape != y.shape:
        raise KernelShapeError(
            f"{kind}: operands must be of one type and give {y.shape}, got {a.dtype} {a.shape} and {b.dtype} {b.shape}"
        )
    return Step(BINARY, problem, {"a": a.name, "b": b.name}, {"y": y})


def _binary(node: NodeView, kind: str, a: Value, b: Value) -> Step:
    """The step that makes the node's first output from a and b."""
    problem = BinaryProblem(kind, a.shape, b.shape, dtype=words(a))
    dtype = "bool" if kind in COMPARISONS else a.dtype
    return binary_step(kind, a, b, node.output(0, problem.output_shape, dtype))


def power(node: NodeView) -> list[Lowered]:
    """Pow-15: the exponent may be of another type."""
    a, b = node.required(0), node.required(1)
    if a.stored == b.stored:
        return [_binary(node, "pow", a, b)]
    exponent = node.temporary("exponent", b.shape, a.dtype)
    cast = CastProblem(math.prod(b.shape), words(b), words(a))
    return [Step(CAST, cast, {"x": b.name}, {"y": exponent}), _binary(node, "pow", a, exponent)]


def modulo(node: NodeView) -> list[Lowered]:
    """Mod-13: the divisor's sign, or the dividend's with fmod."""
    kind = "fmod" if node.node.get_int("fmod", 0) else "mod"
    return [_binary(node, kind, node.required(0), node.required(1))]


def prelu(node: NodeView) -> list[Lowered]:
    """PRelu-16: the slope broadcasts to x."""
    x = node.required(0)
    return [binary_step("prelu", x, node.required(1), node.output(0, x.shape, x.dtype))]


def variadic(node: NodeView) -> list[Lowered]:
    """Max-13, Min-13, Sum-13, Mean-13: a chain over any number of inputs."""
    kind, mean = _VARIADICS[node.op_type], node.op_type == "Mean"
    values = [node.required(index) for index in range(len(node.inputs))]
    left, steps = values[0], list[Lowered]()
    if len(values) == 1:
        return [Alias(left.name, node.output(0, left.shape, left.dtype))]
    for index, right in enumerate(values[1:], 2):
        shape = BinaryProblem(kind, left.shape, right.shape, dtype=words(left)).output_shape
        last = index == len(values) and not mean
        made = node.output(0, shape, left.dtype) if last else node.temporary(f"{index}", shape, left.dtype)
        steps.append(binary_step(kind, left, right, made))
        left = made
    if mean:
        steps.append(unary_step("affine", left, node.output(0, left.shape, left.dtype), 1 / len(values), 0.0))
    return steps


def where(node: NodeView) -> list[Lowered]:
    """Where-16."""
    condition, a, b = (node.required(index) for index in range(3))
    problem = WhereProblem(condition.shape, a.shape, b.shape, words(a))
    reads = {"condition": condition.name, "a": a.name, "b": b.name}
    return [Step(WHERE, problem, reads, {"y": node.output(0, problem.output_shape, a.dtype)})]


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_UNARIES, unary),
    **dict.fromkeys(_BINARIES, binary),
    **dict.fromkeys(_VARIADICS, variadic),
    "Gelu": gelu,
    "Swish": swish,
    "Clip": clip,
    "Pow": power,
    "Mod": modulo,
    "PRelu": prelu,
    "Where": where,
}
