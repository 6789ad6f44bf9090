"""Convolutions and matrix products on arrays and Tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import KernelShapeError
from ..graph.model import Attribute, Node
from .attributes import constant, integers, window_attributes
from .eager import Input, Output, run_nodes, sync

# ONNX operator and the attributes of alpha and beta, by the activation's name in problems/activation.py.
ACTIVATIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "relu": ("Relu", ()),
    "sigmoid": ("Sigmoid", ()),
    "tanh": ("Tanh", ()),
    "silu": ("Silu", ()),
    "hard_sigmoid": ("HardSigmoid", ("alpha", "beta")),
    "hard_swish": ("HardSwish", ()),
    "leaky_relu": ("LeakyRelu", ("alpha",)),
    "clip": ("Clip", ("min", "max")),
    "gelu": ("Gelu", ()),
    "mish": ("Mish", ()),
    "elu": ("Elu", ("alpha",)),
}

ActivationSpec = str | tuple[str, *tuple[float, ...]]


def _activation_node(
    op: str, activation: ActivationSpec | None, source: str, target: str, dtype: str
) -> tuple[Node, dict[str, Input]]:
    """The node that applies an activation such as "relu" or ("hard_sigmoid", 0.2, 0.5), and its inputs but `source`.

    dtype: of `source`; Clip takes its bounds in that type.
    """
    if activation is None:
        return Node("Identity", (source,), (target,)), {}
    name, *values = activation if isinstance(activation, tuple) and activation else (activation,)
    if name not in ACTIVATIONS or len(values) > len(ACTIVATIONS[name][1]):
        raise KernelShapeError(f"{op}: activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
    op_type, names = ACTIVATIONS[name]
    numbers = constant(op, "activation's numbers", values, "float64").tolist()
    if op_type == "Clip":
        bounds: dict[str, Input] = {f"clip_{n}": np.asarray(v, dtype) for n, v in zip(names, numbers, strict=False)}
        return Node("Clip", (source, *bounds), (target,)), bounds
    attributes: dict[str, Attribute] = dict(zip(names, numbers, strict=False))
    return Node(op_type, (source,), (target,), domain="onegpu" if op_type == "Silu" else "", attributes=attributes), {}


async def _convolve(
    op: str,
    op_type: str,
    inputs: Mapping[str, Input],
    attributes: dict[str, Attribute],
    activation: ActivationSpec | None,
) -> Output:
    names = tuple(name if inputs[name] is not None else "" for name in ("x", "w", "b"))
    nodes = [Node(op_type, names, ("sum",), attributes=attributes)]
    last = "sum"
    if inputs.get("residual") is not None:
        nodes.append(Node("Add", ("sum", "residual"), ("total",)))
        last = "total"
    dtype = "float16" if str(getattr(inputs["x"], "dtype", "")) == "float16" else "float32"
    node, bounds = _activation_node(op, activation, last, "y", dtype)
    return (await run_nodes([*nodes, node], {**inputs, **bounds}, ["y"]))[0]


async def conv(
    x: Input,
    w: Input,
    b: Input = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
    residual: Input = None,
    activation: ActivationSpec | None = None,
) -> Output:
    """y = activation(conv(x, w) + b + residual).

    x: (N, C, ...) with 1 to 3 spatial axes. w: (M, C/group, ...). b: (M,). residual: y's shape.
    pads: begins, then ends. auto_pad: NOTSET, SAME_UPPER, SAME_LOWER or VALID. activation: a name such
    as "relu", or a tuple with its numbers: ("clip", 0.0, 6.0), ("leaky_relu", 0.1).
    Raises: KernelShapeError. Source: ONNX Conv-22.
    """
    attributes = window_attributes("conv", None, strides, pads, dilations, auto_pad) | {"group": group}
    return await _convolve("conv", "Conv", {"x": x, "w": w, "b": b, "residual": residual}, attributes, activation)


async def conv_transpose(
    x: Input,
    w: Input,
    b: Input = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    residual: Input = None,
    activation: ActivationSpec | None = None,
) -> Output:
    """y = activation(conv_transpose(x, w) + b + residual).

    x: (N, C, ...). w: (C, M/group, ...). b: (M,). output_shape: spatial sizes; pads follow from it.
    Raises: KernelShapeError. Source: ONNX ConvTranspose-22.
    """
    attributes = window_attributes("conv_transpose", None, strides, pads, dilations, auto_pad) | {"group": group}
    for name, value in (("output_padding", output_padding), ("output_shape", output_shape)):
        if value is not None:
            attributes[name] = integers("conv_transpose", name, value)
    return await _convolve(
        "conv_transpose", "ConvTranspose", {"x": x, "w": w, "b": b, "residual": residual}, attributes, activation
    )


async def gemm(
    a: Input,
    b: Input,
    c: Input = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    trans_a: bool = False,
    trans_b: bool = False,
) -> Output:
    """y = alpha * a' b' + beta * c. a: (M, K), or (K, M) with trans_a; b: (K, N), or (N, K); c broadcasts to (M, N).

    Raises: KernelShapeError. Source: ONNX Gemm-13.
    """
    attributes: dict[str, Attribute] = {"alpha": alpha, "beta": beta, "transA": int(trans_a), "transB": int(trans_b)}
    names = ("a", "b", "c") if c is not None else ("a", "b")
    return (await run_nodes([Node("Gemm", names, ("y",), attributes=attributes)], {"a": a, "b": b, "c": c}, ["y"]))[0]


async def matmul(a: Input, b: Input) -> Output:
    """numpy's matmul: (..., M, K) times (..., K, N), batches broadcast. Source: ONNX MatMul-13."""
    return (await run_nodes([Node("MatMul", ("a", "b"), ("y",))], {"a": a, "b": b}, ["y"]))[0]


conv_sync = sync(conv)
conv_transpose_sync = sync(conv_transpose)
gemm_sync = sync(gemm)
matmul_sync = sync(matmul)
