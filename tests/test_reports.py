"""Right values for what users and probes reported: one small test each."""

from __future__ import annotations

import asyncio
import re
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from PIL import Image
from test_session import make

from onegpu_web import InferenceSession, ops
from onegpu_web.caps import Caps
from onegpu_web.errors import FeedError, ModelError, UnsupportedError
from onegpu_web.graph.reader import read_model
from onegpu_web.jobs.picture import load_picture
from onegpu_web.kernels.family import Family
from onegpu_web.problems.activation import Activation
from onegpu_web.problems.resize import ResizeProblem
from onegpu_web.testing import runner
from onegpu_web.testing.reference.activation import activate


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (-10, -20, -1, [0]),
        (-10, -(2**63), -2, [0]),
        (9, -9, -2, [4, 2, 0]),
        (2, -(2**31), -1, [2, 1, 0]),
        (-9, 9, 2, [0, 2, 4]),
        (9, 12, 1, []),
        (-10, 2, -1, []),
    ],
)
def test_slice_clamps_as_onnx_does(start: int, end: int, step: int, expected: list[int]) -> None:
    bounds = {name: np.array([value], np.int64) for name, value in (("s", start), ("e", end), ("a", 0), ("t", step))}
    model = make([helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])], {"x": [5]}, ["y"], bounds)
    session = InferenceSession.create_sync(model)
    assert session.run_sync(None, {"x": np.arange(5, dtype=np.float32)})[0].tolist() == expected
    session.destroy()


