"""ONNX operators in numpy, for what is constant when a model loads: weights to fold, shapes to work out.

Not for activations: these run once, on the CPU, and their results are limited in size.
"""

from __future__ import annotations

import numpy as np

from ..errors import ModelError, OnegpuError, UnsupportedError
from .host_math import MATH_OPS
from .host_shape import SHAPE_OPS
from .host_values import RESULT_LIMIT_BYTES, HostOp, Inputs
from .model import Array, Node
from .parameters import check_ranks

__all__ = ["HOST_OPS", "RESULT_LIMIT_BYTES", "run_host"]

HOST_OPS: dict[str, HostOp] = SHAPE_OPS | MATH_OPS


def run_host(node: Node, inputs: Inputs, opset: int) -> list[Array]:
    """The outputs of a node of ONNX's own domain, in the order of node.outputs.

    inputs: an array for each of node.inputs, None for one left out. An output may be a view of an input.

    Raises: UnsupportedError for an operator not in HOST_OPS or a result above RESULT_LIMIT_BYTES; ModelError where
        inputs and attributes do not go together.
    """
    function = HOST_OPS.get(node.op_type) if not node.domain else None
    if function is None:
        raise UnsupportedError(f"{node.label}: {node.operator} has no host implementation")
    check_ranks(node, [None if value is None else value.shape for value in inputs])
    try:
        with np.errstate(all="ignore"):
            results = [np.asarray(result) for result in function(node, inputs, opset)]
    except OnegpuError:
        raise
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        shapes = ", ".join("-" if value is None else f"{value.dtype}{list(value.shape)}" for value in inputs)
        raise ModelError(f"{node.label}: {error} (inputs {shapes})") from error
    if len(node.outputs) > len(results):
        raise ModelError(f"{node.label}: outputs must be at most {len(results)}, got {len(node.outputs)}")
    return results
