"""Matrix products: MatMul with its batches, Gemm with its scaled addend."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dtypes import FLOAT16, FLOAT32, DType
from ..errors import KernelShapeError
from .activation import IDENTITY, Activation
from .strides import Shape, broadcast_shape, check_offsets, check_shape


@dataclass(frozen=True, slots=True)
class MatmulProblem:
    """y = activation(alpha * (a @ b) + beta * bias), batches broadcast like NumPy's.

    a: (*a_batch, m, k), or (*a_batch, k, m) with trans_a. b: (*b_batch, k, n), or (*b_batch, n, k) with trans_b.
    y: (*batch, m, n). bias_shape: broadcasts to y one way; None for none. a, b, bias, y have element offsets.
    Source: ONNX Gemm-13 (its C is bias), MatMul-13.
    """

    m: int
    n: int
    k: int
    a_batch: Shape = ()
    b_batch: Shape = ()
    trans_a: bool = False
    trans_b: bool = False
    alpha: float = 1.0
    beta: float = 1.0
    bias_shape: Shape | None = None
    activation: Activation = IDENTITY
    dtype: DType = FLOAT32
    a_offset: int = 0
    b_offset: int = 0
    bias_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        if self.dtype not in (FLOAT32, FLOAT16):
            raise KernelShapeError(f"matmul: dtype must be float32 or float16, got {self.dtype.name}")
        if not (math.isfinite(self.alpha) and math.isfinite(self.beta)):
            raise KernelShapeError(f"matmul: alpha and beta must be finite, got {self.alpha} and {self.beta}")
        bias = 0
        if self.bias_shape is not None:
            bias = check_shape("matmul", "bias_shape", self.bias_shape)
            if broadcast_shape("matmul", self.bias_shape, self.output_shape) != self.output_shape:
                raise KernelShapeError(
                    f"matmul: bias_shape must broadcast to {self.output_shape}, got {self.bias_shape}"
                )
        check_offsets(
            "matmul",
            a_offset=(self.a_offset, check_shape("matmul", "a", (*self.a_batch, self.m, self.k))),
            b_offset=(self.b_offset, check_shape("matmul", "b", (*self.b_batch, self.k, self.n))),
            bias_offset=(self.bias_offset, bias),
            y_offset=(self.y_offset, check_shape("matmul", "output_shape", self.output_shape)),
        )

    @property
    def op(self) -> str:
        return "matmul"

    @property
    def batch(self) -> Shape:
        return broadcast_shape("matmul", self.a_batch, self.b_batch)

    @property
    def output_shape(self) -> Shape:
        return (*self.batch, self.m, self.n)
