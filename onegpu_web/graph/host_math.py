"""Arithmetic, comparison, casts and reductions in numpy, by ONNX's definitions.

dtypes are always explicit: numpy's default integer is 32 bits wide in Pyodide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ..errors import ModelError, UnsupportedError
from .host_values import HostOp, Inputs, admit, axes_of, axis_in, distinct_axes, operand, optional
from .model import Array, Node, element_name

Function = Callable[..., Any]


def _pair(node: Node, a: Array, b: Array) -> tuple[Array, Array]:
    """The operands, once their common shape is known to fit."""
    admit(node, np.broadcast_shapes(a.shape, b.shape), a.dtype)
    return a, b


def _same_dtype(node: Node, a: Array, b: Array) -> tuple[Array, Array]:
    if a.dtype != b.dtype:
        raise ModelError(f"{node.label}: operands must have one dtype, got {a.dtype} and {b.dtype}")
    return _pair(node, a, b)


def unary(function: Function) -> HostOp:
    """An operator of one operand that keeps its dtype."""

    def run(node: Node, inputs: Inputs, opset: int) -> list[Array]:
        x = operand(node, inputs, 0)
        return [np.asarray(function(x)).astype(x.dtype, copy=False)]

    return run


def binary(function: Function, dtype: str | None = None) -> HostOp:
    """An operator of two operands of one dtype, whose result has that dtype or `dtype`."""

    def run(node: Node, inputs: Inputs, opset: int) -> list[Array]:
        a, b = _same_dtype(node, operand(node, inputs, 0), operand(node, inputs, 1))
        return [np.asarray(function(a, b)).astype(dtype or a.dtype, copy=False)]

    return run


def variadic(function: Function) -> HostOp:
    """An operator folded over one or more operands of one dtype."""

    def run(node: Node, inputs: Inputs, opset: int) -> list[Array]:
        arrays = [operand(node, inputs, index) for index in range(len(inputs))]
        if not arrays:
            raise ModelError(f"{node.label}: at least one input must be given")
        return [reduce(lambda a, b: np.asarray(function(*_same_dtype(node, a, b))), arrays)]

    return run


def divide(a: Array, b: Array) -> Array:
    """a / b; integers truncate towards zero, where numpy's // rounds down."""
    if a.dtype.kind not in "iu":
        return np.asarray(np.divide(a, b))
    if np.any(b == 0):
        raise ModelError("Div: an integer is divided by zero")
    quotient, rest = np.divmod(a, b)
    return np.asarray(quotient + ((rest != 0) & ((a < 0) != (b < 0))).astype(a.dtype))


