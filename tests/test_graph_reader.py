"""The reader against the onnx package: what it reads, and that a broken file ends in a plain error."""

from __future__ import annotations

import random
import time
import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onegpu_web import fetch
from onegpu_web.errors import ModelError, UnsupportedError
from onegpu_web.graph.model import Graph, Model, ValueInfo
from onegpu_web.graph.reader import read_model

FLOAT = TensorProto.FLOAT


def onnx_model(nodes, initializers=(), *, inputs=("x",), outputs=("y",), opset=17, **fields):
    """An onnx.ModelProto with (1, 4) float inputs and outputs of those names."""
    values = [[helper.make_tensor_value_info(name, FLOAT, [1, 4]) for name in names] for names in (inputs, outputs)]
    graph = helper.make_graph(list(nodes), "main", *values, initializer=list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **fields)


def relu(source="x", target="y", name=""):
    return helper.make_node("Relu", [source], [target], name=name)


def with_tensor(tensor: TensorProto) -> Model:
    return read_model(onnx_model([relu()], [tensor]).SerializeToString())


def convolutional_model() -> bytes:
    """Every part of the format that the reader knows, in some 3 KB."""
    rng = np.random.default_rng(7)
    weight = numpy_helper.from_array(rng.standard_normal((4, 3, 3, 3), np.float32), "w")
    typed = helper.make_tensor("b", FLOAT, [4], rng.standard_normal(4).tolist())
    axes = helper.make_tensor("axes", TensorProto.INT64, [2], [-1, 2])
    branch = helper.make_graph([relu("c", "t")], "then", [], [helper.make_tensor_value_info("t", FLOAT, None)])
    other = helper.make_graph([relu("x", "e")], "else", [], [helper.make_tensor_value_info("e", FLOAT, None)])
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="first", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Constant", [], ["k"], value=helper.make_tensor("", TensorProto.BOOL, [], [True])),
        helper.make_node("If", ["k"], ["i"], then_branch=branch, else_branch=other),
        helper.make_node("ReduceSum", ["i", "axes"], ["s"], keepdims=0),
        helper.make_node("Resize", ["s", "", "scales"], ["y"], mode="linear", cubic_coeff_a=-0.5),
    ]
    scales = helper.make_tensor("scales", FLOAT, [2], [1.0, 2.0])
    picture = helper.make_tensor_value_info("x", FLOAT, ["N", 3, None, 8])
    result = helper.make_tensor_value_info("y", FLOAT, None)
    graph = helper.make_graph(nodes, "main", [picture], [result], [weight, typed, axes, scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="test")
    helper.set_model_props(model, {"character": "a\nb", "empty": ""})
    return model.SerializeToString()


def test_reads_nodes_attributes_values_and_metadata():
    model = read_model(convolutional_model())
    assert (model.ir_version, dict(model.opsets), model.producer) == (8, {"": 17}, "test")
    assert dict(model.metadata) == {"character": "a\nb", "empty": ""}
    assert model.graph.inputs == (ValueInfo("x", "float32", ("N", 3, None, 8)),)
    assert model.graph.outputs == (ValueInfo("y", "float32", None),)
    conv, _, branch, _, resize = model.graph.nodes
    assert (conv.op_type, conv.name, conv.inputs, conv.outputs) == ("Conv", "first", ("x", "w", "b"), ("c",))
    assert dict(conv.attributes) == {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    assert resize.inputs == ("s", "", "scales")
    assert dict(resize.attributes) == {"mode": "linear", "cubic_coeff_a": -0.5}
    assert isinstance(branch.attributes["then_branch"], Graph)
    assert branch.attributes["then_branch"].outer_names() == {"c"}
    np.testing.assert_array_equal(model.graph.initializers["axes"], np.array([-1, 2], np.int64))


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "typed"])
@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool",
     "complex64", "complex128"],
)  # fmt: skip
def test_reads_every_element_type(dtype, raw):
    values = np.array([[0, 1, 5], [100, 2, 127]]).astype(dtype)
    if np.dtype(dtype).kind in "if":
        values[0] = -values[0]
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    data = values.tobytes() if raw else values.flatten().tolist()
    array = with_tensor(helper.make_tensor("w", code, values.shape, data, raw=raw)).graph.initializers["w"]
    assert array.dtype == values.dtype
    np.testing.assert_array_equal(array, values)
    assert not array.flags.writeable


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "typed"])
def test_bfloat16_widens_to_float32(raw):
    bits = np.array([0x3F80, 0xC000, 0x7F80], np.uint16)
    tensor = TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=[3])
    if raw:
        tensor.raw_data = bits.tobytes()
    else:
        tensor.int32_data.extend(bits.tolist())
    array = with_tensor(tensor).graph.initializers["w"]
    np.testing.assert_array_equal(array, np.array([1, -2, np.inf], np.float32))


