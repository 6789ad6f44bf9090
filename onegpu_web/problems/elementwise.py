"""Problems that compute each output element from the elements at its place."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dtypes import FLOAT16, FLOAT32, INT32, UINT32, DType
from ..errors import KernelShapeError
from .activation import IDENTITY, Activation
from .strides import Shape, broadcast_shape, check_offsets, check_shape

# The position is the constant KIND of wgsl/unary_float.wgsl; alpha and beta of a kind are ONNX's defaults.
FLOAT_UNARIES: dict[str, tuple[float, float]] = {
    "relu": (0.0, 0.0),
    "sigmoid": (0.0, 0.0),
    "tanh": (0.0, 0.0),
    "hard_sigmoid": (0.2, 0.5),
    "hard_swish": (0.0, 0.0),
    "silu": (0.0, 0.0),
    "clip": (-math.inf, math.inf),
    "leaky_relu": (0.01, 0.0),
    "elu": (1.0, 0.0),
    "selu": (1.67326319217681884765625, 1.05070102214813232421875),
    "celu": (1.0, 0.0),
    "gelu": (0.0, 0.0),
    "gelu_tanh": (0.0, 0.0),
    "erf": (0.0, 0.0),
    "mish": (0.0, 0.0),
    "softplus": (0.0, 0.0),
    "softsign": (0.0, 0.0),
    "thresholded_relu": (1.0, 0.0),
    "abs": (0.0, 0.0),
    "neg": (0.0, 0.0),
    "exp": (0.0, 0.0),
    "log": (0.0, 0.0),
    "sqrt": (0.0, 0.0),
    "reciprocal": (0.0, 0.0),
    "floor": (0.0, 0.0),
    "ceil": (0.0, 0.0),
    "round": (0.0, 0.0),
    "sin": (0.0, 0.0),
    "cos": (0.0, 0.0),
    "sign": (0.0, 0.0),
    "affine": (1.0, 0.0),
}
# The position is the constant KIND of wgsl/unary_int.wgsl. `not` is for booleans, held as uint32 0 or 1.
INT_UNARIES = ("relu", "clip", "abs", "neg", "sign", "not")
# The position is the constant KIND of wgsl/binary_float.wgsl and wgsl/binary_int.wgsl.
BINARIES = ("add", "sub", "mul", "div", "pow", "min", "max", "mod", "fmod", "prelu", "and", "or", "xor")
_FLOAT_BINARIES = BINARIES[:10]
# The position is the constant KIND of wgsl/compare.wgsl.
COMPARISONS = ("equal", "less", "greater", "less_or_equal", "greater_or_equal")
_FLOATS = (FLOAT32, FLOAT16)
_LARGEST = 3.4028234663852886e38


@dataclass(frozen=True, slots=True)
class UnaryProblem:
    """y = kind(x) for each of x's elements.

    kind: of FLOAT_UNARIES for float32 and float16, of INT_UNARIES for int32 and uint32.
    alpha, beta: ONNX's attributes of the kind (clip: lo and hi; affine: alpha * x + beta), None for its defaults.
    x, y: `elements` elements from element offset x_offset, y_offset.
    """

    kind: str
    elements: int
    alpha: float | None = None
    beta: float | None = None
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        kinds = tuple(FLOAT_UNARIES) if self.dtype in _FLOATS else INT_UNARIES
        if self.kind not in kinds or self.dtype not in (*_FLOATS, INT32, UINT32):
            raise KernelShapeError(f"unary: kind of {self.dtype.name} must be of {', '.join(kinds)}, got {self.kind!r}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if value is not None and math.isnan(value):
                raise KernelShapeError(f"{self.kind}: {name} must be a number, got {value}")
        check_shape(self.kind, "elements", (self.elements,))
        check_offsets(self.kind, x_offset=(self.x_offset, self.elements), y_offset=(self.y_offset, self.elements))

    @property
    def op(self) -> str:
        return self.kind

    @property
    def factors(self) -> tuple[float, float]:
        """alpha and beta with ONNX's defaults put in, within float32's range."""
        alpha, beta = FLOAT_UNARIES.get(self.kind, (0.0, 0.0))
        alpha = alpha if self.alpha is None else self.alpha
        beta = beta if self.beta is None else self.beta
        return min(max(alpha, -_LARGEST), _LARGEST), min(max(beta, -_LARGEST), _LARGEST)


@dataclass(frozen=True, slots=True)
class BinaryProblem:
    """y = activation(kind(a, b)) with NumPy's broadcasting.

    kind: of BINARIES or COMPARISONS (whose y is uint32 0 or 1); and, or, xor are for integers, prelu for floats
    (a: x, b: slope). mod takes the divisor's sign, fmod the dividend's. activation: for floats only.
    a, b: dense tensors of a_shape, b_shape; y: of output_shape.
    """

    kind: str
    a_shape: Shape
    b_shape: Shape
    activation: Activation = IDENTITY
    dtype: DType = FLOAT32
    a_offset: int = 0
    b_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        floats = self.dtype in _FLOATS
        kinds = (*(_FLOAT_BINARIES if floats else (k for k in BINARIES if k != "prelu")), *COMPARISONS)
        if self.kind not in kinds or self.dtype not in (*_FLOATS, INT32, UINT32):
            raise KernelShapeError(
                f"binary: kind of {self.dtype.name} must be of {', '.join(kinds)}, got {self.kind!r}"
            )
        if self.activation.kind != "identity" and (not floats or self.kind in COMPARISONS):
            raise KernelShapeError(f"{self.kind}: activation must be identity unless y is a float")
        a, b = check_shape(self.kind, "a_shape", self.a_shape), check_shape(self.kind, "b_shape", self.b_shape)
        y = check_shape(self.kind, "output_shape", self.output_shape)
        check_offsets(self.kind, a_offset=(self.a_offset, a), b_offset=(self.b_offset, b), y_offset=(self.y_offset, y))

    @property
    def op(self) -> str:
        return self.kind

    @property
    def output_shape(self) -> Shape:
        return broadcast_shape(self.kind, self.a_shape, self.b_shape)

    @property
    def output_dtype(self) -> DType:
        return UINT32 if self.kind in COMPARISONS else self.dtype


@dataclass(frozen=True, slots=True)
class WhereProblem:
    """y = condition ? a : b with NumPy's broadcasting, bit for bit.

    condition: uint32, 0 or not. a, b, y: any one element type of 32 bits, or float16.
    """

    condition_shape: Shape
    a_shape: Shape
    b_shape: Shape
    dtype: DType = FLOAT32
    condition_offset: int = 0
    a_offset: int = 0
    b_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        elements = {
            name: check_shape("where", f"{name}_shape", shape)
            for name, shape in (("condition", self.condition_shape), ("a", self.a_shape), ("b", self.b_shape))
        }
        check_offsets(
            "where",
            condition_offset=(self.condition_offset, elements["condition"]),
            a_offset=(self.a_offset, elements["a"]),
            b_offset=(self.b_offset, elements["b"]),
            y_offset=(self.y_offset, check_shape("where", "output_shape", self.output_shape)),
        )

    @property
    def op(self) -> str:
        return "where"

    @property
    def output_shape(self) -> Shape:
        return broadcast_shape("where", self.condition_shape, self.a_shape, self.b_shape)
