"""The Python side of the demo page's worker, with stand-ins for the jobs, the device and JavaScript's arrays."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from onegpu_web.device import wait
from onegpu_web.errors import DeviceError, DeviceLostError, OnegpuError, PictureError

PATH = Path(__file__).parent.parent / "demo" / "job_worker.py"


class JsBytes:
    """A Uint8Array as Pyodide shows it."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def to_bytes(self) -> bytes:
        return self.content

    def to_memoryview(self) -> memoryview:
        return memoryview(self.content)


class Job:
    """Answers with the picture's shape, or raises what it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def run(self, picture: np.ndarray, *, progress: Callable[[str, int, int | None], None]) -> dict[str, Any]:
        progress("model", 0, 2)
        if self.error is not None:
            raise self.error
        progress("model", 2, 2)
        return {"shape": list(picture.shape), "first": picture[0, 0].tolist(), "ms": {}}


class Requests:
    """Counts the devices asked for."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self) -> str:
        self.count += 1
        return f"device {self.count}"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("job_worker", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "request_device", Requests())
    return module


def put(module: ModuleType, monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> tuple[Any, list[Any]]:
    """A worker whose jobs raise `error`; and what its jobs were made of."""
    made: list[Any] = []

    async def make(job: str, contents: list[bytes], **options: Any) -> Job:
        made.append((job, contents, options["device"]))
        return Job(error)

    monkeypatch.setattr(module, "_make", make)
    return module.JobWorker(), made


def create(worker: Any, job: str = "classify") -> dict[str, Any]:
    files = [JsBytes(b"model"), JsBytes(b"[]")]
    answer: dict[str, Any] = json.loads(wait(worker.create(job, files, lambda *_: False)))
    return answer


def run(worker: Any, rgba: list[int], overtaken: bool = False) -> dict[str, Any]:
    pixels = JsBytes(bytes(rgba))
    answer: dict[str, Any] = json.loads(wait(worker.run("classify", len(rgba) // 4, 1, pixels, lambda *_: overtaken)))
    return answer


def test_jobs_share_one_device(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, made = put(module, monkeypatch)
    assert create(worker) == {"result": True}
    assert create(worker, "read") == {"result": True}
    assert made == [("classify", [b"model", b"[]"], "device 1"), ("read", [b"model", b"[]"], "device 1")]


def test_a_run_answers_with_the_result(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, _ = put(module, monkeypatch)
    create(worker)
    answer = run(worker, [1, 2, 3, 255, 4, 5, 6, 255])
    assert answer == {"result": {"shape": [1, 2, 3], "first": [1, 2, 3], "ms": {}}}


def test_an_overtaken_run_answers_with_nothing(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, _ = put(module, monkeypatch)
    create(worker)
    assert run(worker, [1, 2, 3, 255], overtaken=True) == {"result": None}
    assert run(worker, [1, 2, 3, 255])["result"]["first"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DeviceLostError("gone"), "device-lost"),
        (PictureError("bad"), "picture"),
        (DeviceError("out of memory"), "internal"),
        (OnegpuError("other"), "internal"),
        (ZeroDivisionError(), "internal"),
    ],
)
def test_errors_have_a_kind(module: ModuleType, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str) -> None:
    worker, _ = put(module, monkeypatch, error)
    create(worker)
    answer = run(worker, [0, 0, 0, 255])["error"]
    assert answer["kind"] == kind
    assert answer["message"] == (str(error) or type(error).__name__)
    assert ("trace" in answer) == (kind == "internal")
    assert answer["device_gone"] == isinstance(error, DeviceError)


def test_a_lost_device_is_replaced(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, made = put(module, monkeypatch, DeviceLostError("gone"))
    create(worker)
    run(worker, [0, 0, 0, 255])
    create(worker)
    assert [device for *_, device in made] == ["device 1", "device 2"]


def test_no_device_at_all_is_an_answer(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse() -> None:
        raise DeviceError("no adapter")

    monkeypatch.setattr(module, "request_device", refuse)
    assert create(module.JobWorker())["error"]["message"] == "no adapter"


def test_an_unknown_job_is_refused(module: ModuleType) -> None:
    answer = create(module.JobWorker(), "dance")["error"]
    assert answer["message"] == "job must be one of read, classify, faces, got dance"


def test_transparent_parts_are_white(module: ModuleType) -> None:
    rgba = np.array([[[10, 20, 30, 0], [10, 20, 30, 255], [0, 100, 255, 128], [255, 255, 255, 7]]], np.uint8)
    expected = rgba[..., :3] * (rgba[..., 3:] / 255) + 255 * (1 - rgba[..., 3:] / 255)
    assert np.array_equal(module.over_white(rgba), np.rint(expected).astype(np.uint8))
    assert module.over_white(rgba[:, 1:2]).tolist() == [[[10, 20, 30]]]
