"""Steps fused into matrix products: an addend as bias, then an activation."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import make

from onegpu_web import InferenceSession
from onegpu_web.device import Device
from onegpu_web.graph.fusion import fuse
from onegpu_web.graph.lowering import Step, Value
from onegpu_web.graph.reader import read_model
from onegpu_web.graph.specialise import specialise

NODES = [
    ("MatMul", "x w", "p", {}),
    ("Add", "p c", "s", {}),
    ("Relu", "s", "y", {}),
]


def _steps(model: bytes, shape: tuple[int, ...]) -> list[str]:
    program = fuse(specialise(read_model(model).graph, 17, {"x": Value("x", "float32", shape)}))
    return [step.family.name for step in program.steps if isinstance(step, Step)]


@pytest.mark.parametrize(
    ("x", "c", "steps"),
    [
        ((2, 5, 8), (6,), ["matmul"]),
        ((2, 5, 8), (1, 1, 6), ["matmul"]),
        ((1, 5, 8), (5, 6), ["matmul"]),
        ((2, 5, 8), (5, 6), ["matmul", "binary"]),
        ((5, 8), (3, 5, 6), ["matmul", "binary"]),
    ],
)
def test_an_addend_becomes_the_bias(device: Device, x: tuple[int, ...], c: tuple[int, ...], steps: list[str]) -> None:
    rng = np.random.default_rng(0)
    w, addend = rng.standard_normal((8, 6), np.float32), rng.standard_normal(c, np.float32)
    model, feed = make(NODES, {"w": w, "c": addend}, x=x), rng.standard_normal(x, np.float32)
    assert _steps(model, x) == steps
    session = InferenceSession.create_sync(model, device=device)
    try:
        (y,) = session.run_sync(None, {"x": feed})
    finally:
        session.destroy()
    np.testing.assert_allclose(y, np.maximum(feed @ w + addend, 0), rtol=1e-5, atol=1e-5)


def test_a_product_that_is_also_an_output_keeps_its_addend_apart() -> None:
    model = make(NODES, {"w": np.ones((8, 6), np.float32), "c": np.ones(6, np.float32)}, x=(5, 8), outputs=("y", "p"))
    assert _steps(model, (5, 8)) == ["matmul", "binary"]


@pytest.mark.parametrize(
    ("operator", "attributes", "steps"),
    [
        ("Relu", {}, ["conv"]),
        ("Sigmoid", {}, ["conv"]),
        ("Tanh", {}, ["conv"]),
        ("HardSigmoid", {"alpha": 0.25}, ["conv"]),
        ("HardSwish", {}, ["conv"]),
        ("LeakyRelu", {"alpha": 0.2}, ["conv"]),
        ("Erf", {}, ["conv", "unary"]),
        ("Softplus", {}, ["conv", "unary"]),
    ],
)
def test_an_activation_of_a_convolution_is_fused_or_one_more_pass(
    operator: str, attributes: dict[str, float], steps: list[str]
) -> None:
    nodes = [("Conv", "x w b", "c", {}), ("Add", "c r", "s", {}), (operator, "s", "y", attributes)]
    shape, rng = (1, 3, 4, 5), np.random.default_rng(0)
    constants = {
        "w": rng.standard_normal((6, 3, 1, 1), np.float32),
        "b": rng.standard_normal(6, np.float32),
        "r": rng.standard_normal((1, 6, 4, 5), np.float32),
    }
    assert _steps(make(nodes, constants, x=shape), shape) == steps
