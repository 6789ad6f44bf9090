"""The numpy operators against onnx's own node tests, and against what those tests leave out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

from onegpu_web.errors import ModelError, UnsupportedError
from onegpu_web.graph.host import HOST_OPS, run_host
from onegpu_web.graph.model import Node
from onegpu_web.graph.reader import read_model

NATIVE = {TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.BOOL}
NATIVE |= {TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64}
NATIVE |= {TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64}


def node_cases():
    """onnx's tests of one node of a host operator; those on strings, sequences or types that numpy lacks left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the generators overflow on purpose
        cases = load_model_tests(kind="node")
    for case in cases:
        graph = case.model.graph
        if len(graph.node) == 1 and graph.node[0].op_type in HOST_OPS and not graph.node[0].domain:
            types = {value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)}
            if types <= NATIVE:
                yield pytest.param(case, id=case.name.removeprefix("test_"))


def as_array(value):
    return np.asarray(numpy_helper.to_array(value) if isinstance(value, TensorProto) else value)


@pytest.mark.parametrize("case", node_cases())
def test_onnx_node(case):
    case.model.opset_import[0].version = min(max(case.model.opset_import[0].version, 7), 28)
    model = read_model(case.model.SerializeToString())
    (node,) = model.graph.nodes
    for inputs, outputs in case.data_sets:
        given = iter(inputs)
        arrays = [as_array(next(given)) if name else None for name in node.inputs]
        results = run_host(node, arrays, model.opset)
        assert len(results) == len(outputs)
        for result, expected in zip(results, map(as_array, outputs), strict=True):
            assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
            if expected.dtype.kind in "biu":
                np.testing.assert_array_equal(result, expected)
            else:
                np.testing.assert_allclose(result, expected, rtol=case.rtol, atol=case.atol)


def run(op_type, *inputs, opset=17, outputs=1, **attributes):
    """The outputs of a node; None for an input left out."""
    arrays = [None if value is None else np.asarray(value) for value in inputs]
    names = tuple("" if value is None else f"i{index}" for index, value in enumerate(arrays))
    node = Node(op_type, names, tuple(f"o{index}" for index in range(outputs)), "it", "", attributes)
    return run_host(node, arrays, opset)


I64, F32 = np.int64, np.float32


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"value": np.array([[1.5]], np.float16)}, np.array([[1.5]], np.float16)),
        ({"value_float": 0.5}, np.array(0.5, F32)),
        ({"value_floats": [1.0, 2.0]}, np.array([1, 2], F32)),
        ({"value_floats": []}, np.array([], F32)),
        ({"value_int": 3}, np.array(3, I64)),
        ({"value_ints": [3, -1]}, np.array([3, -1], I64)),
    ],
    ids=["tensor", "float", "floats", "no-floats", "int", "ints"],
)
def test_constant_of_every_kind(attributes, expected):
    (value,) = run("Constant", **attributes)
    assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(value, expected)


def test_constant_string_is_unsupported():
    with pytest.raises(UnsupportedError, match="value_string"):
        run("Constant", value_string="text")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integer_division_truncates(dtype):
    a, b = np.array([7, -7, 7, -7, 6, 0], dtype), np.array([2, 2, -2, -2, -3, 5], dtype)
    (value,) = run("Div", a, b)
    assert value.dtype == dtype
    np.testing.assert_array_equal(value, [3, -3, -3, 3, -2, 0])


@pytest.mark.parametrize("op_type", ["Div", "Mod"])
def test_integer_division_by_zero_is_refused(op_type):
    with pytest.raises(ModelError, match="divided by zero"):
        run(op_type, np.array([1], I64), np.array([0], I64))


@pytest.mark.parametrize(
    ("op_type", "x", "attributes", "expected"),
    [
        ("Unsqueeze", np.ones((2, 3)), {"axes": [0, -1]}, (1, 2, 3, 1)),
        ("Squeeze", np.ones((1, 2, 1)), {"axes": [0]}, (2, 1)),
        ("Squeeze", np.ones((1, 2, 1)), {}, (2,)),
        ("ReduceMean", np.ones((2, 3, 4)), {"axes": [1, -1], "keepdims": 0}, (2,)),
        ("Pad", np.ones((2, 3)), {"pads": [0, 1, 2, 3]}, (4, 7)),
    ],
)
def test_axes_and_pads_as_attributes(op_type, x, attributes, expected):
    (value,) = run(op_type, x.astype(F32), opset=9, **attributes)
    assert value.shape == expected


def test_slice_by_attributes_before_opset_10():
    x = np.arange(20, dtype=F32).reshape(4, 5)
    (value,) = run("Slice", x, opset=9, starts=[1, -3], ends=[9999, -1], axes=[0, 1])
    np.testing.assert_array_equal(value, x[1:, 2:4])


def test_slice_clamps_a_start_before_the_front_for_negative_steps():
    x = np.arange(5, dtype=F32)
    (value,) = run("Slice", x, np.array([-10], I64), np.array([-20], I64), np.array([0], I64), np.array([-1], I64))
    np.testing.assert_array_equal(value, [0])  # numpy's own slice is empty
    (value,) = run("Slice", x, np.array([9], I64), np.array([-(2**63)], I64), np.array([0], I64), np.array([-2], I64))
    np.testing.assert_array_equal(value, [4, 2, 0])


def test_clip_by_attributes_before_opset_11():
    (value,) = run("Clip", np.array([-2, 3, 9], F32), opset=9, min=0.0, max=6.0)
    np.testing.assert_array_equal(value, np.array([0, 3, 6], F32))


