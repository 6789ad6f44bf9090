"""Pooling and resizing by `ops` and by models of older opsets, against the float64 definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from onegpu_web import InferenceSession, ops
from onegpu_web.device import Device
from onegpu_web.errors import UnsupportedError
from onegpu_web.problems.grid_sample import GridSampleProblem
from onegpu_web.problems.pool import GlobalPoolProblem, PoolProblem
from onegpu_web.problems.resize import ResizeProblem
from onegpu_web.testing.reference import pool as pool_reference
from onegpu_web.testing.reference import resize as resize_reference
from onegpu_web.testing.reference import sample as sample_reference

X = np.random.default_rng(2).standard_normal((1, 4, 6, 5)).astype(np.float32)


def run(device: Device, op: str, attributes: dict[str, Any], opset: int, **constants: Any) -> Any:
    """The output of one node over X and constants; a constant that is None is an input left out."""
    names = ["x", *(name if value is not None else "" for name, value in constants.items())]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], **attributes)],
        "main",
        [helper.make_tensor_value_info("x", 1, X.shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items() if value is not None],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    session = InferenceSession.create_sync(model.SerializeToString(), device=device)
    try:
        return session.run_sync(None, {"x": X})[0]
    finally:
        session.destroy()


def close(got: Any, want: Any) -> None:
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


OLD: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "before_opset_11"}
SCALES = (1.0, 1.0, 2.0, 0.5)
EMPTY = np.zeros(0, np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample_takes_its_scales_from_an_attribute_and_then_from_an_input(device: Device, mode: str) -> None:
    grown = (1.0, 1.0, 2.0, 3.0)
    want = resize_reference.resize(ResizeProblem(X.shape, scales=grown, mode=mode, **OLD), X)
    close(run(device, "Upsample", {"mode": mode, "scales": list(grown)}, 7), want)
    close(run(device, "Upsample", {"mode": mode}, 9, scales=np.float32(grown)), want)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_10_is_asymmetric(device: Device, mode: str) -> None:
    want = resize_reference.resize(ResizeProblem(X.shape, scales=SCALES, mode=mode, **OLD), X)
    close(run(device, "Resize", {"mode": mode}, 10, scales=np.float32(SCALES)), want)


def test_nearest_before_opset_11_rounds_up_where_it_shrinks() -> None:
    """As in the onnx package's own test of opset 10: 1, 2, 3, 4 at scale 0.6 are 1, 3."""
    assert list(ResizeProblem((4,), scales=(0.6,), **OLD).taps()[0].starts) == [0, 2]
    assert list(ResizeProblem((2,), scales=(2.5,), **OLD).taps()[0].starts) == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("opset", [11, 13, 18, 19])
@pytest.mark.parametrize("roi", [None, EMPTY], ids=["no roi", "empty roi"])
def test_resize_by_scales_or_sizes(device: Device, opset: int, roi: Any) -> None:
    attributes = {"mode": "linear"}
    want = resize_reference.resize(ResizeProblem(X.shape, scales=SCALES, mode="linear"), X)
    close(run(device, "Resize", attributes, opset, roi=roi, scales=np.float32(SCALES)), want)
    for scales in (EMPTY, None):
        got = run(device, "Resize", attributes, opset, roi=roi, scales=scales, sizes=np.array(want.shape))
        close(got, resize_reference.resize(ResizeProblem(X.shape, sizes=want.shape, mode="linear"), X))


def test_tf_half_pixel_for_nn_of_opset_11(device: Device) -> None:
    attributes = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}
    got = run(device, "Resize", attributes, 11, roi=EMPTY, scales=np.float32((1, 1, 2, 3)))
    assert np.array_equal(got, X.repeat(2, 2).repeat(3, 3))


def test_lp_pool_before_opset_18(device: Device) -> None:
    attributes = {"kernel_shape": [2, 3], "p": 3, "strides": [2, 1]}
    want = pool_reference.pool(PoolProblem("lp", X.shape, (2, 3), strides=(2, 1), p=3.0), X)["y"]
    close(run(device, "LpPool", attributes, 11), want)


