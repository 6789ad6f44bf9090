"""Sessions over small models made here: feeds, shapes, fusion, memory and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from onegpu_web import InferenceSession
from onegpu_web.device import Device
from onegpu_web.errors import DeviceError, FeedError, KernelShapeError, ModelError, UnsupportedError
from onegpu_web.graph.fusion import fuse
from onegpu_web.graph.lowering import Step, Value
from onegpu_web.graph.reader import read_model
from onegpu_web.graph.specialise import specialise

RNG = np.random.default_rng(7)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def make(
    nodes: list[Any], inputs: dict[str, Any], outputs: list[str], constants: dict[str, Any], opset: int = 17
) -> bytes:
    """A model's bytes. inputs: name -> shape, or (type, shape)."""
    infos = [
        helper.make_tensor_value_info(name, *(spec if isinstance(spec, tuple) else (FLOAT, spec)))
        for name, spec in inputs.items()
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        infos,
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


RESIDUAL_BLOCK = make(
    [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("Conv", ["x", "w3"], ["c3"], kernel_shape=[1, 1]),
        helper.make_node("Add", ["c2", "c3"], ["sum"]),
        helper.make_node("Clip", ["sum", "lo", "hi"], ["clipped"]),
        helper.make_node("Flatten", ["clipped"], ["y"]),
    ],
    {"x": ["N", 3, "H", "W"]},
    ["y"],
    {
        "w1": floats(8, 3, 3, 3),
        "b1": floats(8),
        "w2": floats(4, 8, 3, 3),
        "w3": floats(4, 3, 1, 1),
        "lo": np.float32(0),
        "hi": np.float32(6),
    },
)


@pytest.fixture
def session(device: Device) -> Iterator[InferenceSession]:
    made = InferenceSession.create_sync(RESIDUAL_BLOCK, device=device)
    yield made
    made.destroy()


def reference(model: bytes, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    return ReferenceEvaluator(onnx.load_from_string(model)).run(None, feeds)


@pytest.mark.parametrize("shape", [(1, 3, 5, 7), (2, 3, 8, 8), (1, 3, 1, 1)])
def test_each_shape_gets_its_own_right_answer(session: InferenceSession, shape: tuple[int, ...]) -> None:
    x = floats(*shape)
    (y,) = session.run_sync(None, {"x": x})
    (want,) = reference(RESIDUAL_BLOCK, {"x": x})
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


def test_residual_and_activations_cost_no_dispatch() -> None:
    model = read_model(RESIDUAL_BLOCK)
    program = fuse(specialise(model.graph, 17, {"x": Value("x", "float32", (1, 3, 5, 5))}))
    steps = [step for step in program.steps if isinstance(step, Step)]
    assert [step.problem.op for step in steps] == ["conv", "conv", "conv"]
    assert steps[-1].problem.has_residual
    assert steps[-1].problem.activation.kind == "clip"


def test_a_value_that_is_also_an_output_is_not_fused_away(device: Device) -> None:
    model = make(
        [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])],
        {"x": [1, 1, 3, 3]},
        ["y", "c"],
        {"w": floats(1, 1, 2, 2)},
    )
    session = InferenceSession.create_sync(model, device=device)
    x = floats(1, 1, 3, 3)
    for got, want in zip(session.run_sync(["c", "y"], {"x": x}), reversed(reference(model, {"x": x})), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    session.destroy()


def test_concurrent_runs_see_their_own_inputs(session: InferenceSession) -> None:
    xs = [floats(1, 3, 4, 4) for _ in range(4)]

    async def both() -> list[list[np.ndarray]]:
        return await asyncio.gather(*(session.run(None, {"x": x}) for x in xs))

    for (y,), x in zip(asyncio.run(both()), xs, strict=True):
        np.testing.assert_allclose(y, reference(RESIDUAL_BLOCK, {"x": x})[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("feeds", "words"),
    [
        ({}, "missing x"),
        ({"x": np.zeros((1, 3, 4, 4), np.float32), "z": np.zeros(1)}, "unknown z"),
        ({"x": np.zeros((1, 3, 4, 4), np.float64)}, "must be float32, got float64"),
        ({"x": np.zeros((1, 2, 4, 4), np.float32)}, r"must have shape \(N, 3, H, W\)"),
        ({"x": np.zeros((3, 4, 4), np.float32)}, "must have shape"),
        ({"x": [[1.0]]}, "must be a numpy array, got list"),
    ],
)
def test_wrong_feeds_are_refused_and_the_session_goes_on(
    session: InferenceSession, feeds: dict[str, Any], words: str
) -> None:
    with pytest.raises(FeedError, match=words):
        session.run_sync(None, feeds)
    assert session.run_sync(None, {"x": floats(1, 3, 2, 2)})[0].shape == (1, 16)


def test_unknown_output_is_refused(session: InferenceSession) -> None:
    with pytest.raises(FeedError, match="output_names must be of y, got z"):
        session.run_sync(["z"], {"x": floats(1, 3, 2, 2)})


def test_an_empty_picture_is_refused(session: InferenceSession) -> None:
    with pytest.raises(KernelShapeError):
        session.run_sync(None, {"x": np.zeros((1, 3, 0, 4), np.float32)})
    assert session.run_sync(None, {"x": floats(1, 3, 2, 2)})[0].shape == (1, 16)


def test_every_missing_operator_is_named() -> None:
    model = make(
        [
            helper.make_node("NonMaxSuppression", ["x", "x"], ["a"]),
            helper.make_node("RoiAlign", ["x", "a", "a"], ["y"]),
        ],
        {"x": [1, 1, 3, 3]},
        ["y"],
        {},
    )
    with pytest.raises(UnsupportedError, match="NonMaxSuppression") as caught:
        InferenceSession.create_sync(model)
    assert [item.split(":")[0] for item in caught.value.missing] == ["NonMaxSuppression", "RoiAlign"]


@pytest.mark.parametrize("damage", [lambda m: m[: len(m) // 2], lambda m: b"\x07" * 300, lambda m: b""])
def test_damaged_files_are_refused(device: Device, damage: Any) -> None:
    with pytest.raises(ModelError):
        InferenceSession.create_sync(damage(RESIDUAL_BLOCK), device=device)


def test_a_missing_file_is_a_model_error(device: Device) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.onnx cannot be read"):
        InferenceSession.create_sync("nowhere.onnx", device=device)


def test_shapes_may_come_from_an_input(device: Device) -> None:
    model = make(
        [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Reshape", ["r", "shape"], ["y"])],
        {"x": [2, 6], "shape": (INT64, [2])},
        ["y"],
        {},
    )
    session = InferenceSession.create_sync(model, device=device)
    x = floats(2, 6)
    for shape in ([3, 4], [-1, 2]):
        (y,) = session.run_sync(None, {"x": x, "shape": np.array(shape, np.int64)})
        np.testing.assert_array_equal(y, np.maximum(x, 0).reshape(shape))
    session.destroy()


def test_a_shape_that_only_the_gpu_knows_is_refused(device: Device) -> None:
    model = make(
        [helper.make_node("Abs", ["x"], ["r"]), helper.make_node("ConstantOfShape", ["r"], ["y"])],
        {"x": (INT64, [100_000])},
        ["y"],
        {},
    )
    with pytest.raises(UnsupportedError, match="only the host computes it, and 'r' comes from the input 'x'"):
        InferenceSession.create_sync(model, device=device)


def test_constant_outputs_need_no_gpu(device: Device) -> None:
    model = make(
        [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Cast", ["s"], ["y"], to=FLOAT)],
        {"x": ["A", "B"]},
        ["y"],
        {},
    )
    session = InferenceSession.create_sync(model, device=device)
    np.testing.assert_array_equal(session.run_sync(None, {"x": floats(3, 5)})[0], [3, 5])
    session.destroy()


def test_an_output_may_be_an_input(device: Device) -> None:
    model = make([helper.make_node("Identity", ["x"], ["y"])], {"x": [2, 3]}, ["y"], {})
    session = InferenceSession.create_sync(model, device=device)
    x = floats(2, 3)
    np.testing.assert_array_equal(session.run_sync(None, {"x": x})[0], x)
    session.destroy()


def test_many_shapes_keep_a_bounded_number_of_plans(device: Device, session: InferenceSession) -> None:
    for width in range(1, 28):
        session.run_sync(None, {"x": floats(1, 3, 2, width)})
    before = device.live_buffers()
    for width in range(28, 36):
        session.run_sync(None, {"x": floats(1, 3, 2, width)})
    assert device.live_buffers() == before
    (y,) = session.run_sync(None, {"x": np.ones((1, 3, 2, 1), np.float32)})
    (want,) = reference(RESIDUAL_BLOCK, {"x": np.ones((1, 3, 2, 1), np.float32)})
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


def test_destroy_frees_every_buffer(device: Device) -> None:
    before = device.live_buffers()
    session = InferenceSession.create_sync(RESIDUAL_BLOCK, device=device)
    session.run_sync(None, {"x": floats(1, 3, 4, 4)})
    assert device.live_buffers() > before
    session.destroy()
    session.destroy()
    assert device.live_buffers() == before
    with pytest.raises(DeviceError, match="the session was destroyed"):
        session.run_sync(None, {"x": floats(1, 3, 4, 4)})


def test_inputs_and_outputs_are_described(session: InferenceSession) -> None:
    (info,) = session.get_inputs()
    assert (info.name, info.shape, info.type) == ("x", ["N", 3, "H", "W"], "tensor(float)")
    assert [info.name for info in session.get_outputs()] == ["y"]


def test_gpu_time_is_known_where_timestamps_are(session: InferenceSession) -> None:
    session.run_sync(None, {"x": floats(1, 3, 4, 4)})
    if "timestamp-query" in session.device.features:
        assert session.gpu_ms is not None
        assert 0 < session.gpu_ms < 60_000
    else:
        assert session.gpu_ms is None


def test_bytes_move_through_views_pads_and_concatenations(device: Device) -> None:
    nodes = [
        helper.make_node("DepthToSpace", ["x"], ["d"], blocksize=2),
        helper.make_node("Pad", ["d", "pads", "value"], ["p"]),
        helper.make_node("Transpose", ["p"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("Concat", ["t", "t"], ["y"], axis=3),
    ]
    constants = {"pads": np.array([0, 0, 1, 3, 0, 0, 0, 2]), "value": np.array(7, np.uint8)}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 12, 3, 5])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = RNG.integers(0, 256, (1, 12, 3, 5), np.uint8)
    session = InferenceSession.create_sync(model.SerializeToString(), device=device)
    try:
        (y,) = session.run_sync(None, {"x": x})
    finally:
        session.destroy()
    (want,) = ReferenceEvaluator(model).run(None, {"x": x})
    assert y.dtype == np.uint8
    np.testing.assert_array_equal(y, want)