def _power(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    a, b = _pair(node, operand(node, inputs, 0), operand(node, inputs, 1))
    return [np.asarray(np.power(a, b)).astype(a.dtype, copy=False)]


def _modulo(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    a, b = _same_dtype(node, operand(node, inputs, 0), operand(node, inputs, 1))
    if a.dtype.kind in "iu" and np.any(b == 0):
        raise ModelError(f"{node.label}: an integer is divided by zero")
    return [np.asarray(np.fmod(a, b) if node.get_int("fmod", 0) else np.mod(a, b))]


def _clip(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    """Bounds are attributes before opset 11; where they cross, the upper one wins."""
    x = operand(node, inputs, 0)
    lower, upper = optional(inputs, 1), optional(inputs, 2)
    if opset < 11:
        lower = np.array(node.get_float("min", -np.inf), x.dtype)
        upper = np.array(node.get_float("max", np.inf), x.dtype)
    y = x if lower is None else np.maximum(x, lower.astype(x.dtype).reshape(()))
    return [np.asarray(y if upper is None else np.minimum(y, upper.astype(x.dtype).reshape(())))]


def _where(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    condition = operand(node, inputs, 0)
    a, b = _same_dtype(node, operand(node, inputs, 1), operand(node, inputs, 2))
    admit(node, np.broadcast_shapes(condition.shape, a.shape, b.shape), a.dtype)
    return [np.where(condition.astype(np.bool_), a, b)]


def cast(x: Array, name: str) -> Array:
    """x as dtype `name`: floats truncate to integers, and integers wrap to the width."""
    dtype = np.dtype(name)
    if dtype.kind == "b":
        return np.asarray(np.not_equal(x, 0))
    if x.dtype.kind == "f" and dtype.kind in "iu" and dtype.itemsize < 8:
        x = x.astype(np.int64)  # a negative float to an unsigned integer is undefined in C
    return x.astype(dtype)


def _cast(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    name = element_name(node.get_int("to", 0))
    try:
        return [cast(operand(node, inputs, 0), np.dtype(name).name)]
    except TypeError as error:
        raise UnsupportedError(f"{node.label}: a cast to {name} is not supported") from error


def _wide_sum(x: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    kept = np.sum(x, axis=axes, keepdims=True, dtype=np.float64 if x.dtype.kind == "f" else x.dtype)
    return kept if keepdims else np.squeeze(kept, axes)


def _wide_product(x: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    kept = np.prod(x, axis=axes, keepdims=True, dtype=np.float64 if x.dtype.kind == "f" else x.dtype)
    return kept if keepdims else np.squeeze(kept, axes)


def _wide_mean(x: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    kept = np.mean(x, axis=axes, keepdims=True, dtype=np.float64)
    return kept if keepdims else np.squeeze(kept, axes)


def _extreme(function: Function, lowest: bool) -> Function:
    """Max or min; of nothing, the value that every other replaces."""

    def run(x: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
        if x.dtype.kind == "b":
            initial: Any = not lowest
        elif x.dtype.kind == "f":
            initial = -np.inf if lowest else np.inf
        else:
            initial = np.iinfo(x.dtype).min if lowest else np.iinfo(x.dtype).max
        return function(x, axis=axes, keepdims=keepdims, initial=initial)

    return run


def reduction(function: Function) -> HostOp:
    """A Reduce operator. axes: an attribute, from opset 13 (Sum) or 18 on an input."""

    def run(node: Node, inputs: Inputs, opset: int) -> list[Array]:
        x = operand(node, inputs, 0)
        axes = axes_of(node, inputs, 1)
        if not axes and node.get_int("noop_with_empty_axes", 0):
            return [x]
        found = distinct_axes(node, axes, x.ndim) if axes else tuple(range(x.ndim))
        return [np.asarray(function(x, found, bool(node.get_int("keepdims", 1)))).astype(x.dtype, copy=False)]

    return run


def _dequantize(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    """(x - zero point) * scale, per tensor, per axis or in blocks along it."""
    x, scale = operand(node, inputs, 0), operand(node, inputs, 1)
    zero = optional(inputs, 2)
    admit(node, x.shape, np.dtype(np.float64))
    if node.get_int("output_dtype", 0):
        raise UnsupportedError(f"{node.label}: output_dtype is not supported")
    if scale.size == 1 and scale.ndim <= 1:
        scale, zero = scale.reshape(()), None if zero is None else zero.reshape(())
    else:
        axis = axis_in(node, node.get_int("axis", 1), x.ndim)
        block = node.get_int("block_size", 0)
        scale = _along(node, scale, x, axis, block)
        zero = None if zero is None else _along(node, zero, x, axis, block)
    wide = x.astype(np.float64) - (0 if zero is None else zero.astype(np.float64))
    return [(wide * scale.astype(np.float64)).astype(scale.dtype)]


def _along(node: Node, value: Array, x: Array, axis: int, block: int) -> Array:
    """A scale or zero point in x's rank, ready to broadcast."""
    if not block:
        if value.shape != (x.shape[axis],):
            raise ModelError(f"{node.label}: scale must have {x.shape[axis]} values, got shape {value.shape}")
        return value.reshape([-1 if index == axis else 1 for index in range(x.ndim)])
    if value.ndim != x.ndim or block < 0 or value.shape[axis] * block < x.shape[axis]:
        raise ModelError(f"{node.label}: scale of shape {value.shape} does not cover {x.shape} in blocks of {block}")
    return np.take(np.repeat(value, block, axis=axis), np.arange(x.shape[axis], dtype=np.intp), axis=axis)


MATH_OPS: dict[str, HostOp] = {
    "Add": binary(np.add),
    "Sub": binary(np.subtract),
    "Mul": binary(np.multiply),
    "Div": binary(divide),
    "Mod": _modulo,
    "Pow": _power,
    "Neg": unary(np.negative),
    "Abs": unary(np.abs),
    "Sqrt": unary(np.sqrt),
    "Reciprocal": unary(np.reciprocal),
    "Floor": unary(np.floor),
    "Ceil": unary(np.ceil),
    "Round": unary(np.rint),
    "Exp": unary(np.exp),
    "Log": unary(np.log),
    "Min": variadic(np.minimum),
    "Max": variadic(np.maximum),
    "Sum": variadic(np.add),
    "Equal": binary(np.equal, "bool"),
    "Less": binary(np.less, "bool"),
    "LessOrEqual": binary(np.less_equal, "bool"),
    "Greater": binary(np.greater, "bool"),
    "GreaterOrEqual": binary(np.greater_equal, "bool"),
    "Not": unary(np.logical_not),
    "And": binary(np.logical_and, "bool"),
    "Or": binary(np.logical_or, "bool"),
    "Xor": binary(np.logical_xor, "bool"),
    "Where": _where,
    "Clip": _clip,
    "Cast": _cast,
    "ReduceSum": reduction(_wide_sum),
    "ReduceProd": reduction(_wide_product),
    "ReduceMean": reduction(_wide_mean),
    "ReduceMax": reduction(_extreme(np.max, lowest=True)),
    "ReduceMin": reduction(_extreme(np.min, lowest=False)),
    "DequantizeLinear": _dequantize,
}
