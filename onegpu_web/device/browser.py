"""The browser backend: plans replayed by web/replay.js. The only module that imports js and pyodide.

A run is one call from Python into JavaScript and one promise awaited. JavaScript borrows the arrays
for the length of the call and copies what it needs later, so nothing is left to destroy here.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from .. import assets
from ..caps import Caps, Limits
from ..errors import DeviceError, DeviceLostError, ModelError, ShaderError
from ..plan import Plan
from . import wire
from .base import (
    Buffer,
    Device,
    DeviceInfo,
    HostArray,
    LoadedPlan,
    check_power_preference,
    choose_features,
    choose_limits,
    offered_features,
)

T = TypeVar("T")

# Pyodide garbles ASCII strings of 64 and more characters above 2 GiB of wasm memory, others it does not: code crosses
# with a wider character in it, everything else that may be long as UTF-8 bytes.
_LABEL_CHARACTERS = 63
_WIDE = "\n// \N{HORIZONTAL ELLIPSIS}"

# Each module lies behind a Blob URL, which resolves no relative import: the importer's text is given the URL.
_IMPORT_MODULES = """
async (joined, texts) => {
  const names = joined.split(" ");
  const urls = [];
  try {
    for (let text of texts) {
      urls.forEach((url, index) => (text = text.replaceAll(`"./${names[index]}"`, `"${url}"`)));
      urls.push(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    }
    return await import(urls.at(-1));
  } finally {
    urls.forEach((url) => URL.revokeObjectURL(url));
  }
}
"""
_MODULES = ("host_bytes.js", "adapter.js", "replay_plan.js", "replay.js")  # imported ones first
_loaded: dict[str, Any] = {}


async def request(power_preference: str, features: Sequence[str] | None, limits: Mapping[str, int] | None) -> Device:
    """A device of the browser's GPU. Raises: DeviceError."""
    check_power_preference(power_preference)
    replay = await _replay()
    with _js_errors("request_device"):
        opened = await replay.openAdapter(power_preference)
    facts = json.loads(opened.facts)
    offered = frozenset(facts["features"])
    chosen = choose_features(features, offered)
    wanted = choose_limits(limits, {_snake_case(name): value for name, value in facts["limits"].items()})
    descriptor = {
        "requiredFeatures": chosen,
        "requiredLimits": {_camel_case(name): value for name, value in wanted.items()},
    }
    with _js_errors("request_device"):
        opened_device = await replay.openDevice(opened.adapter, json.dumps(descriptor).encode())
    info = DeviceInfo(**facts["info"], backend="browser", offered=offered_features(offered))
    return BrowserDevice(opened_device, info, frozenset(chosen), wanted)


async def fetch_bytes(url: str, progress: Callable[[str, int, int | None], None] | None) -> memoryview:
    """The bytes at a URL, relative ones to the page or worker; progress: called with ("model", done, total).

    Raises: ModelError.
    """
    from pyodide.ffi import JsException

    data = bytearray()
    replay = await _replay()
    try:
        response = await replay.get(url.encode())
        if not response.ok:
            raise ModelError(f"model: {url} cannot be fetched: the server answers {response.status}")
        # A server that compresses tells the length of what it sends, not of what arrives here.
        packed = response.headers.get("Content-Encoding")
        total = None if packed else int(response.headers.get("Content-Length") or 0) or None
        reader = response.body.getReader()
        while not (part := await reader.read()).done:
            arrived = bytearray(part.value.length)
            replay.fillWhole(arrived, part.value)
            data += arrived
            if progress is not None:
                progress("model", len(data), total)
    except JsException as error:
        raise ModelError(f"model: {url} cannot be fetched: {error.message}") from error
    return memoryview(data).toreadonly()


async def _replay() -> Any:
    """The module web/replay.js, imported once from the text in the package: no host has to serve it."""
    if "replay" not in _loaded:
        from pyodide.code import run_js
        from pyodide.ffi import create_proxy, to_js

        texts = [assets.web(name) + _WIDE for name in _MODULES]
        with _js_errors("request_device"):
            replay = await run_js(_IMPORT_MODULES + _WIDE)(" ".join(_MODULES), to_js(texts))
            # Objects of one byte are made with the interpreter, at the lowest addresses.
            replay.setHost(create_proxy(b"\0"), create_proxy(_locate))
        _loaded["replay"] = replay
    return _loaded["replay"]


class _PyBuffer(ctypes.Structure):
    """CPython's Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in ("format", "shape", "strides", "suboffsets", "internal")),
    )


def _locate(array: HostArray) -> Any:
    """Where the bytes of a contiguous array lie, as a JavaScript array: the unsigned address, the size."""
    from pyodide.ffi import to_js

    view = _PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(view), 0)
    try:
        return to_js([view.buf or 0, view.len])
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


def wait(awaitable: Awaitable[T]) -> T:
    """The result of `awaitable`, by suspending WebAssembly (JSPI).

    Raises: DeviceError where Pyodide cannot suspend: await the asynchronous function instead.
    """
    from pyodide.ffi import can_run_sync, run_sync

    if not can_run_sync():
        getattr(awaitable, "close", lambda: None)()  # a coroutine that never runs is to warn nobody
        raise DeviceError(
            "Python cannot wait here: the browser has no JSPI, or JavaScript called Python without promising; "
            "await the asynchronous function instead"
        )
    result: T = run_sync(awaitable)
    return result


@contextmanager
def _js_errors(what: str) -> Iterator[None]:
    """Raise what JavaScript throws as the package's error that it names, any other as DeviceError."""
    from pyodide.ffi import JsException

    try:
        yield
    except JsException as error:
        name, message = str(error.name), str(error.message)
        if name == "ShaderError":
            raise ShaderError(str(error.label), message, str(error.text)) from error
        if name == "DeviceLostError":
            raise DeviceLostError(message) from error
        if name == "DeviceError":
            raise DeviceError(message) from error
        raise DeviceError(f"{what}: {message}") from error


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _camel_case(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


class BrowserDevice(Device):
    """A GPUDevice behind web/replay.js."""

    def __init__(self, js_device: Any, info: DeviceInfo, features: frozenset[str], limits: Mapping[str, int]) -> None:
        self.info = info
        self.features = features
        self.limits = dict(limits)
        self.caps = Caps(Limits.of(limits), features)
        self._js = js_device

    @property
    def messages(self) -> list[str]:
        return list(self._js.messages)

    @property
    def counters(self) -> dict[str, int]:
        """Calls into web/replay.js, queue submits and readbacks so far."""
        counts: dict[str, int] = self._js.counters.to_py()
        return counts

    def live_buffers(self) -> int:
        return int(self._js.liveBuffers)

    def _create(self, size_bytes: int, label: str) -> Any:
        with _js_errors("create_buffer"):
            return self._js.createBuffer(size_bytes, label[:_LABEL_CHARACTERS])

    def _free(self, handle: Any) -> None:
        self._js.free(handle)

    def write(self, buffer: Buffer, data: HostArray, offset_bytes: int = 0) -> None:
        size_bytes = self.check_write(buffer, data, offset_bytes)
        with _js_errors("write"):
            self._js.write(buffer.handle, offset_bytes, data, size_bytes)

    async def read(self, buffer: Buffer, out: HostArray, offset_bytes: int = 0) -> None:
        size_bytes = self.check_read(buffer, out, offset_bytes)
        if size_bytes == 0:
            return
        with _js_errors("read"):
            await self._js.read(buffer.handle, offset_bytes, out, size_bytes)

    def read_sync(self, buffer: Buffer, out: HostArray, offset_bytes: int = 0) -> None:
        wait(self.read(buffer, out, offset_bytes))

    async def load(self, plan: Plan) -> LoadedPlan:
        plan.check(self.caps)
        externals = [self.external(operand).handle for operand in plan.externals.values()]
        text, params, constants = wire.encode(plan, self.caps.limits.min_uniform_buffer_offset_alignment)
        with _js_errors("load"):
            js_plan = await self._js.load(text.encode(), params, constants, *externals)
        return BrowserPlan(self, plan, js_plan)

    def load_sync(self, plan: Plan) -> LoadedPlan:
        return wait(self.load(plan))

    def destroy(self) -> None:
        self._js.destroy()


class BrowserPlan(LoadedPlan):
    """A plan loaded by web/replay.js."""

    def __init__(self, device: BrowserDevice, plan: Plan, js_plan: Any) -> None:
        self.plan = plan
        self._device = device
        self._js = js_plan
        self._run = js_plan.run  # looked up once: a run is to cross once

    async def run(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> None:
        self.check_run(inputs, outputs)
        with _js_errors("run"):
            self._finish(await self._run(*inputs, *outputs))

    def run_sync(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> None:
        wait(self.run(inputs, outputs))

    def _finish(self, gpu_ms: float | None) -> None:
        if gpu_ms is not None:
            self.gpu_ms = float(gpu_ms)

    async def measure(self, repeats: int) -> list[list[float]]:
        if "timestamp-query" not in self._device.features:
            raise DeviceError("measure: the device must have timestamp-query")
        with _js_errors("measure"):
            times = await self._js.measure(repeats)
        flat, count = [float(ms) for ms in times], len(self.plan.dispatches)
        return [flat[first : first + count] for first in range(0, len(flat), count)]

    def destroy(self) -> None:
        self._js.destroy()