async def rows_of(features: frozenset[str], needs: str) -> list[Any]:
    """The rows of a table of one case whose only variant asks for a feature."""
    variant = SimpleNamespace(name="v", supports=lambda problem, caps: None if needs in caps.features else "no")
    case = SimpleNamespace(name="c", problem=None, variants=None, tolerance=0.0)
    module = SimpleNamespace(CASES=[case], FAMILY=Family("f", (variant,)), arrays=lambda *_: {}, expected=lambda *_: {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "table", lambda _: module)
        return await runner.run_table(SimpleNamespace(caps=Caps(features=features)), "f")


def test_a_case_that_no_variant_takes_fails() -> None:
    assert asyncio.run(rows_of(frozenset(), "never")) == [
        {
            "case": "c",
            "variant": "",
            "error": None,
            "tolerance": 0.0,
            "ok": False,
            "message": "no variant takes this case",
        }
    ]
    (row,) = asyncio.run(rows_of(frozenset(), "shader-f16"))
    assert (row["ok"], row["variant"], row["message"]) == (True, "", "left out: it needs shader-f16")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("bounds", [(0.0, 6.0), (-1.0, 0.5), (0.25,)])
def test_a_convolution_may_end_in_clip(dtype: str, bounds: tuple[float, ...]) -> None:
    x, w = np.arange(-8, 8, dtype=dtype).reshape(1, 1, 4, 4), np.ones((1, 1, 1, 1), dtype)
    y = ops.conv_sync(x, w, activation=("clip", *bounds))
    assert y.dtype == x.dtype
    assert np.array_equal(y, np.clip(x, bounds[0], bounds[1] if len(bounds) > 1 else None))


@pytest.mark.parametrize("options", [{}, {"providers": ["CPUExecutionProvider"]}])
def test_the_constructor_says_how_a_session_is_made(options: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="create_sync"):
        InferenceSession("m.onnx", **options)  # type: ignore[arg-type]


def half_model(op: str, inputs: dict[str, Any], weight: float, **attributes: Any) -> bytes:
    """Conv of 64 channels in half, then an operator with constants in half; float32 comes out."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node(op, ["c", *inputs], ["d"], **attributes),
        helper.make_node("Cast", ["d"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = {"w": np.full((1, 64, 1, 1), weight, np.float16)}
    constants |= {name: np.asarray(value, np.float16) for name, value in inputs.items()}
    return make(nodes, {"x": (TensorProto.FLOAT16, [1, 64, 1, 1])}, ["y"], constants)


@pytest.mark.gpu
def test_a_fold_that_would_lose_small_weights_is_left() -> None:
    session = InferenceSession.create_sync(half_model("Div", {"k": np.full((1, 1, 1), 1000.0)}, 1e-4))
    (y,) = session.run_sync(None, {"x": np.full((1, 64, 1, 1), 100, np.float16)})
    assert y.item() == pytest.approx(64 * 100 * float(np.float16(1e-4)) / 1000, rel=2e-3)
    session.destroy()


@pytest.mark.gpu
def test_a_fold_that_would_overflow_is_left() -> None:
    session = InferenceSession.create_sync(half_model("Mul", {"k": np.full((1, 1, 1), 1000.0)}, 100.0))
    (y,) = session.run_sync(None, {"x": np.full((1, 64, 1, 1), 1 / 16384, np.float16)})
    assert y.item() == pytest.approx(64 * 100 * 1000 / 16384, rel=2e-3)
    session.destroy()


@pytest.mark.gpu
def test_products_that_leave_float32_are_not_folded() -> None:
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Mul", ["c", "k"], ["y"])]
    constants = {"w": np.full((1, 1, 1, 1), 1e-25, np.float32), "k": np.full((1, 1, 1), 1e-25, np.float32)}
    session = InferenceSession.create_sync(make(nodes, {"x": [1, 1, 1, 1]}, ["y"], constants))
    (y,) = session.run_sync(None, {"x": np.full((1, 1, 1, 1), 1e30, np.float32)})
    assert y.item() == pytest.approx(1e-20, rel=1e-5)
    session.destroy()


@pytest.mark.gpu
def test_a_batch_normalization_of_small_variance_is_not_lost() -> None:
    inputs = {"scale": [1.0], "shift": [0.0], "mean": [0.0], "variance": [1e-6]}
    session = InferenceSession.create_sync(half_model("BatchNormalization", inputs, 256.0))
    (y,) = session.run_sync(None, {"x": np.full((1, 64, 1, 1), 1 / 16384, np.float16)})
    factor = 1 / np.sqrt(float(np.float16(1e-6)) + 1e-5)
    assert y.item() == pytest.approx(64 * 256 / 16384 * factor, rel=2e-3)
    session.destroy()


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    stream = BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def test_a_colour_key_is_laid_on_white() -> None:
    colours = np.array([[[10, 20, 30], [10, 20, 31]]], np.uint8)
    loaded = load_picture(saved(Image.fromarray(colours), "PNG", transparency=(10, 20, 30)))
    assert loaded.tolist() == [[[255, 255, 255], [10, 20, 31]]]
    gray = np.array([[5, 200]], np.uint8)
    loaded = load_picture(saved(Image.fromarray(gray), "PNG", transparency=5))
    assert loaded[0, :, 0].tolist() == [255, 200]
    deep = np.array([[0x1234, 0x1235, 0x8000]], np.uint16)
    loaded = load_picture(saved(Image.fromarray(deep), "PNG", transparency=0x1234))
    assert loaded[0, :, 0].tolist() == [255, 0x12, 0x80]


def test_pictures_of_floats() -> None:
    unit = np.array([[0.0, 0.5, 1.0]], np.float32)
    assert load_picture(saved(Image.fromarray(unit), "TIFF"))[0, :, 1].tolist() == [0, 128, 255]
    wide = np.array([[-3.0, 100.4, 300.0]], np.float32)
    assert load_picture(saved(Image.fromarray(wide), "TIFF"))[0, :, 1].tolist() == [0, 100, 255]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<!DOCTYPE html><html><body>404</body></html>", "an HTML page"),
        (b"\n  <html lang='en'>", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "a Git LFS pointer"),
        (b"PK\x03\x04....", "a zip archive"),
    ],
)
def test_what_came_in_a_model_s_place_is_named(data: bytes, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        read_model(data)


def test_a_model_of_other_domains_alone_is_unsupported() -> None:
    graph = helper.make_graph([helper.make_node("F", ["x"], ["y"], domain="com.example")], "g", [], [])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("com.example", 1)])
    with pytest.raises(UnsupportedError, match=r"got only those of com\.example"):
        read_model(model.SerializeToString())


@pytest.mark.parametrize("kind", ["hard_sigmoid", "leaky_relu", "clip"])
def test_the_reference_has_defaults_of_its_own(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    v = np.linspace(-4, 4, 17)
    before = activate(Activation(kind), v)
    wrong = property(lambda self: {"ACTIVATION": 0, "ALPHA": 0.3, "BETA": 0.4})
    monkeypatch.setattr(Activation, "constants", wrong)
    assert np.array_equal(activate(Activation(kind), v), before)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("feeds", "words"),
    [
        ({"x": np.zeros((1, 8, 8, 3), np.float32)}, "transpose(0, 3, 1, 2)"),
        ({"x": np.zeros((3, 8, 8), np.float32)}, "x[None]"),
        ({"x": np.zeros((8, 8, 3), np.float32)}, "x[None].transpose(0, 3, 1, 2)"),
        ({"x": np.zeros((1, 3, 8, 8), np.uint8)}, "x.astype(np.float32)"),
        ({"x": np.zeros((1, 3, 8, 8))}, "x.astype(np.float32)"),
        ({"x": [[0.0]]}, "np.asarray"),
        ({"x": Image.new("RGB", (8, 8))}, "np.asarray"),
        ({"xx": np.zeros((1, 3, 8, 8), np.float32)}, "did you mean x by xx?"),
    ],
)
def test_a_feed_that_does_not_fit_says_what_to_do(feeds: dict[str, Any], words: str) -> None:
    model = make([helper.make_node("Relu", ["x"], ["y"])], {"x": [1, 3, 8, 8]}, ["y"], {})
    session = InferenceSession.create_sync(model)
    with pytest.raises(FeedError, match=re.escape(words)):
        session.run_sync(None, feeds)
    session.destroy()


@pytest.mark.gpu
def test_integers_that_look_like_a_hard_sigmoid_stay_integers() -> None:
    constants = {name: np.array(value, np.int32) for name, value in (("three", 3), ("zero", 0), ("six", 6))}
    nodes = [
        helper.make_node("Add", ["x", "three"], ["a"]),
        helper.make_node("Clip", ["a", "zero", "six"], ["c"]),
        helper.make_node("Div", ["c", "six"], ["d"]),
        helper.make_node("Cast", ["d"], ["y"], to=TensorProto.FLOAT),
    ]
    session = InferenceSession.create_sync(make(nodes, {"x": (TensorProto.INT32, [5])}, ["y"], constants))
    (y,) = session.run_sync(None, {"x": np.array([-9, 0, 2, 3, 50], np.int32)})
    assert y.tolist() == [0, 0, 0, 1, 1]
    session.destroy()


@pytest.mark.parametrize(("size", "scale", "length"), [(10, 0.7, 7), (640, 0.9, 576), (10, 0.3, 3), (4, 0.6, 2)])
def test_a_scaled_length_is_that_of_float32(size: int, scale: float, length: int) -> None:
    assert ResizeProblem((1, 1, size), scales=(1.0, 1.0, scale)).output_shape == (1, 1, length)


@pytest.mark.gpu
def test_sizes_are_exact_and_scales_reach_the_last_element() -> None:
    x = np.arange(7, dtype=np.float32).reshape(1, 1, 7)
    mode = {"coordinate_transformation_mode": "pytorch_half_pixel", "nearest_mode": "ceil"}
    assert ops.resize_sync(x, sizes=(1, 1, 17), **mode)[0, 0, 8] == 3
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 9)
    for coordinates in ("align_corners", "tf_crop_and_resize"):
        roi = (0, 0, 0, 1, 1, 1) if coordinates == "tf_crop_and_resize" else None
        options = {"mode": "linear", "coordinate_transformation_mode": coordinates, "extrapolation_value": -1.0}
        y = ops.resize_sync(x, scales=(1, 1, 9.00000018 / 9 * 2), **options, **({"roi": roi} if roi else {}))
        assert y.shape == (1, 1, 18)
        assert y[0, 0, -1] == 8