def test_auto_pad_beside_pads_decides(device: Device) -> None:
    attributes = {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER", "pads": [0, 0, 0, 0]}
    want = pool_reference.pool(PoolProblem("max", X.shape, (2, 2), auto_pad="SAME_UPPER"), X)["y"]
    assert np.array_equal(run(device, "MaxPool", attributes, 12), want)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_a_window_over_the_whole_plane_is_a_global_pool(device: Device, op: str) -> None:
    kind = {"MaxPool": "max", "AveragePool": "average", "LpPool": "lp"}[op]
    problem = PoolProblem(kind, X.shape, (6, 5))
    assert problem.covers_planes
    assert not PoolProblem(kind, X.shape, (6, 4)).covers_planes
    assert not PoolProblem(kind, X.shape, (6, 5), pads=(0, 0, 0, 1)).covers_planes
    close(run(device, op, {"kernel_shape": [6, 5]}, 12), pool_reference.pool(problem, X)["y"])


def test_interpolating_integers_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="mode linear must be of floats, got uint8"):
        ops.resize_sync(np.ones((1, 1, 2, 2), np.uint8), sizes=(1, 1, 4, 4), mode="linear")


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, np.int8, np.bool_, np.int64])
def test_nearest_moves_any_type(dtype: Any) -> None:
    x = np.random.default_rng(3).integers(0, 100, (1, 2, 5, 7)).astype(dtype)
    got = ops.resize_sync(x, sizes=(1, 2, 15, 14), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    assert got.dtype == dtype
    assert np.array_equal(got, x.repeat(3, 2).repeat(2, 3))


def test_an_empty_batch_gives_an_empty_result() -> None:
    none = np.zeros((0, 3, 6, 6), np.float32)
    assert ops.max_pool_sync(none, (2, 2), strides=(2, 2)).shape == (0, 3, 3, 3)
    assert ops.average_pool_sync(none, (3, 3)).shape == (0, 3, 4, 4)
    assert ops.global_average_pool_sync(none).shape == (0, 3, 1, 1)
    assert ops.resize_sync(none, scales=(1, 1, 2, 2), mode="linear").shape == (0, 3, 12, 12)


def test_lp_pools() -> None:
    close(ops.lp_pool_sync(X, (2, 2), p=1), pool_reference.pool(PoolProblem("lp", X.shape, (2, 2), p=1.0), X)["y"])
    want = pool_reference.global_pool(GlobalPoolProblem("lp", X.shape, p=3.0), X)["y"]
    close(ops.global_lp_pool_sync(X, p=3), want)


def test_max_unpool_undoes_max_pool() -> None:
    y, indices = ops.max_pool_sync(X, (2, 2), strides=(2, 2), return_indices=True)
    assert indices.dtype == np.int64
    back = ops.max_unpool_sync(y, indices, (2, 2), strides=(2, 2), output_shape=(1, 4, 7, 6))
    assert back.shape == (1, 4, 7, 6)
    again = ops.max_unpool_sync(y, indices % 24, (2, 2), strides=(2, 2))
    assert again.shape == (1, 4, 6, 4)
    assert np.count_nonzero(again[:, 1:]) == 0
    tight = ops.max_pool_sync(X[..., :4], (2, 2), strides=(2, 2), return_indices=True)
    whole = ops.max_unpool_sync(*tight, (2, 2), strides=(2, 2))
    assert np.array_equal(ops.max_pool_sync(np.where(whole == 0, -9, whole), (2, 2), strides=(2, 2)), tight[0])


def test_col2im_adds_overlaps() -> None:
    ones = np.ones((1, 9, 9), np.float32)
    image = ops.col2im_sync(ones, (5, 5), (3, 3))
    assert image[0, 0, 2, 2] == 9
    assert image[0, 0, 0, 0] == 1
    assert image.sum() == 81


def test_grid_sample_of_the_identity_grid() -> None:
    v, u = np.meshgrid(np.linspace(-1, 1, 6), np.linspace(-1, 1, 5), indexing="ij")
    grid = np.stack([u, v], -1)[None].astype(np.float32)
    got = ops.grid_sample_sync(X, grid, align_corners=True)
    close(got, X)
    problem = GridSampleProblem(X.shape, grid.shape, mode="cubic", padding_mode="reflection")
    want = sample_reference.grid_sample(problem, X, grid)
    close(ops.grid_sample_sync(X, grid, mode="cubic", padding_mode="reflection"), want)
