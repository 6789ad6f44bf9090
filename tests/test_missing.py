"""What is missing is said when a model is loaded: all of it, and nothing that is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from test_session import make

from onegpu_web import InferenceSession, ops
from onegpu_web.device import Device
from onegpu_web.errors import KernelShapeError, UnsupportedError
from onegpu_web.graph.lowering import HostValueNeeded, Value
from onegpu_web.graph.missing import find_missing
from onegpu_web.graph.model import Graph, Node, ValueInfo
from onegpu_web.graph.operators import HANDLERS
from onegpu_web.graph.parameters import known_inputs
from onegpu_web.graph.signatures import Signature, signature
from onegpu_web.graph.specialise import specialise

SHAPE = (1, 4, 4, 4)
CODES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
         "float16": 10, "float64": 11, "uint32": 12, "uint64": 13}  # fmt: skip


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


# Inputs of a node that works: shapes of data, arrays of parameters, None for one left out; and attributes.
SAMPLES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "Conv": ([SHAPE, (4, 4, 1, 1), (4,)], {}),
    "ConvTranspose": ([SHAPE, (4, 4, 1, 1), (4,)], {}),
    "Gemm": ([(4, 4)] * 3, {}),
    "BatchNormalization": ([SHAPE] + [(4,)] * 4, {}),
    "InstanceNormalization": ([SHAPE, (4,), (4,)], {}),
    "GroupNormalization": ([SHAPE, (4,), (4,)], {"num_groups": 2}),
    "LayerNormalization": ([SHAPE, (4,), (4,)], {}),
    "MaxPool": ([SHAPE], {"kernel_shape": [2, 2]}),
    "AveragePool": ([SHAPE], {"kernel_shape": [2, 2]}),
    "LpPool": ([SHAPE], {"kernel_shape": [2, 2]}),
    "MaxUnpool": ([SHAPE, SHAPE, whole(1, 4, 8, 8)], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "Col2Im": ([(1, 4, 4), whole(4, 4), whole(2, 2)], {"strides": [2, 2]}),
    "GridSample": ([SHAPE, (1, 2, 2, 2)], {}),
    "Resize": ([SHAPE, None, np.float32([1, 1, 2, 2])], {}),
    "Upsample": ([SHAPE, np.float32([1, 1, 2, 2])], {}),
    "Reshape": ([SHAPE, whole(-1)], {}),
    "Expand": ([SHAPE, whole(2, 4, 4, 4)], {}),
    "Tile": ([SHAPE, whole(1, 1, 1, 2)], {}),
    "Slice": ([SHAPE, whole(0), whole(2), whole(3), whole(1)], {}),
    "Pad": ([SHAPE, whole(1, 1), None, whole(2)], {}),
    "Squeeze": ([SHAPE, whole(0)], {}),
    "Unsqueeze": ([SHAPE, whole(0)], {}),
    "Split": ([SHAPE, whole(4)], {"axis": 1}),
    "Concat": ([SHAPE, SHAPE], {"axis": 1}),
    "Gather": ([SHAPE, (3,)], {}),
    "DepthToSpace": ([SHAPE], {"blocksize": 2}),
    "SpaceToDepth": ([SHAPE], {"blocksize": 2}),
    "Clip": ([SHAPE, (), ()], {}),
    "Dropout": ([SHAPE, None, np.array(False)], {}),
    "Max": ([SHAPE] * 3, {}),
    "Min": ([SHAPE] * 3, {}),
    "Sum": ([SHAPE] * 3, {}),
    "Mean": ([SHAPE] * 3, {}),
    "Cast": ([SHAPE], {"to": 1}),
}
SAMPLES |= {name: ([SHAPE, whole(1)], {}) for name in HANDLERS if name.startswith("Reduce")}
VIEWS = {"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}


def form(operator: str) -> tuple[Signature, int]:
    """The newest signature; Upsample ended with opset 9."""
    opset = 9 if operator == "Upsample" else 28
    found = signature(operator, opset)
    assert found is not None
    return found, opset


def sample(operator: str, types: dict[str, str], **more: Any) -> tuple[Graph, dict[str, Value]]:
    """A graph of one node; its data comes from an Abs or a Not, so that only the GPU has it."""
    found, _ = form(operator)
    alike = [SHAPE] * sum(1 for each in found.inputs if not each.optional)
    inputs, attributes = SAMPLES.get(operator, (alike, {}))
    values: dict[str, Value] = {}
    constants, nodes, names = {}, [], []
    for index, given in enumerate(inputs):
        parameter = found.input(index)
        assert parameter is not None
        if isinstance(given, np.ndarray):
            constants[f"c{index}"] = given
            names.append(f"c{index}")
        elif given is None:
            names.append("")
        else:
            dtype = types.get(parameter.variable) or found.types[parameter.variable][0]
            values[f"x{index}"] = Value(f"x{index}", dtype, given)
            nodes.append(Node("Transpose", (f"x{index}",), (f"d{index}",), attributes={"perm": [*range(len(given))]}))
            names.append(f"d{index}")
    nodes.append(Node(operator, tuple(names), ("y",), attributes={**attributes, **more}))
    infos = tuple(ValueInfo(value.name, value.dtype, value.shape) for value in values.values())
    return Graph("g", tuple(nodes), constants, infos, (ValueInfo("y", None, None),)), values


def type_cases() -> Iterator[Any]:
    """Every type that ONNX allows an operator in each of its variables, where the GPU can hold it at all."""
    for operator in sorted(HANDLERS):
        if operator.startswith("onegpu"):
            continue
        found, _ = form(operator)
        for variable in sorted({each.variable for each in found.inputs}):
            for dtype in found.types[variable]:
                if dtype in CODES and not (operator == "Resize" and variable == "T2"):  # a roi that is not read
                    yield pytest.param(operator, {variable: dtype}, {}, id=f"{operator}-{variable}-{dtype}")
                    if operator in ("Resize", "Upsample") and variable.startswith("T"):
                        yield pytest.param(operator, {variable: dtype}, {"mode": "linear"}, id=f"{operator}-{dtype}-2")
    for dtype in CODES:
        for to, code in CODES.items():
            yield pytest.param("Cast", {"T1": dtype}, {"to": code}, id=f"Cast-{dtype}-{to}")
            if dtype != to:
                yield pytest.param("CastLike", {"T1": dtype, "T2": to}, {}, id=f"CastLike-{dtype}-{to}")


@pytest.mark.parametrize(("operator", "types", "more"), type_cases())
def test_what_load_says_of_types_is_what_handlers_do(
    operator: str, types: dict[str, str], more: dict[str, Any]
) -> None:
    found, opset = form(operator)
    for each in found.inputs:
        types.setdefault(each.variable, "float32" if "float32" in found.types[each.variable] else "int64")
    types = {variable: dtype if dtype in found.types[variable] else "bool" for variable, dtype in types.items()}
    graph, values = sample(operator, types, **more)
    missing = find_missing(graph, opset)
    try:
        specialise(graph, opset, values)
    except (UnsupportedError, KernelShapeError):
        assert missing
    else:
        assert not missing


@pytest.mark.parametrize("operator", sorted(SAMPLES))
def test_what_must_be_known_is_what_handlers_ask_for(operator: str) -> None:
    _, opset = form(operator)
    graph, values = sample(operator, {"T": "float32", "T1": "float32"})
    node = graph.nodes[-1]
    for index, name in enumerate(node.inputs):
        if name.startswith("c"):
            array = graph.initializers[name]
            rest = {other: value for other, value in graph.initializers.items() if other != name}
            fed = Graph("g", graph.nodes, rest, (), graph.outputs)
            unknown = Value(name, str(array.dtype), array.shape)
            assert index in known_inputs(node)
            with pytest.raises(HostValueNeeded):
                specialise(fed, opset, {**values, name: unknown})


FREE, FIXED = ["N", 2, "H", "W"], [1, 2, 2, 2]
ON_DATA: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "GatherElements": ([("GatherElements", "r i", "y", {"axis": 0})], {"i": np.zeros((1, 2, 2, 2), np.int64)}, ""),
    "GatherND": ([("GatherND", "r i", "y", {})], {"i": whole(0, 0)}, ""),
    "NonZero": ([("NonZero", "r", "y", {})], {}, ""),
    "OneHot": (
        [("ArgMax", "r", "a", {}), ("OneHot", "a d v", "y", {})],
        {"d": np.array(3, np.int64), "v": np.array([0, 1], np.float32)},
        "",
    ),
    "ConstantOfShape": ([("Cast", "r", "s", {"to": 7}), ("ConstantOfShape", "s", "y", {})], {}, ""),
    "DequantizeLinear": (
        [("Cast", "r", "q", {"to": 6}), ("DequantizeLinear", "q s", "y", {})], {"s": np.array(2, np.float32)}, ""
    ),
    "Cast to uint8": ([("Cast", "r", "y", {"to": 2})], {}, ""),
    "Cast to int8": ([("Cast", "r", "y", {"to": 3})], {}, ""),
    "Cast to float64": ([("Cast", "r", "y", {"to": 11})], {}, ""),
    "Cast to int16": ([("Cast", "r", "y", {"to": 5})], {}, ""),
    "Reshape": ([("ArgMax", "r", "a", {}), ("Reshape", "a m", "b", {}), ("Reshape", "r b", "y", {})], {"m": whole(-1)},
                "input 1 must be known before the run, and 'b' is made on the GPU"),
    "Slice": ([("ArgMax", "r", "a", {}), ("Reshape", "a m", "b", {}), ("Slice", "r b m", "y", {})], {"m": whole(-1)},
              "input 1 must be known"),
}  # fmt: skip


@pytest.mark.parametrize("shape", [FREE, FIXED], ids=["free", "fixed"])
@pytest.mark.parametrize("name", ON_DATA)
def test_an_operator_that_is_not_there_for_data_is_refused_at_load(device: Device, name: str, shape: Any) -> None:
    nodes, constants, words = ON_DATA[name]
    made = [helper.make_node(op, ins.split(), [out], **attributes) for op, ins, out, attributes in nodes]
    data = make([helper.make_node("Relu", ["x"], ["r"]), *made], {"x": shape}, ["y"], constants)
    with pytest.raises(UnsupportedError) as caught:
        InferenceSession.create_sync(data, device=device)
    (line,) = caught.value.missing
    assert line.startswith(f"{name}: 1 node, which is 'y'")
    assert words in line


def test_everything_missing_is_in_one_error(device: Device) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("NonZero", ["r"], ["n"]),
        helper.make_node("LRN", ["x"], ["l"], size=1),
        helper.make_node("Cast", ["l"], ["c"], to=TensorProto.UINT8),
        helper.make_node("Cast", ["r"], ["d"], to=TensorProto.UINT8),
        helper.make_node("Sigmoid", ["z"], ["s"]),
    ]
    data = make(nodes, {"x": FREE, "z": (TensorProto.DOUBLE, [2])}, ["n", "c", "d", "s"], {})
    with pytest.raises(UnsupportedError) as caught:
        InferenceSession.create_sync(data, device=device)
    heads = [line.split(":")[0] for line in caught.value.missing]
    assert heads == ["LRN", "input 'z'", "Cast to uint8", "NonZero", "Sigmoid of float64"]
    assert "Cast to uint8: 2 nodes, such as 'c'" in caught.value.missing


def test_a_picture_is_data_whatever_its_size(device: Device) -> None:
    for shape, refused in ((FREE, True), ([1, 3, 300, 300], True), ([4], False)):
        data = make([helper.make_node("NonZero", ["x"], ["y"])], {"x": shape}, ["y"], {})
        if refused:
            with pytest.raises(UnsupportedError, match="comes from the input 'x', which is too large to look at"):
                InferenceSession.create_sync(data, device=device)
    session = InferenceSession.create_sync(data, device=device)
    assert session.run_sync(None, {"x": np.array([0, 2, 0, 1], np.float32)})[0].tolist() == [[1, 3]]
    session.destroy()


@pytest.mark.gpu
def test_the_host_goes_on_computing_what_follows_from_shapes_and_small_inputs(device: Device) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Shape", ["r"], ["s"]),
        helper.make_node("Cast", ["s"], ["d"], to=TensorProto.DOUBLE),
        helper.make_node("Mul", ["d", "half"], ["h"]),
        helper.make_node("Cast", ["h"], ["i"], to=TensorProto.INT64),
        helper.make_node("GatherElements", ["i", "order"], ["g"]),
        helper.make_node("ConstantOfShape", ["g"], ["y"]),
    ]
    constants = {"half": np.float64(0.5), "order": whole(1, 0)}
    data = make(nodes, {"x": ["N", "M"], "order": (TensorProto.INT64, ["K"])}, ["y"], {"half": constants["half"]})
    session = InferenceSession.create_sync(data, device=device)
    feeds = {"x": np.ones((4, 6), np.float32), "order": whole(1, 0)}
    assert session.run_sync(None, feeds)[0].shape == (3, 2)
    session.destroy()


@pytest.mark.gpu
def test_operations_say_the_same() -> None:
    with pytest.raises(UnsupportedError, match="Cast to uint8: 1 node"):
        ops.cast_sync(np.ones(3, np.float32), "uint8")