def test_split_by_attribute_before_opset_13():
    first, second = run("Split", np.arange(5, dtype=F32), opset=11, outputs=2, split=[2, 3], axis=0)
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(second, [2, 3, 4])


def test_negative_pads_crop():
    (value,) = run("Pad", np.arange(6, dtype=F32).reshape(2, 3), np.array([0, -1, 1, 1], I64), np.array(7, F32))
    np.testing.assert_array_equal(value, [[1, 2, 7], [4, 5, 7], [7, 7, 7]])


@pytest.mark.parametrize(("name", "code"), [("uint8", 2), ("int64", 7), ("bool", 9), ("float16", 10)])
def test_cast_truncates_and_wraps(name, code):
    expected = {"uint8": [255, 1, 0], "int64": [-1, 257, 0], "bool": [True, True, False], "float16": [-1.5, 257.5, 0]}
    (value,) = run("Cast", np.array([-1.5, 257.5, 0], F32), to=code)
    assert value.dtype == name
    np.testing.assert_array_equal(value, expected[name])


def test_results_never_take_numpys_default_integer():
    x = np.ones((2, 3), F32)
    for value in (*run("Shape", x), *run("Size", x), *run("NonZero", x), *run("Constant", value_ints=[1])):
        assert value.dtype == np.int64
    (value,) = run("ReduceSum", np.ones((2, 3), np.int32))
    assert value.dtype == np.int32


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("ConstantOfShape", [np.array([1 << 20, 1 << 20], I64)], {}),
        ("Expand", [np.ones(1, F32), np.array([1 << 40], I64)], {}),
        ("Tile", [np.ones((2, 2), F32), np.array([1 << 31, 1 << 31], I64)], {}),
        ("Range", [np.array(0, I64), np.array(1 << 60, I64), np.array(1, I64)], {}),
        ("Range", [np.array(0, F32), np.array(1, F32), np.array(1e-30, F32)], {}),
        ("Pad", [np.ones((2, 2), F32), np.array([0, 1 << 40, 0, 0], I64)], {}),
        ("OneHot", [np.array([1], I64), np.array(1 << 40, I64), np.zeros(2, F32)], {}),
        ("Add", [np.ones((1 << 20, 1), F32), np.ones((1, 1 << 20), F32)], {}),
        ("Where", [np.ones((1 << 20, 1), bool), np.ones((1, 1 << 20), F32), np.ones((1, 1), F32)], {}),
        ("Gather", [np.ones((1, 1 << 20), F32), np.zeros(1 << 20, I64)], {}),
    ],
    ids=["constant", "expand", "tile", "range", "range-float", "pad", "onehot", "broadcast", "where", "gather"],
)
def test_a_few_bytes_cannot_ask_for_terabytes(op_type, inputs, attributes):
    with pytest.raises(UnsupportedError, match=f"{op_type} 'it': a constant of 1073741824 bytes is the most"):
        run(op_type, *inputs, **attributes)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "message"),
    [
        ("ConstantOfShape", [np.array([-2], I64)], {}, "must not be negative"),
        ("ConstantOfShape", [np.array([2.0], F32)], {}, "must be integers"),
        ("Reshape", [np.ones(6, F32), np.array([4, -1], I64)], {}, "cannot take shape"),
        ("Reshape", [np.ones(6, F32), np.array([-1, -1], I64)], {}, "cannot take shape"),
        ("Reshape", [np.ones(6, F32), np.array([6, 0], I64)], {}, "copies a dimension"),
        ("Gather", [np.ones(3, F32), np.array([3], I64)], {}, "indices must be -3 to 2, got 3"),
        ("Gather", [np.ones(3, F32), np.array([0], I64)], {"axis": 1}, "axis must be -1 to 0, got 1"),
        ("Concat", [np.ones((2, 2), F32), np.ones((3, 3), F32)], {"axis": 0}, r"inputs float32\[2, 2\]"),
        ("Transpose", [np.ones((2, 2), F32)], {"perm": [0, 0]}, "perm must order 2 axes"),
        ("Squeeze", [np.ones((2, 1), F32)], {"axes": [0]}, "must have extent 1"),
        ("Unsqueeze", [np.ones(2, F32)], {"axes": [0, 0]}, "must be distinct"),
        ("Add", [np.ones(2, F32), np.ones(2, I64)], {}, "must have one dtype"),
        ("Add", [np.ones(2, F32), np.ones(3, F32)], {}, "broadcast"),
        ("Add", [np.ones(2, F32), None], {}, "input 1 must be given"),
        ("Split", [np.ones(3, F32), np.array([1, 1], I64)], {}, "must be 1 sizes that sum to 3"),
        ("Slice", [np.ones(3, F32), np.array([0], I64), np.array([1, 1], I64)], {}, "must match"),
        ("Cast", [np.ones(3, F32)], {"to": 99}, "data_type must be one of"),
        ("Shape", [np.ones(3, F32)], {"start": "no"}, "start must be an integer, got str"),
        ("Pow", [np.ones(1, I64), np.array([-1], I64)], {}, "negative integer powers"),
        ("Range", [np.array(0, I64), np.array(4, I64), np.array(0, I64)], {}, "delta not 0"),
    ],
)
def test_what_does_not_fit_is_a_model_error(op_type, inputs, attributes, message):
    with pytest.raises(ModelError, match=message):
        run(op_type, *inputs, **attributes)


@pytest.mark.parametrize(("op_type", "domain"), [("Conv", ""), ("Add", "com.microsoft")])
def test_other_operators_are_unsupported(op_type, domain):
    with pytest.raises(UnsupportedError, match="has no host implementation"):
        run_host(Node(op_type, ("x",), ("y",), domain=domain), [np.ones(1, F32)], 17)
