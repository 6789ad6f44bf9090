"""Every pass: the operators it leaves, and that onnxruntime computes the same before and after."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from onegpu_web.errors import ModelError, UnsupportedError
from onegpu_web.graph.model import Graph, Model, Node
from onegpu_web.graph.order import ordered
from onegpu_web.graph.passes import find_unsupported, simplify
from onegpu_web.graph.passes_fold import fold_constants
from onegpu_web.graph.reader import read_model

SCALED_ERROR = 3e-6  # folding rounds weights once more than the original did
RNG = np.random.default_rng(3)


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
        feeds = {info.name: RNG.standard_normal(info.shape).astype(info.dtype)}
    for after, before in zip(computed(to_onnx(model, graph), feeds), computed(data, feeds), strict=True):
        assert (after.dtype, after.shape) == (before.dtype, before.shape)
        wide = before.astype(np.float64)
        assert np.abs(after.astype(np.float64) - wide).max(initial=0) <= tolerance * np.abs(wide).max(initial=1e-30)
    return graph


def kinds(graph: Graph) -> dict[str, int]:
    return dict(Counter(node.operator for node in graph.nodes))


def values(*shape, dtype=np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def positive(*shape) -> np.ndarray:
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


def test_identities_dropouts_and_idle_casts_go():
    graph = check(
        make(
            [("Identity", "x", "a", {}), ("Identity", "a", "b", {}), ("Relu", "b", "c", {}), ("Dropout", "c", "d", {}),
             ("Cast", "d", "e", {"to": 1}), ("Cast", "e", "f", {"to": 1}), ("Identity", "f", "y", {})],
            {},
        )
    )  # fmt: skip
    assert kinds(graph) in ({"Relu": 1}, {"Relu": 1, "Cast": 1})


def test_an_identity_between_input_and_output_stays():
    assert kinds(check(make([("Identity", "x", "y", {})], {}))) == {"Identity": 1}


def test_two_outputs_of_one_value_keep_their_names():
    data = make(
        [("Relu", "x", "r", {}), ("Identity", "r", "y", {}), ("Identity", "r", "z", {})], {}, outputs=("y", "z")
    )
    assert kinds(check(data)) == {"Relu": 1, "Identity": 1}


def test_a_dropout_whose_mask_is_read_stays():
    data = make([("Dropout", "x", "d m", {}), ("Cast", "m", "f", {"to": 1}), ("Add", "d f", "y", {})], {})
    assert kinds(check(data)) == {"Dropout": 1, "Cast": 1, "Add": 1}


def test_dead_nodes_and_weights_go():
    graph = check(
        make([("Relu", "x", "y", {}), ("Add", "x w", "dead", {}), ("Exp", "dead", "end", {})], {"w": values(5)})
    )
    assert kinds(graph) == {"Relu": 1}
    assert not graph.initializers


def test_8_bit_weights_fold_to_floats():
    weight = RNG.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8)
    graph = check(
        make(
            [("Cast", "w8", "wf", {"to": 1}), ("Mul", "wf s", "w", {}),
             ("DequantizeLinear", "b8 bs", "b", {}), ("Conv", "x w b", "y", {})],
            {"w8": weight, "s": positive(6, 1, 1, 1) / 127, "b8": np.arange(6, dtype=np.int8), "bs": np.float32(0.1)},
        )
    )  # fmt: skip
    assert kinds(graph) == {"Conv": 1}
    assert set(graph.initializers) == {"w", "b"}
    assert not graph.initializers["w"].flags.writeable


def test_shape_arithmetic_folds():
    graph = check(
        make(
            [("Constant", "", "shape", {"value_ints": [1, 4, -1]}), ("Gather", "shape at", "part", {}),
             ("Concat", "one part last", "target", {"axis": 0}), ("Reshape", "x target", "y", {})],
            {"at": np.array([1], np.int64), "one": np.array([1], np.int64), "last": np.array([-1], np.int64)},
        )
    )  # fmt: skip
    assert kinds(graph) == {"Reshape": 1}
    np.testing.assert_array_equal(graph.initializers["target"], [1, 4, -1])


def test_a_constant_output_becomes_an_initializer():
    graph = check(
        make([("Constant", "", "y", {"value_floats": [1.0, 2.0]}), ("Relu", "x", "z", {})], {}, outputs=("y", "z"))
    )
    assert kinds(graph) == {"Relu": 1}
    np.testing.assert_array_equal(graph.initializers["y"], np.array([1, 2], np.float32))


def bomb(count: int, size: int) -> Graph:
    nodes = [("ConstantOfShape", "n", f"c{index}", {}) for index in range(count)]
    data = make([*nodes, ("Sum", " ".join(f"c{index}" for index in range(count)), "s", {}), ("Add", "x s", "y", {})],
                {"n": np.array([size], np.int64)})  # fmt: skip
    return read_model(data).graph


def test_constants_that_would_fill_memory_are_refused():
    with pytest.raises(UnsupportedError, match=r"ConstantOfShape 'c0': a constant of 1073741824 bytes is the most"):
        simplify(bomb(1, 1 << 50), 17)
    with pytest.raises(UnsupportedError, match="'c2': the model's computed constants exceed 9000 bytes"):
        fold_constants(bomb(5, 1000), 17, limit_bytes=9000)
    assert len(fold_constants(bomb(5, 1000), 17, limit_bytes=20000).nodes) == 1


def test_constants_that_cannot_be_computed_are_refused():
    data = make([("Reshape", "w s", "r", {}), ("Add", "x r", "y", {})], {"w": values(5), "s": np.array([4], np.int64)})
    model = read_model(data)
    with pytest.raises(ModelError, match="cannot take shape"):
        simplify(model.graph, model.opset)


NORM = {"s": positive(6), "t": values(6), "m": values(6), "v": positive(6)}


@pytest.mark.parametrize("bias", ["", " b"], ids=["bare", "bias"])
@pytest.mark.parametrize(
    ("op_type", "weight", "attributes"),
    [
        ("Conv", (6, 4, 3, 3), {"pads": [1, 1, 1, 1]}),
        ("Conv", (6, 2, 3, 1), {"group": 2}),
        ("ConvTranspose", (4, 6, 2, 2), {"strides": [2, 2]}),
        ("ConvTranspose", (4, 3, 3, 3), {"group": 2, "strides": [2, 1]}),
    ],
    ids=["conv", "grouped", "transposed", "transposed-grouped"],
)
def test_batch_normalization_folds_into_convolutions(op_type, weight, attributes, bias):
    nodes = [(op_type, f"x w{bias}", "c", attributes), ("BatchNormalization", "c s t m v", "y", {"epsilon": 1e-3})]
    graph = check(make(nodes, {"w": values(*weight), "b": values(6), **NORM}))
    assert kinds(graph) == {op_type: 1}
    assert len(graph.initializers) == 2


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("bias", [None, (6,), (1, 6), (1,)], ids=str)
def test_batch_normalization_folds_into_gemm(transposed, bias):
    weight = values(6, 5) if transposed else values(5, 6)
    constants = {"w": weight, **NORM} | ({} if bias is None else {"b": values(*bias)})
    attributes = {"transB": transposed, "alpha": 0.7, "beta": 1.3}
    nodes = [("Gemm", "x w" + (" b" if bias else ""), "c", attributes), ("BatchNormalization", "c s t m v", "y", {})]
    assert kinds(check(make(nodes, constants, x=(3, 5)))) == {"Gemm": 1}


def test_batch_normalization_of_a_shared_result_stays():
    nodes = [("Conv", "x w", "c", {}), ("BatchNormalization", "c s t m v", "n", {}), ("Add", "c n", "y", {})]
    assert kinds(check(make(nodes, {"w": values(6, 4, 1, 1), **NORM}))) == {
        "Conv": 1,
        "BatchNormalization": 1,
        "Add": 1,
    }


def test_shared_weights_are_folded_for_each_reader_apart():
    nodes = [("Conv", "x w", "c", {}), ("BatchNormalization", "c s t m v", "n", {}), ("Conv", "x w", "d", {}),
             ("Add", "d n", "y", {})]  # fmt: skip
    graph = check(make(nodes, {"w": values(6, 4, 1, 1), **NORM}))
    assert kinds(graph) == {"Conv": 2, "Add": 1}


def test_half_weights_round_once_to_half():
    constants = {name: value.astype(np.float16) for name, value in {"w": values(6, 4, 3, 3), **NORM}.items()}
    nodes = [("Conv", "x w", "c", {}), ("BatchNormalization", "c s t m v", "y", {})]
    graph = check(make(nodes, constants, dtype=np.float16), tolerance=2e-3)
    assert kinds(graph) == {"Conv": 1}
    factor = constants["s"].astype(np.float64) / np.sqrt(constants["v"].astype(np.float64) + float(np.float32(1e-5)))
    expected = (constants["w"].astype(np.float64) * factor[:, None, None, None]).astype(np.float16)
    (weight,) = (value for value in graph.initializers.values() if value.ndim == 4)
    np.testing.assert_array_equal(weight, expected)


@pytest.mark.parametrize("op_type", ["Mul", "Add", "Sub", "Div"])
@pytest.mark.parametrize("shape", [(), (1,), (6, 1, 1), (1, 6, 1, 1), (1, 1, 1, 1)], ids=str)
def test_steps_per_channel_fold(op_type, shape):
    nodes = [("Conv", "x w b", "c", {}), (op_type, "c k", "y", {})]
    graph = check(make(nodes, {"w": values(6, 4, 3, 3), "b": values(6), "k": positive(*shape)}))
    assert kinds(graph) == {"Conv": 1}


@pytest.mark.parametrize("op_type", ["Mul", "Add"])
def test_steps_fold_from_the_left_and_in_chains(op_type):
    nodes = [("ConvTranspose", "x w", "c", {"group": 2}), (op_type, "k c", "d", {}), ("Add", "d j", "e", {}),
             ("Mul", "e k", "y", {})]  # fmt: skip
    graph = check(make(nodes, {"w": values(4, 3, 3, 3), "k": positive(6, 1, 1), "j": values(1, 6, 1, 1)}))
    assert kinds(graph) == {"ConvTranspose": 1}


@pytest.mark.parametrize(
    ("op_type", "inputs", "shape"),
    [("Add", "c k", (5,)), ("Add", "c k", (4, 1)), ("Mul", "c k", (1, 1, 6, 1, 1)), ("Sub", "k c", (6, 1, 1)),
     ("Div", "k c", (1,)), ("Add", "c k", (2, 6, 1, 1))],
    ids=["width", "height", "rank", "from", "by", "batch"],
)  # fmt: skip
def test_other_steps_stay(op_type, inputs, shape):
    nodes = [("Conv", "x w", "c", {"pads": [0, 0, 0, 0]}), (op_type, inputs, "y", {})]
    graph = check(make(nodes, {"w": values(6, 4, 3, 1), "k": values(*shape)}), tolerance=1e-4)
    assert kinds(graph) == {"Conv": 1, op_type: 1}


def test_division_by_a_zero_channel_stays():
    k = positive(6, 1, 1)
    k[2] = 0
    model = read_model(make([("Conv", "x w", "c", {}), ("Div", "c k", "y", {})], {"w": values(6, 4, 1, 1), "k": k}))
    assert kinds(simplify(model.graph, model.opset)) == {"Conv": 1, "Div": 1}


@pytest.mark.parametrize(
    ("opset", "inputs", "attributes"),
    [(9, "x", {"pads": [0, 0, 1, 2, 0, 0, 0, 3]}), (17, "x p", {}), (17, "x p zero", {}), (20, "x q  axes", {})],
    ids=["attribute", "input", "value", "axes"],
)
def test_zero_padding_moves_into_the_convolution(opset, inputs, attributes):
    nodes = [("Pad", inputs, "p1", attributes), ("Conv", "p1 w", "y", {"pads": [1, 0, 1, 0], "strides": [2, 2]})]
    constants = {"w": values(6, 4, 3, 3), "p": np.array([0, 0, 1, 2, 0, 0, 0, 3], np.int64), "zero": np.float32(0),
                 "q": np.array([2, 1, 3, 0], np.int64), "axes": np.array([-1, 2], np.int64)}  # fmt: skip
    data = make(nodes, constants, opset=opset)
    if "axes" in inputs:  # str.split loses the input that is left out
        model = onnx.load_model_from_string(data)
        model.graph.node[0].input[:] = ["x", "q", "", "axes"]
        data = model.SerializeToString()
    graph = check(data)
    assert kinds(graph) == {"Conv": 1}
    assert graph.nodes[0].attributes["pads"] == [2, 2, 1, 3]


@pytest.mark.parametrize(
    ("attributes", "pads", "value"),
    [({"mode": "edge"}, [0, 0, 1, 1, 0, 0, 1, 1], 0), ({}, [0, 0, 1, 1, 0, 0, 1, 1], 2),
     ({}, [0, 0, -1, 0, 0, 0, 0, 0], 0), ({}, [0, 1, 0, 0, 0, 1, 0, 0], 0)],
    ids=["edge", "value", "crop", "channels"],
)  # fmt: skip
def test_other_padding_stays(attributes, pads, value):
    nodes = [("Pad", "x p v", "p1", attributes), ("Conv", "p1 w", "y", {})]
    channels = 4 + pads[1] + pads[5]
    constants = {"w": values(6, channels, 3, 3), "p": np.array(pads, np.int64), "v": np.float32(value)}
    assert kinds(check(make(nodes, constants))) == {"Pad": 1, "Conv": 1}


ROOT, HALF = np.float32(2**0.5), np.float32(0.5)
GELU = [("Div", "x root", "d", {}), ("Erf", "d", "e", {}), ("Add", "e one", "a", {})]
GELU_CONSTANTS = {"root": ROOT, "inverse": np.float32(0.5**0.5), "one": np.float32(1), "half": HALF}


@pytest.mark.parametrize(
    "nodes",
    [
        [*GELU, ("Mul", "x a", "m", {}), ("Mul", "m half", "y", {})],
        [*GELU, ("Mul", "a half", "m", {}), ("Mul", "x m", "y", {})],
        [*GELU, ("Mul", "half x", "h", {}), ("Mul", "h a", "y", {})],
        [("Mul", "inverse x", "d", {}), GELU[1], ("Add", "one e", "a", {}), ("Mul", "a x", "m", {}),
         ("Mul", "half m", "y", {})],
    ],
    ids=["x-first", "half-first", "half-apart", "product"],
)  # fmt: skip
def test_gelu_is_recognised(nodes):
    assert kinds(check(make(nodes, GELU_CONSTANTS))) == {"Gelu": 1}


def test_gelu_of_half_is_recognised():
    constants = {name: value.astype(np.float16) for name, value in GELU_CONSTANTS.items()}
    model = read_model(make([*GELU, ("Mul", "x a", "m", {}), ("Mul", "m half", "y", {})], constants, dtype=np.float16))
    assert kinds(simplify(model.graph, model.opset)) == {"Gelu": 1}


@pytest.mark.parametrize(
    ("change", "outputs"),
    [({"half": np.float32(0.4)}, ("y",)), ({"one": np.float32(2)}, ("y",)), ({"root": np.float32(1.4)}, ("y",)),
     ({}, ("y", "e")), ({"half": np.full((1, 1, 1, 1, 1), 0.5, np.float32)}, ("y",))],
    ids=["half", "one", "root", "read-elsewhere", "rank"],
)  # fmt: skip
def test_what_only_looks_like_gelu_stays(change, outputs):
    data = make([*GELU, ("Mul", "x a", "m", {}), ("Mul", "m half", "y", {})], GELU_CONSTANTS | change, outputs=outputs)
    assert kinds(check(data)) == {"Div": 1, "Erf": 1, "Add": 1, "Mul": 2}


@pytest.mark.parametrize(
    ("gate", "kind"),
    [
        ([("Sigmoid", "x", "g", {})], "onegpu.Silu"),
        ([("HardSigmoid", "x", "g", {"alpha": 1 / 6, "beta": 0.5})], "HardSwish"),
        ([("Softplus", "x", "s", {}), ("Tanh", "s", "g", {})], "Mish"),
    ],
    ids=["silu", "hard-swish", "mish"],
)
@pytest.mark.parametrize("inputs", ["x g", "g x"])
def test_gates_are_recognised(gate, kind, inputs):
    assert kinds(check(make([*gate, ("Mul", inputs, "y", {})], {}))) == {kind: 1}


@pytest.mark.parametrize(
    ("gate", "outputs"),
    [
        (("HardSigmoid", "x", "g", {"alpha": 0.2}), ("y",)),
        (("Sigmoid", "x", "g", {}), ("y", "g")),
        (("Tanh", "x", "g", {}), ("y",)),
    ],
    ids=["alpha", "read-elsewhere", "tanh"],
)
def test_other_gates_stay(gate, outputs):
    assert kinds(check(make([gate, ("Mul", "x g", "y", {})], {}, outputs=outputs))) == {gate[0]: 1, "Mul": 1}


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ([0, 3, 1, 2], [0, 2, 3, 1], {"Relu": 1}),
        ([0, 3, 1, 2], [0, 3, 1, 2], {"Relu": 1, "Transpose": 1}),
        (None, [3, 2, 1, 0], {"Relu": 1}),
        ([3, 1, 0, 2], None, {"Relu": 1, "Transpose": 1}),
    ],
    ids=["cancel", "merge", "default-first", "default-second"],
)
def test_transposes_in_a_row_become_one(first, second, left):
    attributes = [{} if perm is None else {"perm": perm} for perm in (first, second)]
    nodes = [("Relu", "x", "r", {}), ("Transpose", "r", "t", attributes[0]), ("Transpose", "t", "y", attributes[1])]
    assert kinds(check(make(nodes, {}))) == left


def test_a_transpose_read_elsewhere_stays_for_that_reader():
    nodes = [("Transpose", "x", "t", {"perm": [0, 2, 3, 1]}), ("Transpose", "t", "u", {"perm": [0, 3, 1, 2]}),
             ("Relu", "u", "y", {}), ("Exp", "t", "z", {})]  # fmt: skip
    assert kinds(check(make(nodes, {}, outputs=("y", "z")))) == {"Transpose": 1, "Relu": 1, "Exp": 1}


@pytest.mark.parametrize(
    ("nodes", "left"),
    [
        ([("Reshape", "x s", "r", {}), ("Reshape", "r t", "y", {})], {"Reshape": 1}),
        ([("Flatten", "x", "f", {}), ("Unsqueeze", "f at", "u", {}), ("Reshape", "u t", "y", {})], {"Reshape": 1}),
        ([("Reshape", "x s", "r", {}), ("Reshape", "r zero", "y", {})], {"Reshape": 2}),
    ],
    ids=["reshapes", "flatten", "copied-extent"],
)
def test_reshapes_in_a_row_become_one(nodes, left):
    constants = {"s": [2, -1], "t": [5, 4, -1], "zero": [0, 4, -1], "at": [0]}
    graph = check(make(nodes, {name: np.array(value, np.int64) for name, value in constants.items()}))
    assert kinds(graph) == left


def test_values_that_a_subgraph_reads_keep_their_names():
    then = helper.make_graph(
        [helper.make_node("Neg", ["i"], ["t"])], "then", [], [helper.make_tensor_value_info("t", 1, None)]
    )
    other = helper.make_graph(
        [helper.make_node("Add", ["i", "w"], ["e"])], "else", [], [helper.make_tensor_value_info("e", 1, None)]
    )
    data = make([("Relu", "x", "r", {}), ("Identity", "r", "i", {}), ("ReduceMax", "r", "k", {"keepdims": 0})],
                {"w": values(5)}, outputs=("k",))  # fmt: skip
    proto = onnx.load_model_from_string(data)
    proto.graph.node.append(helper.make_node("Cast", ["k"], ["b"], to=TensorProto.BOOL))
    proto.graph.node.append(helper.make_node("If", ["b"], ["y"], then_branch=then, else_branch=other))
    proto.graph.output.append(helper.make_tensor_value_info("y", 1, None))
    model = read_model(proto.SerializeToString())
    graph = simplify(model.graph, model.opset)
    ordered(graph)  # finds a capture that nothing defines
    assert kinds(graph) == {"Relu": 1, "ReduceMax": 1, "Cast": 1, "If": 1}
    assert "w" in graph.initializers


def test_every_missing_operator_is_listed_with_its_count():
    nodes = [("Relu", "x", "a", {}), ("Erf", "a", "b", {}), ("Erf", "b", "c", {}), ("LSTM", "c", "y", {})]
    graph = read_model(make(nodes, {})).graph
    assert find_unsupported(graph, {"Relu": 1}) == ["Erf: 2 nodes, such as 'b'", "LSTM: 1 node, which is 'y'"]
    assert find_unsupported(graph, {"Relu": 1, "Erf": 1, "LSTM": 1}) == []


@pytest.mark.parametrize(
    ("name", "shape", "most"),
    [
        ("pp_ocrv6_det_tiny.onnx", (1, 3, 96, 64), 190),
        ("pp_ocrv6_rec_tiny.onnx", (1, 3, 48, 80), 85),
        ("blazeface_back.onnx", (1, 256, 256, 3), 150),
        ("efficientnet_lite0.onnx", (1, 3, 224, 224), 160),
    ],
)
def test_fetched_models_compute_the_same_with_fewer_nodes(name, shape, most):
    fetch = pytest.importorskip("onegpu_web.fetch", reason="downloads are not part of this build")
    try:
        data = Path(fetch.path(name)).read_bytes()
    except fetch.FetchError as error:
        pytest.skip(str(error))
    (info,) = read_model(data).graph.inputs
    graph = check(data, {info.name: RNG.uniform(-1, 1, shape).astype(np.float32)}, tolerance=1e-5)
    assert len(graph.nodes) <= most
