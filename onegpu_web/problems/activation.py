"""Activations that kernels fuse into their last pass."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import KernelShapeError

# The position is the constant ACTIVATION of wgsl/activation.wgsl.
KINDS = ("identity", "relu", "sigmoid", "tanh", "silu", "hard_sigmoid", "hard_swish", "clip", "leaky_relu")
_LARGEST = 3.4028234663852886e38


@dataclass(frozen=True, slots=True)
class Activation:
    """y = kind(v), in ONNX's words.

    kind: one of KINDS. alpha, beta: hard_sigmoid's (defaults 0.2 and 0.5), leaky_relu's alpha (0.01),
    clip's lo and hi (defaults: float32's lowest and highest).
    """

    kind: str = "identity"
    alpha: float | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise KernelShapeError(f"activation: kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if value is not None and math.isnan(value):
                raise KernelShapeError(f"activation: {name} must be a number, got {value}")

    @property
    def constants(self) -> dict[str, int | float]:
        """The constants of wgsl/activation.wgsl."""
        default = {"hard_sigmoid": (0.2, 0.5), "clip": (-_LARGEST, _LARGEST), "leaky_relu": (0.01, 0.0)}
        alpha, beta = default.get(self.kind, (0.0, 0.0))
        alpha = alpha if self.alpha is None else self.alpha
        beta = beta if self.beta is None else self.beta
        return {
            "ACTIVATION": KINDS.index(self.kind),
            "ALPHA": min(max(alpha, -_LARGEST), _LARGEST),
            "BETA": min(max(beta, -_LARGEST), _LARGEST),
        }


IDENTITY = Activation()
