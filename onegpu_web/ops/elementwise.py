"""Elementwise operations on arrays and Tensors, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from ..graph.model import Attribute, Node
from .attributes import constant, element_type
from .eager import Input, Output, run_nodes, sync

Unary = Callable[[Input], Coroutine[Any, Any, Output]]
Binary = Callable[[Input, Input], Coroutine[Any, Any, Output]]


def _unary(name: str, op_type: str, domain: str = "") -> Unary:
    async def operation(x: Input) -> Output:
        return (await run_nodes([Node(op_type, ("x",), ("y",), domain=domain)], {"x": x}, ["y"]))[0]

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"ONNX {op_type} of every element of x."
    return operation


def _binary(name: str, op_type: str) -> Binary:
    async def operation(a: Input, b: Input) -> Output:
        return (await run_nodes([Node(op_type, ("a", "b"), ("y",))], {"a": a, "b": b}, ["y"]))[0]

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"ONNX {op_type} of a and b, broadcast against each other. Raises: KernelShapeError."
    return operation


async def _with(op_type: str, x: Input, attributes: dict[str, Attribute]) -> Output:
    return (await run_nodes([Node(op_type, ("x",), ("y",), attributes=attributes)], {"x": x}, ["y"]))[0]


relu = _unary("relu", "Relu")
sigmoid = _unary("sigmoid", "Sigmoid")
tanh = _unary("tanh", "Tanh")
silu = _unary("silu", "Silu", "onegpu")
hard_swish = _unary("hard_swish", "HardSwish")
erf = _unary("erf", "Erf")
exp = _unary("exp", "Exp")
log = _unary("log", "Log")
sqrt = _unary("sqrt", "Sqrt")
abs_ = _unary("abs_", "Abs")
neg = _unary("neg", "Neg")
mish = _unary("mish", "Mish")
add = _binary("add", "Add")
sub = _binary("sub", "Sub")
mul = _binary("mul", "Mul")
div = _binary("div", "Div")
pow_ = _binary("pow_", "Pow")
prelu = _binary("prelu", "PRelu")


async def hard_sigmoid(x: Input, *, alpha: float = 0.2, beta: float = 0.5) -> Output:
    """max(0, min(1, alpha x + beta)). Source: ONNX HardSigmoid-22."""
    return await _with("HardSigmoid", x, {"alpha": alpha, "beta": beta})


async def leaky_relu(x: Input, *, alpha: float = 0.01) -> Output:
    """x where it is not negative, else alpha x. Source: ONNX LeakyRelu-16."""
    return await _with("LeakyRelu", x, {"alpha": alpha})


async def gelu(x: Input, *, approximate: str = "none") -> Output:
    """x times the normal distribution's function of x; approximate: none or tanh. Source: ONNX Gelu-20."""
    return await _with("Gelu", x, {"approximate": approximate})


async def clip(x: Input, lo: float | None = None, hi: float | None = None) -> Output:
    """x within [lo, hi]; None leaves a side open. Source: ONNX Clip-13."""
    inputs: dict[str, Input] = {"x": x}
    for name, bound in (("lo", lo), ("hi", hi)):
        inputs[name] = None if bound is None else constant("clip", name, bound, element_type(x))
    names = tuple(name if value is not None else "" for name, value in inputs.items())
    return (await run_nodes([Node("Clip", names, ("y",))], inputs, ["y"]))[0]


relu_sync = sync(relu)
sigmoid_sync = sync(sigmoid)
tanh_sync = sync(tanh)
silu_sync = sync(silu)
hard_swish_sync = sync(hard_swish)
erf_sync = sync(erf)
exp_sync = sync(exp)
log_sync = sync(log)
sqrt_sync = sync(sqrt)
abs_sync = sync(abs_)
neg_sync = sync(neg)
mish_sync = sync(mish)
add_sync = sync(add)
sub_sync = sync(sub)
mul_sync = sync(mul)
div_sync = sync(div)
pow_sync = sync(pow_)
prelu_sync = sync(prelu)
hard_sigmoid_sync = sync(hard_sigmoid)
leaky_relu_sync = sync(leaky_relu)
gelu_sync = sync(gelu)
clip_sync = sync(clip)
