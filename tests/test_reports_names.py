"""Names of a model never meet the names that the package makes: temporaries and folded weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_models import computed, make, values

from onegpu_web import InferenceSession
from onegpu_web.device import Device
from onegpu_web.graph.lowering import Step, Temporary, Value
from onegpu_web.graph.passes import simplify
from onegpu_web.graph.passes_edit import Edit
from onegpu_web.graph.reader import read_model
from onegpu_web.graph.specialise import specialise

Nodes = list[tuple[str, str, str, dict[str, Any]]]
SHAPE = (2, 3, 4)

# Operators that are several steps, so that values lie between them: nodes that make `out` of x, and outputs more.
COMPOSED: dict[str, tuple[Nodes, list[str], int]] = {
    "log_sum_exp": ([("ReduceLogSumExp", "x", "out", {"axes": [2], "keepdims": 0})], [], 17),
    "clip_by_tensors": (
        [("ReduceMin", "x", "low", {}), ("ReduceMax", "x", "high", {}), ("Neg", "low", "nl", {}),
         ("Squeeze", "nl", "lo", {}), ("Squeeze", "high", "hi", {}), ("Clip", "x lo hi", "out", {})], [], 17
    ),
    "pow_of_another_type": ([("Cast", "x", "i", {"to": 6}), ("Pow", "x i", "out", {})], [], 17),
    "sum_of_four": ([("Sum", "x x x x", "out", {})], [], 17),
    "mean_of_three": ([("Mean", "x x x", "out", {})], [], 17),
    "layer_normalization": ([("LayerNormalization", "x scale", "out mean inverse", {})], ["mean", "inverse"], 17),
    "layer_normalization_without_mean": ([("LayerNormalization", "x scale", "out  inverse", {})], ["inverse"], 17),
}  # fmt: skip
CONSTANTS = {"scale": np.array([1.0, 2.0, 0.5, 1.5], np.float32)}


def split(nodes: Nodes) -> Nodes:
    """The same with outputs left out kept, which str.split would drop."""
    return [(op, ins, outs.replace("  ", " '' "), attributes) for op, ins, outs, attributes in nodes]


def build(nodes: Nodes, more: list[str], opset: int, taken: list[str]) -> bytes:
    """A model whose further outputs are ReLUs of x with the names `taken`."""
    relus = [helper.make_node("Relu", ["x"], [name]) for name in taken]
    data = make(split(nodes), CONSTANTS, x=SHAPE, outputs=("out", *more), opset=opset)
    model = helper.onnx.load_from_string(data)
    for node in model.graph.node:
        for index, name in enumerate(node.output):
            node.output[index] = "" if name == "''" else name
    model.graph.node.extend(relus)
    infos = [helper.make_tensor_value_info(name, 1, None) for name in taken]
    model.graph.output.extend(infos)
    return model.SerializeToString()


def temporaries(data: bytes) -> list[str]:
    """How the values between a model's steps are called in messages."""
    model = read_model(data)
    graph = simplify(model.graph, model.opset)
    program = specialise(graph, model.opset, {"x": Value("x", "float32", SHAPE)})
    written = [value.name for step in program.steps if isinstance(step, Step) for value in step.writes.values()]
    return [str(name) for name in written if isinstance(name, Temporary)]


@pytest.mark.gpu
@pytest.mark.parametrize("case", COMPOSED)
def test_a_value_named_like_a_temporary_keeps_its_value(device: Device, case: str) -> None:
    nodes, more, opset = COMPOSED[case]
    taken = temporaries(build(nodes, more, opset, []))
    assert taken
    data = build(nodes, more, opset, taken)
    x = values(*SHAPE)
    session = InferenceSession.create_sync(data, device=device)
    for after, before in zip(session.run_sync(None, {"x": x}), computed(data, {"x": x}), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-6)
    session.destroy()


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["c_w", "c_b", "c_w_1", "y_w", "y_b"])
@pytest.mark.parametrize("read", [False, True])
def test_an_input_named_like_a_folded_weight_is_fed(device: Device, name: str, read: bool) -> None:
    nodes: Nodes = [("Conv", "x w", "c", {}), ("Mul", "c two", "y", {})]
    nodes += [("Neg", name, "z", {})] if read else []
    constants = {"w": values(3, 4, 1, 1), "two": np.float32(2)}
    model = helper.onnx.load_from_string(make(nodes, constants, outputs=("y", "z") if read else ("y",)))
    model.graph.input.append(helper.make_tensor_value_info(name, 1, [2]))
    data = model.SerializeToString()
    feeds = {"x": values(1, 4, 6, 5), name: np.float32([7, 8])}
    session = InferenceSession.create_sync(data, device=device)
    for after, before in zip(session.run_sync(None, feeds), computed(data, feeds), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-6)
    session.destroy()


def test_a_new_constant_knows_every_name_of_the_graph() -> None:
    inner = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["deep"])], "inner", [], [helper.make_tensor_value_info("deep", 1, None)]
    )
    data = make([("Relu", "x", "y", {})], {})
    model = helper.onnx.load_from_string(data)
    model.graph.node.append(helper.make_node("If", ["flag"], ["z"], then_branch=inner, else_branch=inner))
    model.graph.input.append(helper.make_tensor_value_info("flag", 9, []))
    model.graph.input.append(helper.make_tensor_value_info("idle", 1, [2]))
    model.graph.value_info.append(helper.make_tensor_value_info("declared", 1, [2]))
    graph = read_model(model.SerializeToString()).graph
    edit = Edit(graph)
    for name in ("x", "y", "z", "flag", "idle", "declared", "deep"):
        assert edit.add_constant(name, np.zeros(1)) == f"{name}_1"
        assert edit.add_constant(name, np.zeros(1)) == f"{name}_2"
