"""The jobs behind the demo page: pictures in, JSON out, for job_worker.js.

Answers are JSON text, so that no proxy outlives a call: `{"result": ...}`, or
`{"error": {"kind", "message"}}` with the kinds of protocol.js. Nothing here imports
`js`: the file can be read and tested on a desktop.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from onegpu_web.device import request_device
from onegpu_web.errors import DeviceError, DeviceLostError, PictureError
from onegpu_web.jobs import Classify, FindFaces, ReadText

# report(step, done, total or None) -> whether a newer request waits
Report = Callable[[str, int, int | None], bool]


class Overtaken(Exception):
    """A newer request waits, so this one is given up."""


class JobWorker:
    """The device and the jobs made on it, remade after a loss."""

    def __init__(self) -> None:
        self._device: Any = None
        self._jobs: dict[str, Any] = {}

    async def create(self, job: str, files: Any, report: Report) -> str:
        """Put a job's models on the device. files: JS array of Uint8Array, in the order of job_worker.js."""
        contents = [file.to_bytes() for file in files]

        def progress(step: str, done: int, total: int | None) -> None:
            report(step, done, total)

        try:
            if self._device is None:
                self._device = await request_device()
            self._jobs[job] = await _make(job, contents, device=self._device, progress=progress)
        except Exception as error:
            return self._failure(error)
        return json.dumps({"result": True})

    async def run(self, job: str, width: int, height: int, pixels: Any, report: Report) -> str:
        """Run a job on one picture. pixels: JS Uint8ClampedArray, height * width * 4, RGBA."""
        rgba = np.frombuffer(pixels.to_memoryview(), np.uint8).reshape(height, width, 4)

        def progress(step: str, done: int, total: int | None) -> None:
            if report(step, done, total):
                raise Overtaken

        try:
            result = await self._jobs[job].run(over_white(rgba), progress=progress)
        except Overtaken:
            return json.dumps({"result": None})
        except Exception as error:
            return self._failure(error)
        return json.dumps({"result": result})

    def _failure(self, error: Exception) -> str:
        """The error as JSON. A device that failed once is not used again."""
        device_gone = isinstance(error, DeviceError)
        if device_gone:
            self._device = None
            self._jobs.clear()
        kind = "internal"
        if isinstance(error, DeviceLostError):
            kind = "device-lost"
        elif isinstance(error, PictureError):
            kind = "picture"
        answer = {"kind": kind, "message": str(error) or type(error).__name__, "device_gone": device_gone}
        if kind == "internal":
            answer["trace"] = "".join(traceback.format_exception(error))
        return json.dumps({"error": answer})


async def _make(job: str, contents: list[bytes], **options: Any) -> Any:
    match job:
        case "read":
            return await ReadText.create(*contents, **options)
        case "classify":
            model, labels = contents
            return await Classify.create(model, json.loads(labels), **options)
        case "faces":
            return await FindFaces.create(*contents, **options)
    raise ValueError(f"job must be one of read, classify, faces, got {job}")


def over_white(rgba: np.ndarray) -> np.ndarray:
    """Return the picture as seen on white paper: (H, W, 4) uint8 -> (H, W, 3) uint8."""
    alpha = rgba[:, :, 3:]
    if alpha.min() == 255:
        return np.ascontiguousarray(rgba[:, :, :3])
    # 255 * 255 fits in uint16, which halves the memory a 16-megapixel picture takes here.
    cover = alpha.astype(np.uint16)
    blend = rgba[:, :, :3] * cover + np.uint16(255) * (np.uint16(255) - cover)
    return ((blend + 127) // 255).astype(np.uint8)
