"""Callers who give what does not fit get an error of the package that says so, and go on working."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from onnx import TensorProto, TypeProto, helper

from onegpu_web import InferenceSession, ops
from onegpu_web.device import Device, request_device_sync, wait
from onegpu_web.device.base import choose_features, choose_limits, offered_features
from onegpu_web.errors import (
    DeviceError,
    DeviceLostError,
    FeedError,
    KernelShapeError,
    ModelError,
    OnegpuError,
    UnsupportedError,
)
from onegpu_web.ops import Tensor, default_device

X = np.arange(2 * 6 * 6, dtype=np.float32).reshape(1, 2, 6, 6)
W = np.ones((3, 2, 3, 3), np.float32)
FLOATS = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])


def sum_model(dims: list[Any]) -> bytes:
    """x + z, of two axes each, x of `dims`."""
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in ("x", "z")]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "z"], ["y"])],
        "g",
        infos,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def unary_model(op_type: str, element_type: int) -> bytes:
    """One node over x (1, 2)."""
    node = helper.make_node(op_type, ["x"], ["y"])
    infos = [helper.make_tensor_value_info("x", element_type, [1, 2])]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", element_type, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def slowly(load: Any) -> Any:
    """`load` with a point where other coroutines run, as a browser's has while it compiles."""

    async def loading(plan: Any) -> Any:
        await asyncio.sleep(0)
        return await load(plan)

    return loading


@pytest.fixture
def session(device: Device) -> Iterator[InferenceSession]:
    made = InferenceSession.create_sync(sum_model(["N", 3]), device=device)
    yield made
    made.destroy()


FEEDS = {"x": np.ones((2, 3), np.float32), "z": np.ones((2, 3), np.float32)}


