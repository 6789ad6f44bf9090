"""The table of signatures is ONNX's own, and what it says is checked when a model is loaded."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from test_session import make

from onegpu_web import InferenceSession, ops
from onegpu_web.errors import KernelShapeError, ModelError
from onegpu_web.graph.fusion import fuse
from onegpu_web.graph.host import HOST_OPS
from onegpu_web.graph.lowering import Step, Value
from onegpu_web.graph.operators import HANDLERS
from onegpu_web.graph.passes import simplify
from onegpu_web.graph.reader import OPSETS, read_model
from onegpu_web.graph.signature_table import TABLE
from onegpu_web.graph.signatures import Parameter, Signature, signature, versions
from onegpu_web.graph.specialise import specialise

LETTERS = {
    "float16": "e", "float": "f", "double": "d", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B",
    "uint16": "H", "uint32": "I", "uint64": "Q", "bool": "?", "complex64": "F", "complex128": "D",
    "bfloat16": "f",  # the reader widens it
}  # fmt: skip
LETTERS = {f"tensor({name})": letter for name, letter in LETTERS.items()}
ORDER = "efdbhiqBHIQ?FD"
NAMED = {letter: np.dtype(letter).name for letter in ORDER}
KINDS = {"INT": "i", "FLOAT": "f", "STRING": "s", "TENSOR": "t", "SPARSE_TENSOR": "p"}
# ONNX 11 demands them; exporters leave them out all the same, as 13 allows, and onnxruntime runs that.
LEFT_OUT = {("Resize", 11, "roi"), ("Resize", 11, "scales")}
OWN = {"onegpu.Silu"}  # what passes and ops make, in a domain of the package's own
OPERATORS = sorted({*HANDLERS, *HOST_OPS} - OWN)


def types_of(names: Any) -> tuple[str, ...]:
    found = {LETTERS[name] for name in names if name in LETTERS}
    return tuple(NAMED[letter] for letter in ORDER if letter in found)


def parameters(schema: Any, given: Any, variables: dict[str, tuple[str, ...]]) -> tuple[Parameter, ...]:
    made = []
    for each in given:
        option = each.option.name
        if (schema.name, schema.since_version, each.name) in LEFT_OUT:
            option = "Optional"
        variable = each.type_str if each.type_str in variables else "=" + LETTERS[each.type_str]
        made.append(Parameter(each.name, variable, option == "Optional", option == "Variadic"))
    return tuple(made)


def from_onnx(schema: Any) -> Signature:
    every = {each.type_param_str: types_of(each.allowed_type_strs) for each in schema.type_constraints}
    ins, outs = (parameters(schema, given, every) for given in (schema.inputs, schema.outputs))
    used = {each.variable for each in (*ins, *outs)}
    types = {v: types for v, types in every.items() if v in used}
    types |= {v: (NAMED[v[1]],) for v in used if v.startswith("=")}
    attributes = {}
    for name, attribute in schema.attributes.items():
        kind = attribute.type.name
        letter = KINDS[kind] if kind in KINDS else KINDS[kind.removesuffix("S")].upper()
        attributes[name] = (letter, attribute.required)
    return Signature(ins, outs, types, attributes)


def test_the_table_has_just_the_operators_that_are_there() -> None:
    assert {row.split()[0] for row in TABLE.replace("\n    ", " ").strip().splitlines()} == {*OPERATORS, *OWN}


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_table_is_onnx_s(operator: str) -> None:
    forms = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == operator and s.domain == ""]
    for opset in OPSETS:
        form = max((s for s in forms if s.since_version <= opset), key=lambda s: s.since_version, default=None)
        assert signature(operator, opset) == (None if form is None else from_onnx(form)), opset


def test_no_row_says_what_the_one_before_says() -> None:
    for operator in (*OPERATORS, *OWN):
        made = [form for _, form in versions(operator)]
        assert all(a != b for a, b in itertools.pairwise(made)), operator


X, W = [1, 1, 2, 2], np.ones((1, 1, 1, 1), np.float32)
HALF = np.ones(1, np.float16)
INTS = (TensorProto.INT32, X)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("node", "inputs", "constants", "kind", "words"),
    [
        (("Conv", "x w b"), {}, {"w": W, "b": HALF}, KernelShapeError, "B must be of X's type float32, got float16"),
        (("ConvTranspose", "x w b"), {}, {"w": W, "b": HALF}, KernelShapeError, "B must be of X's type"),
        (("Gemm", "m m b"), {"m": [1, 1]}, {"b": HALF}, KernelShapeError, "C must be of A's type"),
        (("Add", "x b"), {}, {"b": HALF}, KernelShapeError, "B must be of A's type"),
        (("PRelu", "x b"), {}, {"b": HALF}, KernelShapeError, "slope must be of X's type"),
        (("Concat", "x b"), {}, {"b": HALF.reshape(1, 1, 1, 1)}, ModelError, "attribute axis must be given"),
        (("Conv", "x w b b b"), {}, {"w": W, "b": np.ones(1, np.float32)}, ModelError, "at most 3, got 5"),
        (("Clip", "x b"), {}, {"b": np.float16(0)}, KernelShapeError, "min must be of input's type"),
        (("Clip", "x lo b"), {}, {"lo": np.float32(0), "b": np.int64(6)}, KernelShapeError, "max must be of"),
        (("Where", "c x x"), {"c": (TensorProto.UINT8, X)}, {}, KernelShapeError, "condition must be bool, got uint8"),
        (("Reshape", "x s"), {}, {"s": np.array([4.0], np.float32)}, KernelShapeError, "shape must be int64"),
        (("Expand", "x s"), {}, {"s": np.array([1], np.int32)}, KernelShapeError, "shape must be int64"),
        (("Tile", "x s"), {}, {"s": np.ones(4, np.float32)}, KernelShapeError, "repeats must be int64"),
        (("Unsqueeze", "x s"), {}, {"s": np.array([0], np.int32)}, KernelShapeError, "axes must be int64"),
        (("Slice", "x s s"), {}, {"s": np.array([0.0], np.float32)}, KernelShapeError, "starts must be int32"),
        (("Gather", "x s"), {}, {"s": np.array([0.0], np.float32)}, KernelShapeError, "indices must be int32"),
        (("ReduceSum", "x s"), {}, {"s": np.array([0], np.int32)}, KernelShapeError, "axes must be int64"),
        (("Pad", "x s"), {}, {"s": np.zeros(8, np.int32)}, KernelShapeError, "pads must be int64"),
        (("And", "x x"), {}, {}, KernelShapeError, "A must be bool, got float32"),
        (("MaxUnpool", "x x", {"kernel_shape": [1, 1]}), {}, {}, KernelShapeError, "I must be int64, got float32"),
        (("Sigmoid", "i"), {"i": INTS}, {}, KernelShapeError, r"X must be float16, .* got int32 \(input 0, 'i'\)"),
        (("Relu", "x", {"slope": 3}), {}, {}, ModelError, "attributes must be of none in this opset, got slope"),
        (("Concat", "x x", {"axis": 1.5}), {}, {}, ModelError, "axis must be an integer, got 1.5"),
        (("Softmax", "x", {"axis": "no"}), {}, {}, ModelError, "axis must be an integer, got 'no'"),
        (("Transpose", "x", {"perm": [0.5]}), {}, {}, ModelError, "perm must be a list, each an integer"),
        (("Gelu", "x"), {}, {}, ModelError, "opset must be 20 or newer for Gelu, got 17"),
        (("Conv", "x"), {}, {}, ModelError, r"inputs must be at least 2, got 1: W \(input 1\) is missing"),
        (("Reshape", "x s"), {}, {"s": np.array([[4]])}, ModelError, r"'s'\) must have one axis, got shape \(1, 1\)"),
        (("Expand", "x s"), {}, {"s": np.array(1)}, ModelError, r"must have one axis, got shape \(\)"),
        (("Slice", "x s s"), {}, {"s": np.array([[0]])}, ModelError, "must have one axis"),
        (("Clip", "x b"), {}, {"b": np.zeros(2, np.float32)}, ModelError, r"must have one element, got shape \(2,\)"),
        (("Clip", "x b"), {"b": [2]}, {}, ModelError, "must have one element"),
        (("Squeeze", "x s"), {}, {"s": np.array([[0]])}, ModelError, "must have at most one axis"),
    ],
)
def test_what_an_operator_does_not_take_is_refused_at_load(
    node: tuple[Any, ...], inputs: dict[str, Any], constants: dict[str, Any], kind: type[Exception], words: str
) -> None:
    op, names, *attributes = node
    made = helper.make_node(op, names.split(), ["y"], **(attributes[0] if attributes else {}))
    given = {name: spec for name, spec in {"x": X, **inputs}.items() if name in names.split()}
    for free in (False, True):  # where sizes are known, and where they come with the first run
        if free and "x" in given:
            given["x"] = ["N", *X[1:]]
        with pytest.raises(kind, match=words):
            InferenceSession.create_sync(make([made], given, ["y"], constants, opset=17))


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (("Reshape", [5]), ("Reshape", [8]), "Reshape 'q': shape must hold 8 elements"),
        (("Squeeze", [1]), ("Reshape", [8]), "Squeeze 'q': axes must have size 1"),
        (("Unsqueeze", [9]), ("Reshape", [8]), "Unsqueeze 'q': axes must be"),
        (("Transpose", [1, 0, 2]), ("Transpose", [1, 0, 2]), "perm must order the axes of"),
        (("Transpose", [0, 1, 2]), ("Transpose", [0, 1, 2, 3]), "perm must order the axes of"),
    ],
)
def test_what_is_invalid_stays_so_in_front_of_its_like(first: Any, second: Any, words: str) -> None:
    nodes, constants, name = [helper.make_node("Relu", ["x"], ["r"])], {}, "r"
    for (op, numbers), out in ((first, "q"), (second, "y")):
        inputs = [name] if op == "Transpose" else [name, f"{out}_numbers"]
        attributes = {"perm": numbers} if op == "Transpose" else {}
        nodes.append(helper.make_node(op, inputs, [out], **attributes))
        constants |= {} if op == "Transpose" else {inputs[1]: np.array(numbers, np.int64)}
        name = out
    with pytest.raises(KernelShapeError, match=words):
        InferenceSession.create_sync(make(nodes, {"x": [1, 2, 2, 2]}, ["y"], constants))


@pytest.mark.gpu
def test_transposes_that_cancel_do_not_keep_an_activation_from_its_convolution() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("Transpose", ["c"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", ["t"], ["b"], perm=[0, 3, 1, 2]),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    model = read_model(make(nodes, {"x": X}, ["y"], {"w": W}))
    graph = simplify(model.graph, 17)
    program = fuse(specialise(graph, 17, {"x": Value("x", "float32", (1, 1, 2, 2))}))
    assert [type(step) for step in program.steps] == [Step]


def test_a_cast_goes_by_what_a_value_is_and_not_by_what_the_file_says() -> None:
    nodes = [helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Cast", ["a"], ["y"], to=TensorProto.INT64)]
    model = onnx.load_from_string(make(nodes, {"x": X}, ["y"], {}))
    model.graph.value_info.append(helper.make_tensor_value_info("a", TensorProto.INT64, X))
    graph = simplify(read_model(model.SerializeToString()).graph, 17)
    assert [node.op_type for node in graph.nodes] == ["Abs", "Cast"]


@pytest.mark.gpu
def test_axes_may_be_a_scalar() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Unsqueeze", ["r", "a"], ["y"])]
    session = InferenceSession.create_sync(make(nodes, {"x": [2]}, ["y"], {"a": np.int64(0)}))
    assert session.run_sync(None, {"x": np.ones(2, np.float32)})[0].shape == (1, 2)
    session.destroy()


@pytest.mark.gpu
def test_statistics_of_half_are_float32() -> None:
    nodes = [helper.make_node("LayerNormalization", ["x", "s"], ["n", "y", "d"])]
    data = make(nodes, {"x": (TensorProto.FLOAT16, [1, 4])}, ["y", "d"], {"s": np.ones(4, np.float16)})
    session = InferenceSession.create_sync(data)
    mean, inverse = session.run_sync(None, {"x": np.array([[1, 2, 3, 5]], np.float16)})
    assert (mean.dtype, inverse.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose([mean[0, 0], inverse[0, 0]], [2.75, 1 / np.sqrt(2.1875 + 1e-5)], rtol=1e-6)
    session.destroy()


@pytest.mark.gpu
def test_operations_check_the_same() -> None:
    with pytest.raises(KernelShapeError, match="B must be of X's type float32, got float16"):
        ops.conv_sync(np.ones((1, 1, 2, 2), np.float32), W, HALF)


@pytest.mark.gpu
def test_batch_normalization_of_half_may_have_parameters_of_float32() -> None:
    names = ["scale", "shift", "mean", "variance"]
    nodes = [
        helper.make_node("BatchNormalization", ["x", *names], ["n"]),
        helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = {name: np.full(2, value, np.float32) for name, value in zip(names, (2, 1, 3, 1e-7), strict=True)}
    session = InferenceSession.create_sync(make(nodes, {"x": (TensorProto.FLOAT16, [1, 2, 2])}, ["y"], constants))
    x = np.array([[[3, 3.5], [2, 4]]], np.float16)
    expected = (x.astype(np.float64) - 3) / np.sqrt(1e-7 + 1e-5) * 2 + 1
    (y,) = session.run_sync(None, {"x": x})
    assert np.abs(y - expected).max() <= 1e-3 * np.abs(expected).max()
    session.destroy()