def test_unpacked_fields_read_like_packed_ones():
    # Field 7 (int64_data) as single varints, 3 and -1, then a packed one: what old protobuf writers mix.
    negative = bytes([0xFF] * 9 + [0x01])
    octets = bytes([0x08, 3, 0x10, 7, 0x42, 1]) + b"w" + bytes([0x38, 3, 0x38]) + negative + bytes([0x3A, 1, 9])
    assert TensorProto.FromString(octets).int64_data == [3, -1, 9]
    model = onnx_model([relu()]).SerializeToString()
    graph = onnx.GraphProto(initializer=[TensorProto.FromString(octets)]).SerializeToString()
    body = graph.replace(TensorProto.FromString(octets).SerializeToString(), octets)
    length = len(octets)
    body = bytes([0x2A, length]) + octets
    merged = onnx.load_model_from_string(model).graph.SerializeToString() + body
    header = onnx.load_model_from_string(model)
    header.ClearField("graph")
    size = len(merged)
    file = header.SerializeToString() + bytes([0x3A, size & 0x7F | 0x80, size >> 7]) + merged
    np.testing.assert_array_equal(read_model(file).graph.initializers["w"], [3, -1, 9])


def test_weights_are_views_of_the_file():
    weight = np.arange(1000, dtype=np.float32)
    data = bytearray(onnx_model([relu()], [numpy_helper.from_array(weight, "w")]).SerializeToString())
    array = read_model(data).graph.initializers["w"]
    data[data.index(weight.tobytes()) : data.index(weight.tobytes()) + 4] = np.float32(42).tobytes()
    assert array[0] == 42


def test_100_mb_read_in_milliseconds():
    arrays = [numpy_helper.from_array(np.full(425_000, i, np.float32), f"w{i}") for i in range(60)]
    data = onnx_model([relu()], arrays).SerializeToString()
    assert len(data) > 100_000_000
    times = []
    for _ in range(5):
        start = time.perf_counter()
        model = read_model(data)
        times.append(time.perf_counter() - start)
    assert model.graph.initializers["w59"][-1] == 59
    assert min(times) < 0.05  # a copy of 100 MB alone takes longer; measured 0.8 ms


def test_an_input_with_an_initializer_is_no_input():
    weight = numpy_helper.from_array(np.ones(4, np.float32), "w")
    model = onnx_model([helper.make_node("Add", ["x", "w"], ["y"])], [weight], inputs=("x", "w"))
    assert [info.name for info in read_model(model.SerializeToString()).graph.inputs] == ["x"]


def test_unsorted_nodes_are_sorted_and_sorted_ones_kept():
    nodes = [relu("b", "y", "third"), relu("a", "b", "second"), relu("x", "a", "first"), relu("x", "d", "dead")]
    names = [node.name for node in read_model(onnx_model(nodes).SerializeToString()).graph.nodes]
    assert names == ["first", "second", "third", "dead"]
    kept = [relu("x", "a", "1"), relu("x", "d", "2"), relu("a", "b", "3"), relu("b", "y", "4")]
    names = [node.name for node in read_model(onnx_model(kept).SerializeToString()).graph.nodes]
    assert names == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            [relu("b", "a", "one"), relu("a", "b", "two"), relu("a", "y")],
            "cycle through Relu 'two', Relu 'one'$",
        ),
        ([relu("y", "y", "self")], "cycle through Relu 'self'"),
        ([relu("ghost", "y", "r")], "Relu 'r' reads 'ghost', which nothing defines"),
        ([relu("x", "y", "one"), relu("x", "y", "two")], "'y' is defined twice, by Relu 'one' and by Relu 'two'"),
        ([relu("x", "x", "own"), relu("x", "y")], "'x' is defined twice, by an input or initializer and by Relu 'own'"),
        ([relu("x", "z")], "output 'y' is defined by no node"),
        ([helper.make_node("", ["x"], ["y"])], "must have an op_type"),
    ],
    ids=["cycle", "self", "dangling", "twice", "over-input", "no-output", "no-op"],
)
def test_impossible_graphs_are_refused(nodes, message):
    with pytest.raises(ModelError, match=message):
        read_model(onnx_model(nodes).SerializeToString())