@pytest.mark.gpu
class TestSession:
    @pytest.mark.parametrize("name", ["?", " ", "", None])
    def test_dimensions_without_a_real_name_are_free(self, device: Device, name: str | None) -> None:
        session = InferenceSession.create_sync(sum_model([name, name]), device=device)
        assert session.get_inputs()[0].shape == [None, None]
        (y,) = session.run_sync(None, FEEDS)
        np.testing.assert_array_equal(y, np.full((2, 3), 2, np.float32))
        session.destroy()

    def test_dimensions_of_one_name_are_one_size(self, device: Device) -> None:
        session = InferenceSession.create_sync(sum_model(["N", "N"]), device=device)
        with pytest.raises(FeedError, match=r"shape \(N, N\), got \(2, 3\)"):
            session.run_sync(None, FEEDS)
        session.destroy()

    @pytest.mark.parametrize("feeds", [None, [FEEDS["x"]], {3: FEEDS["x"]}, {"x": None, "z": 1}, "xz"])
    def test_feeds_must_map_names_to_arrays(self, session: InferenceSession, feeds: Any) -> None:
        with pytest.raises(FeedError, match=r"^run: "):
            session.run_sync(None, feeds)
        np.testing.assert_array_equal(session.run_sync(None, FEEDS)[0], np.full((2, 3), 2, np.float32))

    @pytest.mark.parametrize("names", ["y", 3, [None], ["nope"], [["y"]]])
    def test_output_names_must_be_a_list_of_them(self, session: InferenceSession, names: Any) -> None:
        with pytest.raises(FeedError, match=r"^run: output_names must be"):
            session.run_sync(names, FEEDS)

    @pytest.mark.parametrize("source", [None, 3, [], np.zeros(5, np.uint8), "a\0b", "", "no/such.onnx"])
    def test_a_source_is_a_path_a_url_or_bytes(self, device: Device, source: Any) -> None:
        with pytest.raises(ModelError, match=r"^model: "):
            InferenceSession.create_sync(source, device=device)

    def test_a_session_may_be_destroyed_while_a_run_compiles(
        self, device: Device, session: InferenceSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = device.live_buffers()
        monkeypatch.setattr(device, "load", slowly(device.load))

        async def destroy_meanwhile() -> None:
            run = asyncio.create_task(session.run(None, FEEDS))
            await asyncio.sleep(0)
            session.destroy()
            with pytest.raises(DeviceError, match="run: the session was destroyed while it ran"):
                await run

        asyncio.run(destroy_meanwhile())
        assert device.live_buffers() == before

    def test_runs_may_compile_the_same_plan_at_once(
        self, device: Device, session: InferenceSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = {name: array[:1] for name, array in FEEDS.items()}
        monkeypatch.setattr(device, "load", slowly(device.load))

        async def run_twice() -> list[Any]:
            return await asyncio.gather(*(session.run(None, other) for _ in range(2)))

        for (y,) in asyncio.run(run_twice()):
            np.testing.assert_array_equal(y, np.full((1, 3), 2, np.float32))

    @pytest.mark.parametrize(
        ("kind", "message"),
        [
            (
                helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [1])),
                "must be a tensor",
            ),
            (
                helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [1])),
                "must be a tensor",
            ),
            (helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [1]), "must be a tensor"),
            (helper.make_tensor_type_proto(TensorProto.DOUBLE, [1]), "tensors of float64"),
            (helper.make_tensor_type_proto(TensorProto.STRING, [1]), "tensors of string"),
        ],
    )
    def test_inputs_must_be_tensors_that_the_gpu_holds(self, device: Device, kind: TypeProto, message: str) -> None:
        graph = helper.make_graph(
            [helper.make_node("Identity", ["x"], ["y"])],
            "g",
            [helper.make_value_info("x", kind)],
            [helper.make_value_info("y", kind)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        with pytest.raises(UnsupportedError, match=f"input 'x'.*{message}"):
            InferenceSession.create_sync(model.SerializeToString(), device=device)

    def test_a_device_is_a_device(self) -> None:
        with pytest.raises(DeviceError, match="device must be a Device or None, got int"):
            InferenceSession.create_sync(sum_model([2, 3]), device=3)  # type: ignore[arg-type]


@pytest.mark.gpu
class TestOps:
    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: ops.conv_sync(X, W, strides=2), "conv: strides must be a list of integers, got 2"),
            (lambda: ops.conv_sync(X, W, pads="abcd"), "conv: pads must be a list of integers, got 'abcd'"),
            (lambda: ops.conv_sync(X, W, strides=(1.5, 1)), r"conv: strides must be .*, got \(1.5, 1\)"),
            (lambda: ops.conv_sync(X, W, activation=3), "conv: activation must be one of relu, .* got 3"),
            (lambda: ops.conv_sync(X, W, activation=("clip", "a")), "conv: activation's numbers must fit"),
            (lambda: ops.conv_transpose_sync(X, W, output_shape=3), "conv_transpose: output_shape must be a list"),
            (lambda: ops.max_pool_sync(X, 3), "max_pool: kernel_shape must be a list of integers, got 3"),
            (lambda: ops.average_pool_sync(X, 3), "average_pool: kernel_shape must be a list"),
            (lambda: ops.lp_pool_sync(X, 3), "lp_pool: kernel_shape must be a list"),
            (lambda: ops.col2im_sync(X, 3, (2, 2)), "col2im: image_shape must be a list"),
            (lambda: ops.resize_sync(X, sizes=("a",)), "resize: sizes must be a list of integers"),
            (lambda: ops.resize_sync(X, scales=("a",)), "resize: scales must fit float32"),
            (lambda: ops.transpose_sync(X, perm="abcd"), "transpose: perm must be a list of integers"),
            (lambda: ops.reduce_mean_sync(X, (1.5,)), "reduce_mean: axes must be a list of integers"),
            (lambda: ops.slice_sync(X, 0, 1), "slice: starts must be a list of integers, got 0"),
            (lambda: ops.slice_sync(X, (2**70,), (1,)), "slice: starts must fit int64"),
            (lambda: ops.pad_sync(X, (1,) * 8, constant_value="a"), "pad: constant_value must fit float32"),
            (lambda: ops.clip_sync(X.astype(np.uint8), -2), "clip: lo must fit uint8, got -2"),
            (lambda: ops.cast_sync(X, "nope"), "cast: dtype must be a name of numpy's .* got 'nope'"),
            (lambda: ops.cast_sync(X, "<U3"), "cast: dtype must be a name of numpy's .* got '<U3'"),
        ],
    )
    def test_arguments_that_cannot_be(self, call: Any, message: str) -> None:
        with pytest.raises(KernelShapeError, match=f"^{message}"):
            call()

    @pytest.mark.parametrize(
        ("operand", "error", "message"),
        [
            ([1.0], FeedError, "Add: b must be a numpy array or a Tensor, got list"),
            (2.0, FeedError, "Add: b must be a numpy array or a Tensor, got float"),
            (np.ones(6), UnsupportedError, "Add: b must have a type that the GPU computes with, got float64"),
            (np.ones(6, ">f4"), UnsupportedError, "Add: b must have a type that the GPU computes with, got >f4"),
            (np.ones(5, np.float32), KernelShapeError, "Add 'y': add: shapes must broadcast together"),
        ],
    )
    def test_operands_that_cannot_be(self, operand: Any, error: type[OnegpuError], message: str) -> None:
        with pytest.raises(error, match=f"^{message}"):
            ops.add_sync(X, operand)

    def test_what_no_buffer_holds_names_the_operation(self) -> None:
        with pytest.raises(KernelShapeError, match=r"^add: y: a buffer must be at most"):
            ops.add_sync(np.zeros((30_000, 1), np.float32), np.zeros((1, 30_000), np.float32))

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda x: ops.softmax_sync(x.astype(np.int32)), "Softmax 'y': input must be float16, .* got int32"),
            (lambda x: ops.softmax_sync(x), "Softmax 'y': input must be float16, .* got bool"),
            (lambda x: ops.add_sync(x, x), "Add 'y': A must be float16, .* got bool"),
            (lambda x: ops.neg_sync(x), "Neg 'y': X must be float16, .* got bool"),
            (lambda x: ops.relu_sync(x), "Relu 'y': X must be float16, .* got bool"),
            (lambda x: ops.reduce_mean_sync(x), "ReduceMean 'y': data must be float16, .* got bool"),
        ],
    )
    def test_types_that_an_operation_has_no_meaning_for(self, call: Any, message: str) -> None:
        with pytest.raises(KernelShapeError, match=message):
            call(np.ones((2, 3), np.bool_))

    @pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceProd", "ArgMax", "Abs", "Sign", "LogSoftmax", "Clip"])
    def test_nodes_that_count_take_no_booleans(self, device: Device, op_type: str) -> None:
        with pytest.raises(KernelShapeError):
            InferenceSession.create_sync(unary_model(op_type, TensorProto.BOOL), device=device)

    def test_not_takes_booleans_alone(self, device: Device) -> None:
        with pytest.raises(KernelShapeError, match="X must be bool, got int32"):
            InferenceSession.create_sync(unary_model("Not", TensorProto.INT32), device=device)
        session = InferenceSession.create_sync(unary_model("Not", TensorProto.BOOL), device=device)
        (y,) = session.run_sync(None, {"x": np.array([[True, False]])})
        np.testing.assert_array_equal(y, [[False, True]])
        session.destroy()

    def test_label_is_said_once(self) -> None:
        with pytest.raises(KernelShapeError) as caught:
            ops.conv_sync(X, W, strides=(0, 1))
        assert str(caught.value).count("Conv 'y'") == 1

    def test_tensors_must_be_alive_and_on_one_device(self, device: Device) -> None:
        here, there = Tensor.from_numpy_sync(X, device), Tensor.from_numpy_sync(X)
        with pytest.raises(DeviceError, match="Add: b must be on the device of a"):
            ops.add_sync(here, there)
        here.destroy()
        with pytest.raises(DeviceError, match="Add: a must be a live Tensor, got one that was destroyed"):
            ops.add_sync(here, there)
        np.testing.assert_array_equal(ops.relu_sync(there).numpy_sync(), X)

    @pytest.mark.parametrize("array", [None, [1.0], "x", 3.0])
    def test_tensors_are_made_of_arrays(self, array: Any) -> None:
        with pytest.raises(FeedError, match="tensor: array must be a numpy array"):
            Tensor.from_numpy_sync(array)

    def test_calls_at_once_share_one_device(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made: list[Device] = []

        async def request() -> Device:
            await asyncio.sleep(0)
            made.append(request_device_sync())
            return made[-1]

        async def both() -> list[Device]:
            return await asyncio.gather(default_device(), default_device())

        ops.forget_default_device()
        monkeypatch.setattr("onegpu_web.ops.tensor.request_device", request)
        first, second = asyncio.run(both())
        assert first is second is made[0]
        with pytest.raises(DeviceLostError):
            made[1].create_buffer(4)

    def test_a_lost_shared_device_is_replaced(self) -> None:
        wait(default_device()).destroy()
        with pytest.raises(DeviceLostError):
            ops.relu_sync(X)
        np.testing.assert_array_equal(ops.relu_sync(X), X)


class TestRequest:
    LIMITS: ClassVar = {"max_buffer_size": 1 << 30, "min_storage_buffer_offset_alignment": 32}

    @pytest.mark.parametrize("features", ["subgroups", 3, [3], ["nope"], [None]])
    def test_features_must_be_names_that_are_offered(self, features: Any) -> None:
        with pytest.raises(DeviceError, match=r"^request_device: features must be"):
            choose_features(features, frozenset({"subgroups"}))

    @pytest.mark.parametrize("value", ["3", -1, 0, 1.5, True, None, 1 << 31])
    def test_limits_must_be_sizes_that_are_offered(self, value: Any) -> None:
        with pytest.raises(DeviceError, match=r"^request_device: max_buffer_size must be"):
            choose_limits({"max_buffer_size": value}, self.LIMITS)

    def test_alignments_have_a_least_value(self) -> None:
        with pytest.raises(DeviceError, match="must be at least the adapter's 32, got 16"):
            choose_limits({"min_storage_buffer_offset_alignment": 16}, self.LIMITS)

    @pytest.mark.parametrize("limits", [[1], "x", {"nope": 1}, {3: 1}])
    def test_limits_must_be_a_mapping_of_known_names(self, limits: Any) -> None:
        with pytest.raises(DeviceError, match=r"^request_device: limits must be"):
            choose_limits(limits, self.LIMITS)

    @pytest.mark.gpu
    @pytest.mark.parametrize("power_preference", ["fast", "", None, 3])
    def test_power_preference_is_one_of_two_words(self, power_preference: Any) -> None:
        with pytest.raises(DeviceError, match="power_preference must be one of high-performance, low-power"):
            request_device_sync(power_preference=power_preference)

    def test_offered_names_useful_features_that_cannot_be_enabled(self) -> None:
        adapter = frozenset({"cooperative-matrix", "shader-f16", "bgra8unorm-storage"})
        assert offered_features(adapter) == ("shader-f16", "cooperative-matrix")
        assert choose_features(None, adapter) == ("shader-f16",)

    @pytest.mark.gpu
    def test_a_device_has_what_is_offered_and_can_be_enabled(self, device: Device) -> None:
        assert set(device.info.offered) - {"cooperative-matrix"} == device.features


@pytest.mark.gpu
@pytest.mark.parametrize("folder", [None, ""])
def test_the_adapter_is_found_in_silence_without_a_runtime_folder(folder: str | None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    if folder is not None:
        environment["XDG_RUNTIME_DIR"] = folder
    code = (
        "import os; from concurrent.futures import ThreadPoolExecutor; "
        "from onegpu_web.device import request_device_sync; "
        "before = os.environ.get('XDG_RUNTIME_DIR'); threads = ThreadPoolExecutor(3); "
        "[made.result().destroy() for made in [threads.submit(request_device_sync) for _ in range(3)]]; "
        "assert os.environ.get('XDG_RUNTIME_DIR') == before"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
