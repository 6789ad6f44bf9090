"""Matrix products in float64, written from the operators' ONNX text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .activation import activate

if TYPE_CHECKING:
    from ...problems.matmul import MatmulProblem

Array = np.ndarray[Any, Any]


def matmul(problem: MatmulProblem, a: Array, b: Array, bias: Array | None) -> Array:
    """activation(alpha * (a @ b) + beta * bias); a and b as stored, transposed here where the problem says so."""
    left, right = a.astype(np.float64), b.astype(np.float64)
    left = left.swapaxes(-1, -2) if problem.trans_a else left
    right = right.swapaxes(-1, -2) if problem.trans_b else right
    with np.errstate(invalid="ignore"):
        y = problem.alpha * np.matmul(left, right)
    if bias is not None:
        y = y + problem.beta * bias.astype(np.float64)
    return activate(problem.activation, y)
