"""The models as the set-up left them, and the conversion of EfficientNet-lite0 against its unfolded definition."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from PIL import Image

from onegpu_web import fetch
from onegpu_web.errors import ModelError
from onegpu_web.fetch import cache, catalog, efficientnet

Weights = dict[str, npt.NDArray[Any]]

# (repeats, kernel, expansion, channels in, channels out), from the EfficientNet paper's table of B0.
B0 = [
    (1, 3, 1, 32, 16),
    (2, 3, 6, 16, 24),
    (2, 5, 6, 24, 40),
    (3, 3, 6, 40, 80),
    (3, 5, 6, 80, 112),
    (4, 5, 6, 112, 192),
    (1, 3, 6, 192, 320),
]


def convolutions() -> Iterator[tuple[str, str, tuple[int, int, int, int]]]:
    """(convolution, its norm, weight shape), as the checkpoint names them."""
    yield "_conv_stem", "_bn0", (32, 3, 3, 3)
    block = 0
    for repeats, kernel, expansion, channels_in, channels_out in B0:
        for _ in range(repeats):
            prefix, wide = f"_blocks.{block}.", channels_in * expansion
            if expansion != 1:
                yield f"{prefix}_expand_conv", f"{prefix}_bn0", (wide, channels_in, 1, 1)
            yield f"{prefix}_depthwise_conv", f"{prefix}_bn1", (wide, 1, kernel, kernel)
            yield f"{prefix}_project_conv", f"{prefix}_bn2", (channels_out, wide, 1, 1)
            channels_in = channels_out
            block += 1
    yield "_conv_head", "_bn1", (1280, 320, 1, 1)


@pytest.fixture(scope="module")
def weights() -> Weights:
    draw = np.random.default_rng(314)
    made: Weights = {}
    for conv, norm, shape in convolutions():
        fan_in = shape[1] * shape[2] * shape[3]
        made[f"{conv}.weight"] = draw.normal(0, (2 / fan_in) ** 0.5, shape).astype(np.float32)
        for part, low, high in (("weight", 0.5, 1.5), ("bias", -0.2, 0.2), ("running_mean", -0.2, 0.2)):
            made[f"{norm}.{part}"] = draw.uniform(low, high, shape[0]).astype(np.float32)
        made[f"{norm}.running_var"] = draw.uniform(0.5, 2, shape[0]).astype(np.float32)
    made["_fc.weight"] = draw.normal(0, 0.03, (1000, 1280)).astype(np.float32)
    made["_fc.bias"] = draw.normal(0, 0.03, 1000).astype(np.float32)
    return made


@pytest.fixture(scope="module")
def converted(weights: Weights) -> onnx.ModelProto:
    return efficientnet.to_onnx(weights)


def unfolded(model: onnx.ModelProto, weights: Weights) -> onnx.ModelProto:
    """The model with the checkpoint's own weights and a BatchNormalization after each convolution."""
    norms = {conv: norm for conv, norm, _ in convolutions()}
    plain = onnx.ModelProto()
    plain.CopyFrom(model)
    del plain.graph.node[:]
    for node in model.graph.node:
        if node.op_type != "Conv":
            plain.graph.node.append(node)
            continue
        conv, norm = onnx.NodeProto(), norms[node.name]
        conv.CopyFrom(node)
        del conv.input[1:]
        conv.input.append(f"{node.name}.weight")
        conv.output[0] = f"{node.output[0]}.plain"
        inputs = [f"{norm}.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
        normalize = helper.make_node("BatchNormalization", [conv.output[0], *inputs], [node.output[0]], epsilon=1e-3)
        plain.graph.node.extend([conv, normalize])
    names = {name for conv, norm in norms.items() for name in weights if name.startswith((f"{conv}.", f"{norm}."))}
    plain.graph.initializer.extend(numpy_helper.from_array(weights[name], name) for name in sorted(names))
    return plain


def run(model: bytes, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"input": x})
    return np.asarray(y)


def test_folding_the_norms_changes_no_result(weights: Weights, converted: onnx.ModelProto) -> None:
    x = np.random.default_rng(0).normal(0, 1, (2, 3, 224, 224)).astype(np.float32)
    folded, plain = run(converted.SerializeToString(), x), run(unfolded(converted, weights).SerializeToString(), x)
    assert plain.std() > 1e-4
    np.testing.assert_allclose(folded, plain, rtol=0, atol=1e-5 * np.abs(plain).max())


def test_the_converted_graph_has_the_networks_structure(converted: onnx.ModelProto) -> None:
    counts = Counter(node.op_type for node in converted.graph.node)
    # 16 blocks: 15 of three convolutions, one of two, stem and head. 9 of them have stride 1 and equal channels.
    assert counts == Counter(Conv=49, Clip=33, Add=9, GlobalAveragePool=1, Flatten=1, Gemm=1, Softmax=1)
    strided = [node for node in converted.graph.node for a in node.attribute if a.name == "strides" and a.ints[0] == 2]
    pads = [list(a.ints) for node in strided for a in node.attribute if a.name == "pads"]
    assert pads == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 2, 2], [0, 0, 1, 1], [1, 1, 2, 2]]


def test_conversion_is_deterministic(weights: Weights, converted: onnx.ModelProto) -> None:
    again = efficientnet.to_onnx(dict(reversed(weights.items())))
    assert again.SerializeToString(deterministic=True) == converted.SerializeToString(deterministic=True)


@pytest.mark.parametrize("change", ["missing", "double"])
def test_a_checkpoint_of_another_network_is_refused(weights: Weights, change: str) -> None:
    name = "_blocks.3._project_conv.weight"
    other = {key: value for key, value in weights.items() if key != name}
    if change == "double":
        other[name] = weights[name].astype(np.float64)
    with pytest.raises(ModelError, match=name):
        efficientnet.to_onnx(other)


@pytest.mark.parametrize("file", catalog.MODELS + catalog.PICTURES, ids=lambda file: file.name)
def test_the_cached_file_has_the_catalogs_bytes(file: catalog.File) -> None:
    assert cache.fault(file, thorough=True) is None


@pytest.mark.parametrize(
    ("picture", "label"), [("coffee.png", "espresso"), ("chelsea.png", "Egyptian cat"), ("rocket.jpg", "missile")]
)
def test_the_real_classifier_knows_the_pictures(picture: str, label: str) -> None:
    with Image.open(fetch.path(picture)) as image:
        pixels = np.asarray(image.convert("RGB").resize((224, 224), Image.Resampling.BICUBIC), np.float32)
    x = ((pixels - 127) / 128).transpose(2, 0, 1)[None]
    probabilities = run(fetch.path("efficientnet_lite0.onnx").read_bytes(), np.ascontiguousarray(x))[0]
    labels = json.loads(fetch.path("imagenet_labels.json").read_text(encoding="utf-8"))
    assert len(labels) == len(probabilities) == 1000
    top = [labels[index] for index in np.argsort(-probabilities)[:5]]
    assert any(label in name for name in top), top