def test_a_subgraph_may_read_only_what_the_outer_graph_defines():
    branch = helper.make_graph([relu("ghost", "t")], "then", [], [helper.make_tensor_value_info("t", FLOAT, None)])
    node = helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    with pytest.raises(ModelError, match="If 'y' reads 'ghost', which nothing defines"):
        read_model(onnx_model([node]).SerializeToString())


def test_deep_nesting_is_refused():
    node = relu()
    for _ in range(20):
        graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", FLOAT, None)])
        node = helper.make_node("If", ["x"], ["y"], then_branch=graph)
    with pytest.raises(ModelError, match="nest deeper than 16"):
        read_model(onnx_model([node]).SerializeToString())


@pytest.mark.parametrize(
    ("opset", "error"), [(6, UnsupportedError), (7, None), (28, None), (29, UnsupportedError)], ids=str
)
def test_opsets_7_to_28(opset, error):
    data = onnx_model([relu()], opset=opset).SerializeToString()
    if error is None:
        assert read_model(data).opset == opset
    else:
        with pytest.raises(error, match=f"opset must be 7 to 28, got {opset}"):
            read_model(data)


def test_unreadable_types_matter_only_where_used():
    text = helper.make_tensor("s", TensorProto.STRING, [1], [b"text"])
    assert "s" not in read_model(onnx_model([relu()], [text]).SerializeToString()).graph.initializers
    node = helper.make_node("StringNormalizer", ["s"], ["y"], name="n")
    with pytest.raises(UnsupportedError, match="StringNormalizer 'n': tensor 's': element type string"):
        read_model(onnx_model([node], [text]).SerializeToString())


def test_sparse_initializers_are_unsupported():
    model = onnx_model([relu()])
    values = helper.make_tensor("v", FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [2])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    with pytest.raises(UnsupportedError, match="sparse"):
        read_model(model.SerializeToString())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dims": [3], "raw_data": bytes(8)}, "3 values of float32 take 12 bytes, got 8"),
        ({"dims": [3], "float_data": [1.0]}, "dims want 3 values, got 1"),
        ({"dims": [-1], "raw_data": bytes(4)}, "must not be negative"),
        ({"dims": [1 << 40, 1 << 40], "raw_data": bytes(4)}, "product below"),
        ({"dims": [0, 1 << 60], "raw_data": b""}, "product below"),
        ({"dims": [1] * 40, "raw_data": bytes(4)}, "at most 32"),
        ({"dims": [1], "int64_data": [1]}, "must be in field 4, got field 7"),
        ({"dims": [1], "data_type": 77}, "data_type must be one of"),
    ],
    ids=["short", "few", "negative", "huge", "huge-zero", "rank", "wrong-field", "no-type"],
)
def test_tensors_whose_parts_disagree_are_refused(fields, message):
    with pytest.raises(ModelError, match=message):
        with_tensor(TensorProto(**{"name": "w", "data_type": FLOAT} | fields))


def external(location="w.bin", **entries) -> bytes:
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return onnx_model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor]).SerializeToString()


def test_external_data_is_read_at_its_offset(tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes(8) + np.arange(4, dtype=np.float32).tobytes())
    array = read_model(external(offset=8, length=16), folder=tmp_path).graph.initializers["w"]
    np.testing.assert_array_equal(array, np.arange(4, dtype=np.float32))
    assert not array.flags.writeable


