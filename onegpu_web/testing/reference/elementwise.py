"""Unary and binary functions in float64 (integers exactly), written from the operators' ONNX text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


_FLOATS: dict[str, Callable[[Array, float, float], Array]] = {
    "identity": lambda x, a, b: x,
    "relu": lambda x, a, b: np.maximum(x, 0),
    "sigmoid": lambda x, a, b: _sigmoid(x),
    "tanh": lambda x, a, b: np.tanh(x),
    "hard_sigmoid": lambda x, a, b: np.maximum(0, np.minimum(1, a * x + b)),
    "hard_swish": lambda x, a, b: x * np.maximum(0, np.minimum(1, x / 6 + 0.5)),
    "silu": lambda x, a, b: x * _sigmoid(x),
    "clip": lambda x, a, b: np.minimum(np.maximum(x, a), b),
    "leaky_relu": lambda x, a, b: np.where(x < 0, a * x, x),
    "elu": lambda x, a, b: np.where(x < 0, a * np.expm1(x), x),
    "selu": lambda x, a, b: b * np.where(x <= 0, a * np.expm1(x), x),
    "celu": lambda x, a, b: np.maximum(0, x) + np.minimum(0, a * np.expm1(x / a)),
    "gelu": lambda x, a, b: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x, a, b: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "erf": lambda x, a, b: _erf(x),
    "mish": lambda x, a, b: x * np.tanh(_softplus(x)),
    "softplus": lambda x, a, b: _softplus(x),
    "softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "thresholded_relu": lambda x, a, b: np.where(np.isnan(x) | (x > a), x, 0),
    "abs": lambda x, a, b: np.abs(x),
    "neg": lambda x, a, b: -x,
    "exp": lambda x, a, b: np.exp(x),
    "log": lambda x, a, b: np.log(x),
    "sqrt": lambda x, a, b: np.sqrt(x),
    "reciprocal": lambda x, a, b: 1 / x,
    "floor": lambda x, a, b: np.floor(x),
    "ceil": lambda x, a, b: np.ceil(x),
    "round": lambda x, a, b: np.rint(x),
    "sin": lambda x, a, b: np.sin(x),
    "cos": lambda x, a, b: np.cos(x),
    "sign": lambda x, a, b: np.sign(x),
    "affine": lambda x, a, b: a * x + b,
}
# alpha and beta where an operator leaves them out: ONNX's, on purpose not those of the code under test.
_DEFAULTS: dict[str, tuple[float, float]] = {
    "hard_sigmoid": (0.2, 0.5),
    "leaky_relu": (0.01, 0.0),
    "clip": (-np.inf, np.inf),
    "elu": (1.0, 0.0),
    "selu": (1.67326319217681884765625, 1.05070102214813232421875),
    "celu": (1.0, 0.0),
    "thresholded_relu": (1.0, 0.0),
    "affine": (1.0, 0.0),
}
_INTS: dict[str, Callable[[Array, float, float], Array]] = {
    "relu": lambda x, a, b: np.maximum(x, 0),
    "clip": lambda x, a, b: np.minimum(np.maximum(x, int(a)), int(b)),
    "abs": lambda x, a, b: np.abs(x),
    "neg": lambda x, a, b: -x,
    "sign": lambda x, a, b: np.sign(x),
    "not": lambda x, a, b: x == 0,
}
_BINARIES: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "pow": np.power,
    "min": np.minimum,
    "max": np.maximum,
    "mod": np.mod,
    "fmod": np.fmod,
    "prelu": lambda a, b: np.where(a < 0, a * b, a),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "equal": np.equal,
    "less": np.less,
    "greater": np.greater,
    "less_or_equal": np.less_equal,
    "greater_or_equal": np.greater_equal,
}


def unary(kind: str, x: Array, alpha: float | None = None, beta: float | None = None) -> Array:
    """kind(x): float64 of floats, x's own type of integers. alpha, beta: None for ONNX's defaults."""
    default = _DEFAULTS.get(kind, (0.0, 0.0))
    if kind == "clip" and x.dtype.kind != "f":
        info = np.iinfo(x.dtype)
        default = (info.min, info.max)
    alpha, beta = (given if given is not None else own for given, own in zip((alpha, beta), default, strict=True))
    with np.errstate(all="ignore"):
        if x.dtype.kind == "f":
            y = np.asarray(_FLOATS[kind](x.astype(np.float64), alpha, beta), np.float64)
            return np.where(np.abs(y) > np.finfo(np.float32).max, np.copysign(np.inf, y), y)
        return np.asarray(_INTS[kind](x, alpha, beta)).astype(x.dtype)


def binary(kind: str, a: Array, b: Array) -> Array:
    """kind(a, b): float64 of floats, a's own type of integers, bool of comparisons."""
    with np.errstate(all="ignore"):
        if a.dtype.kind == "f":
            a, b = a.astype(np.float64), b.astype(np.float64)
            return np.asarray(a / b if kind == "div" else _BINARIES[kind](a, b))
        if kind == "div":
            quotient = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
            return np.asarray(quotient * np.sign(a) * np.sign(b)).astype(a.dtype)
        return np.asarray(_BINARIES[kind](a, b))
