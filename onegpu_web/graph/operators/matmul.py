"""ONNX MatMul and Gemm."""

from __future__ import annotations

from ...errors import KernelShapeError
from ...kernels.matmul import FAMILY
from ...problems.matmul import MatmulProblem
from ..lowering import Handler, Lowered, NodeView, Step
from .elementwise import words


def matmul(node: NodeView) -> list[Lowered]:
    """MatMul-13: NumPy's batches; an operand of one axis is a row on the left, a column on the right."""
    a, b = node.required(0), node.required(1)
    if not a.shape or not b.shape:
        raise KernelShapeError(f"{node.node.label}: operands must have 1 axis or more, got {a.shape} and {b.shape}")
    left = (1, *a.shape) if len(a.shape) == 1 else a.shape
    right = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    _check(node, left[-1], right[-2])
    problem = MatmulProblem(left[-2], right[-1], left[-1], left[:-2], right[:-2], dtype=words(a))
    shape = (*problem.batch, *left[-2:-1][len(left) - len(a.shape) :], *right[-1:][len(right) - len(b.shape) :])
    return [Step(FAMILY, problem, {"a": a.name, "b": b.name}, {"y": node.output(0, shape, a.dtype)})]


def gemm(node: NodeView) -> list[Lowered]:
    """Gemm-13."""
    a, b, c = node.required(0), node.required(1), node.input(2)
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise KernelShapeError(f"{node.node.label}: A and B must have 2 axes, got {a.shape} and {b.shape}")
    trans_a, trans_b = (node.node.get_int(name, 0) != 0 for name in ("transA", "transB"))
    m, k = a.shape[::-1] if trans_a else a.shape
    inner, n = b.shape[::-1] if trans_b else b.shape
    _check(node, k, inner)
    problem = MatmulProblem(
        m,
        n,
        k,
        trans_a=trans_a,
        trans_b=trans_b,
        alpha=node.node.get_float("alpha", 1.0),
        beta=node.node.get_float("beta", 1.0),
        bias_shape=None if c is None else c.shape,
        dtype=words(a),
    )
    reads = {"a": a.name, "b": b.name} | ({} if c is None else {"bias": c.name})
    return [Step(FAMILY, problem, reads, {"y": node.output(0, (m, n), a.dtype)})]


def _check(node: NodeView, inner: int, other: int) -> None:
    """Raise KernelShapeError unless the operands fit together."""
    if inner != other:
        shapes = " and ".join(str(node.required(index).shape) for index in range(2))
        raise KernelShapeError(f"{node.node.label}: operands must agree along k, got {shapes}")


HANDLERS: dict[str, Handler] = {"MatMul": matmul, "Gemm": gemm}
