"""The command line: output, files, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from oracle import OracleSession
from pictures import character_error_rate, printed_page
from PIL import Image

from onegpu_web import __version__
from onegpu_web.cli import main, one_line
from onegpu_web.cli.model_input import Preparation, model_input
from onegpu_web.cli.models import summary
from onegpu_web.errors import ModelError, ShaderError, UnsupportedError
from onegpu_web.fetch import path
from onegpu_web.jobs import Classify, FindFaces, ReadText


@pytest.fixture
def on_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The jobs run on onnxruntime: what is tested here is the command line, on any machine."""

    async def read(*models: Path) -> ReadText:
        return ReadText(*(OracleSession(model) for model in models))

    async def classify(model: Path, labels: Path) -> Classify:
        return Classify(OracleSession(model), json.loads(labels.read_text(encoding="utf-8")))

    async def faces(model: Path) -> FindFaces:
        return FindFaces(OracleSession(model))

    for job, create in ((ReadText, read), (Classify, classify), (FindFaces, faces)):
        monkeypatch.setattr(job, "create", create)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    Image.fromarray(printed_page(4, lines=12, width=800)[0]).save(tmp_path / "page.png")
    return tmp_path / "page.png"


def _json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    assert main([str(argument) for argument in arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("on_oracle")
def test_read_prints_the_lines(capsys: pytest.CaptureFixture[str], page: Path) -> None:
    assert main(["read", str(page)]) == 0
    read = capsys.readouterr().out.splitlines()
    assert character_error_rate(read, printed_page(4, lines=12, width=800)[1]) <= 0.02


@pytest.mark.usefixtures("on_oracle")
def test_read_gives_json(capsys: pytest.CaptureFixture[str], page: Path) -> None:
    result = _json(capsys, "read", page, "--json")
    assert set(result) == {"lines", "ms"}
    assert len(result["lines"]) == 12
    assert set(result["lines"][0]) == {"text", "score", "box"}
    tops = [line["box"][0][1] for line in result["lines"]]
    assert tops == sorted(tops)


@pytest.mark.usefixtures("on_oracle")
def test_classify_prints_names_and_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", str(path("coffee.png"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[0].endswith("%  espresso")
    result = _json(capsys, "classify", path("coffee.png"), "--json", "--top", "2")
    assert [set(entry) for entry in result["top"]] == [{"label", "score"}] * 2


@pytest.mark.usefixtures("on_oracle")
def test_faces_prints_boxes_and_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faces", str(path("astronaut.png"))]) == 0
    assert "left 172, top 73, right 278, bottom 179" in capsys.readouterr().out
    (face,) = _json(capsys, "faces", path("astronaut.png"), "--json")["faces"]
    assert set(face) == {"box", "score", "points"}


@pytest.mark.usefixtures("on_oracle")
@pytest.mark.parametrize("ending", ["png", "bmp"])
def test_out_is_the_picture_with_boxes(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"boxes.{ending}"
    assert main(["faces", str(path("astronaut.png")), "--out", str(out)]) == 0
    before = np.asarray(Image.open(path("astronaut.png")).convert("RGB")).astype(int)
    after = np.asarray(Image.open(out).convert("RGB")).astype(int)
    assert after.shape == before.shape
    changed = np.abs(after - before).max(axis=2) > 80
    y, x = np.nonzero(changed)
    assert (x.min(), y.min(), x.max(), y.max()) == pytest.approx((172, 73, 278, 179), abs=3)
    assert not changed[100:150, 200:250].any()


@pytest.mark.usefixtures("on_oracle")
def test_out_that_cannot_be_written_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for out in (tmp_path / "boxes.nonsense", tmp_path / "none" / "boxes.png"):
        assert main(["faces", str(path("astronaut.png")), "--out", str(out)]) == 1
        assert capsys.readouterr().err.startswith(f"onegpu-web: out: {out} must be")


@pytest.mark.parametrize("command", ["read", "classify", "faces"])
def test_bad_pictures_are_one_line_on_stderr(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noise.png").write_bytes(b"\x89PNG but not really")
    for image in (tmp_path / "noise.png", tmp_path / "none.png"):
        assert main([command, str(image)]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("onegpu-web: picture: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["read"],
        ["read", "a.png", "--nonsense"],
        ["classify", "a.png", "--top", "0"],
        ["classify", "a.png", "--top", "many"],
        ["run", "model.onnx"],
        ["run", "model.onnx", "a.png", "--size", "0x5"],
        ["run", "model.onnx", "a.png", "--size", "big"],
        ["run", "model.onnx", "a.png", "--mean", "1,2"],
        ["run", "model.onnx", "a.png", "--std", "0"],
        ["run", "model.onnx", "a.png", "--top", "0"],
        ["run", "model.onnx", "a.png", "--top", "x"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: onegpu-web" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["info", "run", "read", "classify", "faces", "demo", "fetch"])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: onegpu-web {command}" in text
    assert len(text.splitlines()) > 5


def test_module_runs_and_knows_its_version() -> None:
    command = [sys.executable, "-m", "onegpu_web", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == f"onegpu-web {__version__}\n"


def test_a_missing_download_names_the_command_that_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = path("coffee.png")
    monkeypatch.setenv("ONEGPU_CACHE", str(tmp_path))
    assert main(["classify", str(picture)]) == 1
    assert "onegpu-web fetch" in capsys.readouterr().err


def test_long_errors_become_one_line() -> None:
    assert one_line(ShaderError("conv", "no such thing", "line 1\nline 2")) == "conv: no such thing"
    assert one_line(UnsupportedError("the model needs:", ["Foo: 1 node", "Bar: 2 nodes"])) == (
        "the model needs: Foo: 1 node, Bar: 2 nodes"
    )


class _Port:
    name = "x"

    def __init__(self, shape: list[int | str | None], kind: str = "tensor(float)") -> None:
        self.shape, self.type = shape, kind


def _picture(height: int = 40, width: int = 70) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize(
    ("shape", "size", "expected"),
    [
        ([1, 3, 20, 30], None, (1, 3, 20, 30)),
        (["N", 20, 30, 3], None, (1, 20, 30, 3)),
        ([None, 1, "h", "w"], None, (1, 1, 32, 64)),
        ([1, 3, "h", "w"], (50, 60), (1, 3, 50, 60)),
        ([1, 3, 48, "w"], (50, 60), (1, 3, 48, 60)),
        ([1, "h", "w", 1], None, (1, 32, 64, 1)),
    ],
)
def test_input_has_the_shape_that_the_model_takes(
    shape: list[int | str | None], size: tuple[int, int] | None, expected: tuple[int, ...]
) -> None:
    feed = model_input(_picture(), [_Port(shape)], Preparation(size=size))
    assert feed.shape == expected
    assert feed.dtype == np.float32
    assert feed.flags.c_contiguous
    assert 0 <= feed.min() < feed.max() <= 1


def test_input_is_normalised_for_each_channel() -> None:
    picture = _picture(32, 64)
    feed = model_input(picture, [_Port([1, 3, 32, 64])], Preparation(mean=(1, 2, 3), std=(4, 5, 6)))
    np.testing.assert_allclose(feed[0].transpose(1, 2, 0), (picture - np.array([1, 2, 3])) / [4, 5, 6], rtol=1e-5)


def test_half_input_is_half() -> None:
    feed = model_input(_picture(), [_Port([1, 3, 8, 8], "tensor(float16)")], Preparation())
    assert feed.dtype == np.float16


@pytest.mark.parametrize(
    "ports",
    [
        [],
        [_Port([1, 3, 8, 8]), _Port([1])],
        [_Port([1, 3])],
        [_Port([1, 3, 8, 8], "tensor(int64)")],
        [_Port([2, 3, 8, 8])],
        [_Port([1, 8, 8, 8])],
    ],
)
def test_models_that_take_no_picture_are_model_errors(ports: list[_Port]) -> None:
    with pytest.raises(ModelError, match="run: "):
        model_input(_picture(), ports, Preparation())


def test_summary_has_the_largest_values_with_their_places() -> None:
    result = summary("y", np.array([[1, 5, 2], [9, -3, 5]], np.float32), 3)
    assert result["shape"] == [2, 3]
    assert (result["min"], result["max"]) == (-3, 9)
    assert result["mean"] == pytest.approx(19 / 6)
    assert result["top"] == [
        {"index": [1, 0], "value": 9.0},
        {"index": [0, 1], "value": 5.0},
        {"index": [1, 2], "value": 5.0},
    ]
    assert summary("scalar", np.float32(4).reshape(()), 3)["top"] == [{"index": [], "value": 4.0}]
    assert summary("empty", np.zeros((0, 2), np.float32), 3)["top"] == []


def _save_mean_model(where: Path) -> None:
    """A 1 x 1 convolution that gives the mean of three channels."""
    weight = numpy_helper.from_array(np.full((1, 3, 1, 1), 1 / 3, np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        "mean",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 4, 6])],
        [weight],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), where)


@pytest.mark.gpu
def test_run_shows_shapes_and_largest_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _save_mean_model(tmp_path / "mean.onnx")
    picture = np.zeros((4, 6, 3), np.uint8)
    picture[2, 5] = [30, 60, 90]
    Image.fromarray(picture).save(tmp_path / "a.png")
    command = ["run", tmp_path / "mean.onnx", tmp_path / "a.png", "--std", "1", "--top", "2"]
    result = _json(capsys, *command, "--json")
    assert result["input"] == {"name": "x", "shape": [1, 3, 4, 6], "dtype": "float32"}
    (output,) = result["outputs"]
    assert output["shape"] == [1, 1, 4, 6]
    assert output["top"][0] == {"index": [0, 0, 2, 5], "value": pytest.approx(60)}
    assert set(result["ms"]) >= {"load", "prepare", "model"}
    assert main([str(argument) for argument in command]) == 0
    text = capsys.readouterr().out
    assert "input   x  float32 1 x 3 x 4 x 6" in text
    assert "[0, 0, 2, 5]" in text


@pytest.mark.gpu
def test_run_gives_json_that_every_parser_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _save_mean_model(tmp_path / "mean.onnx")
    Image.fromarray(_picture(4, 6)).save(tmp_path / "a.png")
    command = ["run", tmp_path / "mean.onnx", tmp_path / "a.png", "--mean", "nan"]
    (output,) = _json(capsys, *command, "--json")["outputs"]
    assert (output["min"], output["top"][0]["value"]) == (None, None)
    assert main([str(argument) for argument in command]) == 0
    assert "min nan" in capsys.readouterr().out


@pytest.mark.gpu
def test_info_shows_what_the_adapter_offers_and_the_device_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    facts = _json(capsys, "info", "--json")
    lacking = sorted(set(facts["offered"]) - set(facts["features"]))
    assert main(["info"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("not enabled")]
    assert line.split(maxsplit=2)[2] == (", ".join(lacking) or "none")


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    command = f"'{sys.executable}' -m onegpu_web fetch --list | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_cache_that_cannot_be_made_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ONEGPU_CACHE", str(tmp_path / "file"))
    assert main(["fetch", "imagenet_labels.json"]) == 1
    assert f"fetch: {tmp_path / 'file'}" in capsys.readouterr().err


@pytest.mark.gpu
@pytest.mark.parametrize("data", [b"", b"random bytes" * 50], ids=["empty", "random"])
def test_run_refuses_what_is_no_model(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.onnx").write_bytes(data)
    assert main(["run", str(tmp_path / "bad.onnx"), str(path("coffee.png"))]) == 1
    err = capsys.readouterr().err
    assert err.startswith("onegpu-web: ")
    assert err.count("\n") == 1


@pytest.mark.gpu
def test_info_names_the_adapter(capsys: pytest.CaptureFixture[str]) -> None:
    facts = _json(capsys, "info", "--json")
    assert facts["adapter"]["backend"] == "native"
    assert facts["limits"]["max_compute_workgroup_storage_size"] >= 16384
    assert isinstance(facts["features"], list)
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert facts["adapter"]["device"] in text
    assert "max_compute_workgroup_storage_size" in text


@pytest.mark.gpu
def test_faces_on_the_gpu_from_end_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    result = _json(capsys, "faces", path("astronaut.png"), "--json")
    (face,) = result["faces"]
    assert face["box"] == pytest.approx([172.24, 73.29, 277.76, 178.81], abs=1)
    assert result["ms"]["model"] > 0
