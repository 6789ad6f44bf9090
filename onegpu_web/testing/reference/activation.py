"""What follows a sum, in float64. Source: the ONNX operators of the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .elementwise import unary

if TYPE_CHECKING:
    from ...problems.activation import Activation

Array = np.ndarray[Any, Any]
_LARGEST = float(np.finfo(np.float32).max)


def activate(activation: Activation, v: Array) -> Array:
    """The activation of float64 values; clip without a bound has float32's largest numbers, as in onnxruntime."""
    alpha, beta = activation.alpha, activation.beta
    if activation.kind == "clip":
        alpha, beta = (-_LARGEST if alpha is None else alpha), (_LARGEST if beta is None else beta)
    return unary(activation.kind, v, alpha, beta)