@pytest.mark.parametrize(
    ("location", "entries", "message"),
    [
        ("gone.bin", {}, "'gone.bin' is missing from the model's folder"),
        ("../secret.bin", {}, "must lie in the model's folder"),
        ("/etc/hostname", {}, "must lie in the model's folder"),
        ("link.bin", {}, "must lie in the model's folder"),
        ("", {}, "has no location"),
        ("a\0b", {}, "has no location"),
        ("n" * 5000, {}, "cannot be read|missing"),
        ("w.bin", {"offset": 4}, "which has 16"),
        ("w.bin", {"length": 8}, "take 16 bytes, external data has length 8"),
        ("w.bin", {"offset": "-4"}, "offset must be a number of bytes"),
        ("w.bin", {"offset": "9" * 400}, "offset must be a number of bytes"),
        (".", {}, "missing"),
    ],
    ids=["missing", "dots", "absolute", "link", "none", "nul", "long", "offset", "length", "minus", "big", "folder"],
)
def test_bad_external_data_is_refused(tmp_path, location, entries, message):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").write_bytes(bytes(16))
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(ModelError, match=message):
        read_model(external(location, **entries), folder=folder)


def test_external_data_of_a_model_given_as_bytes_is_refused():
    with pytest.raises(ModelError, match=r"lie in 'w.bin' beside the model; give the model's path"):
        read_model(external())


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 100, b"<!DOCTYPE html><html></html>", b"version https://git-lfs.github.com/spec/v1\n", b"\x08\x08",
     b"\x3a" + b"\xff" * 8 + b"\x0f", b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", bytes(range(256))],
    ids=["empty", "zeros", "html", "lfs", "header", "length-2**60", "endless-varint", "counting"],
)  # fmt: skip
def test_what_is_no_model_is_refused(data):
    with pytest.raises(ModelError):
        read_model(data)


def outcome(data: bytes) -> str:
    """'read', or the name of the expected error; any other exception passes through and fails the test."""
    try:
        read_model(data)
    except (ModelError, UnsupportedError) as error:
        return type(error).__name__
    return "read"


def test_a_file_truncated_anywhere_is_refused():
    data = convolutional_model()
    whole = read_model(data)
    assert len(whole.graph.nodes) == 5
    for end in range(len(data)):
        if outcome(data[:end]) == "read":  # only metadata or the like may be cut away whole
            assert len(read_model(data[:end]).graph.nodes) == 5


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bytes_never_crash_nor_allocate(seed):
    data = convolutional_model()
    rng = random.Random(seed)
    seen = set()
    tracemalloc.start()
    try:
        for _ in range(250):
            damaged = bytearray(data)
            for _ in range(rng.choice((1, 1, 2, 8, 64))):
                damaged[rng.randrange(len(damaged))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            seen.add(outcome(bytes(damaged)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "ModelError" in seen
    assert peak < 4_000_000


def test_random_bytes_are_refused():
    rng = random.Random(1)
    for _ in range(500):
        assert outcome(rng.randbytes(rng.randrange(1, 400))) != "read"


@pytest.mark.parametrize("name", ["pp_ocrv6_det_tiny.onnx", "pp_ocrv6_rec_tiny.onnx", "blazeface_back.onnx"])
def test_fetched_models_read_as_onnx_reads_them(name):
    check_like_onnx(fetch.path(name).read_bytes())


def test_made_model_reads_as_onnx_reads_it():
    check_like_onnx(convolutional_model())


def check_like_onnx(data: bytes) -> None:
    ours, theirs = read_model(data).graph, onnx.load_model_from_string(data).graph
    assert {node.outputs for node in ours.nodes} == {tuple(node.output) for node in theirs.node}
    by_output = {node.outputs: node for node in ours.nodes}
    for node in theirs.node:
        mine = by_output[tuple(node.output)]
        assert (mine.op_type, mine.inputs) == (node.op_type, tuple(node.input))
        for attribute in node.attribute:
            value = helper.get_attribute_value(attribute)
            if isinstance(value, bytes):
                assert mine.attributes[attribute.name] == value.decode()
            elif isinstance(value, TensorProto):
                np.testing.assert_array_equal(mine.attributes[attribute.name], numpy_helper.to_array(value))
            elif not isinstance(value, onnx.GraphProto):
                assert mine.attributes[attribute.name] == value
    for tensor in theirs.initializer:
        np.testing.assert_array_equal(ours.initializers[tensor.name], numpy_helper.to_array(tensor))
