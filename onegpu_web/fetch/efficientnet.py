"""EfficientNet-lite0 from its PyTorch weights to ONNX (opset 13), with each BatchNormalization folded into its Conv.

Source: "EfficientNet: Rethinking Model Scaling" (Tan and Le, 2019); the lite variant of the TensorFlow TPU models,
which drops squeeze-and-excitation and uses ReLU6. Names are the checkpoint's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from onegpu_web.errors import ModelError
from onegpu_web.fetch.pth import read_pth

if TYPE_CHECKING:
    import onnx

_SIZE = 224
_CLASSES = 1000
_EPSILON = np.float32(1e-3)


@dataclass(frozen=True, slots=True)
class _Stage:
    """A run of `repeats` inverted-bottleneck blocks; only the first has `stride` and changes the channels."""

    repeats: int
    kernel: int
    stride: int
    expand: int
    channels_in: int
    channels_out: int


_STAGES = (
    _Stage(1, 3, 1, 1, 32, 16),
    _Stage(2, 3, 2, 6, 16, 24),
    _Stage(2, 5, 2, 6, 24, 40),
    _Stage(3, 3, 2, 6, 40, 80),
    _Stage(3, 5, 1, 6, 80, 112),
    _Stage(4, 5, 2, 6, 112, 192),
    _Stage(1, 3, 1, 6, 192, 320),
)


def convert(pth: Path) -> bytes:
    """The ONNX file's bytes, the same for the same checkpoint. Needs the onnx package."""
    content: bytes = to_onnx(read_pth(pth)).SerializeToString(deterministic=True)
    return content


def to_onnx(weights: Mapping[str, npt.NDArray[Any]]) -> onnx.ModelProto:
    """The model: input (N, 3, 224, 224) float32, RGB as (x - 127) / 128; output probabilities (N, 1000)."""
    import onnx
    from onnx import TensorProto, helper

    network = _Network(weights)
    last = network.build()
    graph = helper.make_graph(
        network.nodes,
        "efficientnet_lite0",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N", 3, _SIZE, _SIZE])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["N", _CLASSES])],
        network.initializers,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="onegpu_web-effnet-lite0-convert"
    )
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


@dataclass(slots=True)
class _Network:
    """Nodes and initializers as they are added, and the present height (= width) of the feature map."""

    weights: Mapping[str, npt.NDArray[Any]]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)
    size: int = _SIZE

    def build(self) -> str:
        self._constant("six_lo", np.asarray(0, np.float32))
        self._constant("six_hi", np.asarray(6, np.float32))
        x = self._conv("input", "_conv_stem", "_bn0", stride=2)
        block = 0
        for stage in _STAGES:
            for repeat in range(stage.repeats):
                x = self._block(x, f"_blocks.{block}.", stage, first=repeat == 0)
                block += 1
        x = self._conv(x, "_conv_head", "_bn1")
        self._node("GlobalAveragePool", [x], "gap")
        self._node("Flatten", ["gap"], "flat", axis=1)
        weight = self._constant("fc.w", self._weight("_fc.weight"))
        bias = self._constant("fc.b", self._weight("_fc.bias"))
        self._node("Gemm", ["flat", weight, bias], "logits", transB=1)
        return self._node("Softmax", ["logits"], "probabilities", axis=1)

    def _block(self, x: str, prefix: str, stage: _Stage, *, first: bool) -> str:
        stride = stage.stride if first else 1
        channels_in = stage.channels_in if first else stage.channels_out
        identity, channels = x, channels_in * stage.expand
        if stage.expand != 1:
            x = self._conv(x, f"{prefix}_expand_conv", f"{prefix}_bn0")
        x = self._conv(x, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride=stride, group=channels)
        x = self._conv(x, f"{prefix}_project_conv", f"{prefix}_bn2", activate=False)
        if stride == 1 and channels_in == stage.channels_out:
            x = self._node("Add", [x, identity], f"{prefix}sum")
        return x

    def _conv(self, x: str, name: str, norm: str, *, stride: int = 1, group: int = 1, activate: bool = True) -> str:
        """A Conv with TensorFlow's SAME padding (the odd pixel at the end), the norm folded in, and ReLU6."""
        w = self._weight(f"{name}.weight")
        kernel = w.shape[2]
        out = -(-self.size // stride)
        total = max((out - 1) * stride + kernel - self.size, 0)
        pads = [total // 2, total // 2, total - total // 2, total - total // 2]
        gamma, beta, mean, variance = (
            self._weight(f"{norm}.{part}") for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = gamma / np.sqrt(variance + _EPSILON)
        folded = self._constant(f"{name}.w", w * scale[:, None, None, None])
        bias = self._constant(f"{name}.b", beta - mean * scale)
        attributes: dict[str, Any] = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": pads}
        y = self._node("Conv", [x, folded, bias], f"{name}_o", name=name, group=group, **attributes)
        self.size = out
        return self._node("Clip", [y, "six_lo", "six_hi"], f"{y}r") if activate else y

    def _weight(self, name: str) -> npt.NDArray[Any]:
        if name not in self.weights:
            raise ModelError(f"efficientnet: the checkpoint must hold {name}; it has {len(self.weights)} other tensors")
        weight = self.weights[name]
        if weight.dtype != np.float32:
            raise ModelError(f"efficientnet: {name} must be float32, got {weight.dtype}")
        return weight

    def _constant(self, name: str, value: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name))
        return name

    def _node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output
