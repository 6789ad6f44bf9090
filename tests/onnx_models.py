"""Small ONNX models from lists of nodes, and the check that simplifying one keeps what it computes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from onegpu_web.graph.model import Graph, Model, Node
from onegpu_web.graph.order import ordered
from onegpu_web.graph.passes import simplify
from onegpu_web.graph.reader import read_model

SCALED_ERROR = 3e-6  # folding rounds weights once more than the original did


def make(nodes, constants, *, x=(1, 4, 6, 5), outputs=("y",), opset=17, dtype=np.float32) -> bytes:
    """An ONNX file from (op_type, inputs, outputs, attributes) and arrays; its input is x."""
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node(op, ins.split(), outs.split(), **attributes) for op, ins, outs, attributes in nodes],
        "main",
        [helper.make_tensor_value_info("x", code, x)],
        [helper.make_tensor_value_info(name, code, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model.SerializeToString()


# What the fused operators stand for, in operators that every opset has.
def spelled_out(node: Node) -> list[onnx.NodeProto]:
    (x,), (y,), name = node.inputs[:1], node.outputs[:1], node.outputs[0]
    mul = helper.make_node("Mul", [x, f"{name}_gate"], [y])
    if node.op_type == "Silu":
        return [helper.make_node("Sigmoid", [x], [f"{name}_gate"]), mul]
    if node.op_type == "HardSwish":
        return [helper.make_node("HardSigmoid", [x], [f"{name}_gate"], alpha=1 / 6, beta=0.5), mul]
    if node.op_type == "Mish":
        soft = helper.make_node("Softplus", [x], [f"{name}_soft"])
        return [soft, helper.make_node("Tanh", [f"{name}_soft"], [f"{name}_gate"]), mul]
    assert node.op_type == "Gelu"
    constants = {"root": 2.0**0.5, "one": 1.0, "half": 0.5}
    return [
        *(
            helper.make_node("Constant", [], [f"{name}_{key}"], value=numpy_helper.from_array(np.float32(value)))
            for key, value in constants.items()
        ),
        helper.make_node("Div", [x, f"{name}_root"], [f"{name}_d"]),
        helper.make_node("Erf", [f"{name}_d"], [f"{name}_e"]),
        helper.make_node("Add", [f"{name}_e", f"{name}_one"], [f"{name}_a"]),
        helper.make_node("Mul", [f"{name}_a", f"{name}_half"], [f"{name}_gate"]),
        mul,
    ]


def to_onnx(model: Model, graph: Graph) -> bytes:
    nodes = []
    for node in graph.nodes:
        if node.op_type in ("Silu", "HardSwish", "Mish", "Gelu"):
            nodes += spelled_out(node)
            continue
        attributes = {
            name: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
            for name, value in node.attributes.items()
        }
        nodes.append(
            helper.make_node(node.op_type, node.inputs, node.outputs, node.name, domain=node.domain, **attributes)
        )
    values = [
        [
            helper.make_tensor_value_info(i.name, helper.np_dtype_to_tensor_dtype(np.dtype(i.dtype)), i.shape)
            for i in infos
        ]
        for infos in (graph.inputs, graph.outputs)
    ]
    constants = [numpy_helper.from_array(value, name) for name, value in graph.initializers.items()]
    made = helper.make_graph(nodes, graph.name, *values, constants)
    opsets = [helper.make_opsetid("", model.opset)]
    return helper.make_model(made, opset_imports=opsets, ir_version=8).SerializeToString()


def computed(data: bytes, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def check(data: bytes, feeds: dict[str, np.ndarray] | None = None, tolerance: float = SCALED_ERROR) -> Graph:
    """The simplified graph, once it is known to be sound and to compute the same."""
    model = read_model(data)
    graph = simplify(model.graph, model.opset)
    ordered(graph)
    assert [info.name for info in graph.outputs] == [info.name for info in model.graph.outputs]
    assert simplify(graph, model.opset) is graph
    if feeds is None:
        (info,) = model.graph.inputs
        feeds = {info.name: values(*info.shape, dtype=info.dtype)}
    for after, before in zip(computed(to_onnx(model, graph), feeds), computed(data, feeds), strict=True):
        assert (after.dtype, after.shape) == (before.dtype, before.shape)
        wide = before.astype(np.float64)
        assert np.abs(after.astype(np.float64) - wide).max(initial=0) <= tolerance * np.abs(wide).max(initial=1e-30)
    return graph


def kinds(graph: Graph) -> dict[str, int]:
    return dict(Counter(node.operator for node in graph.nodes))


def values(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Normal values, the same ones for a shape in every test."""
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


def positive(*shape: int) -> np.ndarray:
    """Values of 0.5 to 2, the same ones for a shape in every test."""
    return np.random.default_rng(shape).uniform(0.5, 2, shape).astype(np.float32)
