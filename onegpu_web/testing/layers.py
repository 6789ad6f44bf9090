"""The convolutions of three models, as tables: for benchmarks, and at reduced size as cases.

Derived once from ResNet-50 v1.5, MobileNetV3-large 1.0 and a DBNet with a ResNet-18 backbone, batch
normalisation folded and what follows each convolution fused.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import FLOAT32, DType
from ..problems.activation import Activation
from ..problems.conv import Convolution, ConvProblem
from ..problems.conv_transpose import ConvTransposeProblem

_ACTIVATIONS = {
    "": Activation(),
    "relu": Activation("relu"),
    "sigmoid": Activation("sigmoid"),
    "hard_swish": Activation("hard_swish"),
    "hard_sigmoid": Activation("hard_sigmoid", 1 / 6, 0.5),
}


@dataclass(frozen=True, slots=True)
class Layer:
    """A square convolution with bias, padded by half its kernel, over a square input.

    count: how often the model has it. extent: of the input. activation: with a + before it, a residual is
    added first.
    """

    count: int
    c: int
    m: int
    kernel: int
    stride: int
    group: int
    extent: int
    activation: str
    transposed: bool = False

    @property
    def name(self) -> str:
        """As in conv_64_to_128_k3_s2_g1_at_56."""
        kind = "conv_transpose" if self.transposed else "conv"
        end = "".join(f"_{word}" for word in self.activation.replace("+", "add ").split())
        return f"{kind}_{self.c}_to_{self.m}_k{self.kernel}_s{self.stride}_g{self.group}_at_{self.extent}{end}"

    def problem(self, batch: int, dtype: DType = FLOAT32, extent: int | None = None) -> Convolution:
        """The layer for a batch; extent: another one than the model's."""
        x_shape = (batch, self.c, *(extent or self.extent,) * 2)
        kernel, strides = (self.kernel,) * 2, (self.stride,) * 2
        activation = _ACTIVATIONS[self.activation.removeprefix("+")]
        if self.transposed:
            w_shape = (self.c, self.m // self.group, *kernel)
            return ConvTransposeProblem(
                x_shape, w_shape, strides=strides, group=self.group, has_bias=True, activation=activation, dtype=dtype,
                w_constant=True,
            )  # fmt: skip
        return ConvProblem(
            x_shape, (self.m, self.c // self.group, *kernel), strides=strides, pads=(self.kernel // 2,) * 4,
            group=self.group, has_bias=True, has_residual=self.activation.startswith("+"), activation=activation,
            dtype=dtype, w_constant=True,
        )  # fmt: skip


# count, c, m, kernel, stride, group, extent, activation
RESNET50 = (
    Layer(1, 3, 64, 7, 2, 1, 224, "relu"),
    Layer(1, 64, 64, 1, 1, 1, 56, "relu"),
    Layer(3, 64, 64, 3, 1, 1, 56, "relu"),
    Layer(1, 64, 256, 1, 1, 1, 56, ""),
    Layer(3, 64, 256, 1, 1, 1, 56, "+relu"),
    Layer(2, 256, 64, 1, 1, 1, 56, "relu"),
    Layer(1, 256, 128, 1, 1, 1, 56, "relu"),
    Layer(1, 128, 128, 3, 2, 1, 56, "relu"),
    Layer(1, 128, 512, 1, 1, 1, 28, ""),
    Layer(1, 256, 512, 1, 2, 1, 56, "+relu"),
    Layer(3, 512, 128, 1, 1, 1, 28, "relu"),
    Layer(3, 128, 128, 3, 1, 1, 28, "relu"),
    Layer(3, 128, 512, 1, 1, 1, 28, "+relu"),
    Layer(1, 512, 256, 1, 1, 1, 28, "relu"),
    Layer(1, 256, 256, 3, 2, 1, 28, "relu"),
    Layer(1, 256, 1024, 1, 1, 1, 14, ""),
    Layer(1, 512, 1024, 1, 2, 1, 28, "+relu"),
    Layer(5, 1024, 256, 1, 1, 1, 14, "relu"),
    Layer(5, 256, 256, 3, 1, 1, 14, "relu"),
    Layer(5, 256, 1024, 1, 1, 1, 14, "+relu"),
    Layer(1, 1024, 512, 1, 1, 1, 14, "relu"),
    Layer(1, 512, 512, 3, 2, 1, 14, "relu"),
    Layer(1, 512, 2048, 1, 1, 1, 7, ""),
    Layer(1, 1024, 2048, 1, 2, 1, 14, "+relu"),
    Layer(2, 2048, 512, 1, 1, 1, 7, "relu"),
    Layer(2, 512, 512, 3, 1, 1, 7, "relu"),
    Layer(2, 512, 2048, 1, 1, 1, 7, "+relu"),
)

MOBILENETV3_LARGE = (
    Layer(1, 3, 16, 3, 2, 1, 224, "hard_swish"),
    Layer(1, 16, 16, 3, 1, 16, 112, "relu"),
    Layer(1, 16, 16, 1, 1, 1, 112, "+"),
    Layer(1, 16, 64, 1, 1, 1, 112, "relu"),
    Layer(1, 64, 64, 3, 2, 64, 112, "relu"),
    Layer(1, 64, 24, 1, 1, 1, 56, ""),
    Layer(2, 24, 72, 1, 1, 1, 56, "relu"),
    Layer(1, 72, 72, 3, 1, 72, 56, "relu"),
    Layer(1, 72, 24, 1, 1, 1, 56, "+"),
    Layer(1, 72, 72, 5, 2, 72, 56, "relu"),
    Layer(1, 72, 16, 1, 1, 1, 1, "relu"),
    Layer(1, 16, 72, 1, 1, 1, 1, "hard_sigmoid"),
    Layer(1, 72, 40, 1, 1, 1, 28, ""),
    Layer(2, 40, 120, 1, 1, 1, 28, "relu"),
    Layer(2, 120, 120, 5, 1, 120, 28, "relu"),
    Layer(2, 120, 32, 1, 1, 1, 1, "relu"),
    Layer(2, 32, 120, 1, 1, 1, 1, "hard_sigmoid"),
    Layer(2, 120, 40, 1, 1, 1, 28, "+"),
    Layer(1, 40, 240, 1, 1, 1, 28, "hard_swish"),
    Layer(1, 240, 240, 3, 2, 240, 28, "hard_swish"),
    Layer(1, 240, 80, 1, 1, 1, 14, ""),
    Layer(1, 80, 200, 1, 1, 1, 14, "hard_swish"),
    Layer(1, 200, 200, 3, 1, 200, 14, "hard_swish"),
    Layer(1, 200, 80, 1, 1, 1, 14, "+"),
    Layer(2, 80, 184, 1, 1, 1, 14, "hard_swish"),
    Layer(2, 184, 184, 3, 1, 184, 14, "hard_swish"),
    Layer(2, 184, 80, 1, 1, 1, 14, "+"),
    Layer(1, 80, 480, 1, 1, 1, 14, "hard_swish"),
    Layer(1, 480, 480, 3, 1, 480, 14, "hard_swish"),
    Layer(1, 480, 120, 1, 1, 1, 1, "relu"),
    Layer(1, 120, 480, 1, 1, 1, 1, "hard_sigmoid"),
    Layer(1, 480, 112, 1, 1, 1, 14, ""),
    Layer(2, 112, 672, 1, 1, 1, 14, "hard_swish"),
    Layer(1, 672, 672, 3, 1, 672, 14, "hard_swish"),
    Layer(2, 672, 168, 1, 1, 1, 1, "relu"),
    Layer(2, 168, 672, 1, 1, 1, 1, "hard_sigmoid"),
    Layer(1, 672, 112, 1, 1, 1, 14, "+"),
    Layer(1, 672, 672, 5, 2, 672, 14, "hard_swish"),
    Layer(1, 672, 160, 1, 1, 1, 7, ""),
    Layer(3, 160, 960, 1, 1, 1, 7, "hard_swish"),
    Layer(2, 960, 960, 5, 1, 960, 7, "hard_swish"),
    Layer(2, 960, 240, 1, 1, 1, 1, "relu"),
    Layer(2, 240, 960, 1, 1, 1, 1, "hard_sigmoid"),
    Layer(2, 960, 160, 1, 1, 1, 7, "+"),
)

DBNET_R18 = (
    Layer(1, 3, 64, 7, 2, 1, 512, "relu"),
    Layer(2, 64, 64, 3, 1, 1, 128, "relu"),
    Layer(2, 64, 64, 3, 1, 1, 128, "+relu"),
    Layer(1, 64, 256, 1, 1, 1, 128, ""),
    Layer(1, 64, 128, 3, 2, 1, 128, "relu"),
    Layer(1, 128, 128, 3, 1, 1, 64, ""),
    Layer(1, 64, 128, 1, 2, 1, 128, "+relu"),
    Layer(1, 128, 128, 3, 1, 1, 64, "relu"),
    Layer(1, 128, 128, 3, 1, 1, 64, "+relu"),
    Layer(1, 128, 256, 1, 1, 1, 64, ""),
    Layer(1, 128, 256, 3, 2, 1, 64, "relu"),
    Layer(1, 256, 256, 3, 1, 1, 32, ""),
    Layer(1, 128, 256, 1, 2, 1, 64, "+relu"),
    Layer(1, 256, 256, 3, 1, 1, 32, "relu"),
    Layer(1, 256, 256, 3, 1, 1, 32, "+relu"),
    Layer(1, 256, 256, 1, 1, 1, 32, ""),
    Layer(1, 256, 512, 3, 2, 1, 32, "relu"),
    Layer(1, 512, 512, 3, 1, 1, 16, ""),
    Layer(1, 256, 512, 1, 2, 1, 32, "+relu"),
    Layer(1, 512, 512, 3, 1, 1, 16, "relu"),
    Layer(1, 512, 512, 3, 1, 1, 16, "+relu"),
    Layer(1, 512, 256, 1, 1, 1, 16, ""),
    Layer(1, 256, 64, 3, 1, 1, 16, ""),
    Layer(1, 256, 64, 3, 1, 1, 32, ""),
    Layer(1, 256, 64, 3, 1, 1, 64, ""),
    Layer(1, 256, 64, 3, 1, 1, 128, ""),
    Layer(1, 256, 64, 3, 1, 1, 128, "relu"),
    Layer(1, 64, 64, 2, 2, 1, 128, "relu", transposed=True),
    Layer(1, 64, 1, 2, 2, 1, 256, "sigmoid", transposed=True),
)

MODELS = {"resnet50": RESNET50, "mobilenetv3_large": MOBILENETV3_LARGE, "dbnet_r18": DBNET_R18}
