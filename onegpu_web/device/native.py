"""The desktop backend: plans replayed through wgpu-py. The only module that imports wgpu."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..caps import Caps, Limits
from ..errors import DeviceError, DeviceLostError, ShaderError
from ..plan import Plan
from ..shader import Shader
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
from .native_plan import NativePlan

# wgpu-native's names for features that WebGPU calls otherwise.
_NATIVE_FEATURES = {"subgroup": "subgroups"}
_ENVIRONMENT_LOCK = threading.Lock()
_STORAGE_USAGE = "STORAGE|COPY_SRC|COPY_DST"
_PIPELINES_KEPT = 512  # loaded plans hold theirs however many others came since


def request(power_preference: str, features: Sequence[str] | None, limits: Mapping[str, int] | None) -> NativeDevice:
    """A device of the system's GPU. Raises: DeviceError."""
    try:
        import wgpu
    except ImportError as error:
        raise DeviceError("request_device: wgpu is not installed: pip install wgpu") from error
    check_power_preference(power_preference)
    try:
        with _ENVIRONMENT_LOCK, _runtime_folder():
            adapter = wgpu.gpu.request_adapter_sync(power_preference=power_preference)
    except (RuntimeError, ValueError) as error:
        raise DeviceError(f"request_device: no GPU adapter was found: {error}") from error
    offered = frozenset(_NATIVE_FEATURES.get(name, name) for name in adapter.features)
    native_names = {web: native for native, web in _NATIVE_FEATURES.items()}
    chosen = choose_features(features, offered)
    wanted = choose_limits(limits, {name.replace("-", "_"): value for name, value in adapter.limits.items()})
    try:
        raw = adapter.request_device_sync(
            required_features=[native_names.get(name, name) for name in chosen],
            required_limits={name.replace("_", "-"): value for name, value in wanted.items()},
        )
    except (RuntimeError, wgpu.GPUError) as error:
        raise DeviceError(f"request_device: the adapter gives no device: {error}") from error
    return NativeDevice(raw, frozenset(chosen), wanted, offered_features(offered))


@contextmanager
def _runtime_folder() -> Iterator[None]:
    """An XDG_RUNTIME_DIR where there is none: looking for displays, wgpu-native's libraries complain on stderr."""
    before = os.environ.get("XDG_RUNTIME_DIR")
    if before:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="onegpu-web-") as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["XDG_RUNTIME_DIR"]
            if before is not None:
                os.environ["XDG_RUNTIME_DIR"] = before


class NativeDevice(Device):
    """A wgpu-py device."""

    def __init__(
        self, raw: Any, features: frozenset[str], limits: Mapping[str, int], offered: tuple[str, ...] = ()
    ) -> None:
        info = raw.adapter.info
        names = [str(info.get(name, "")) for name in ("vendor", "architecture", "device", "description")]
        self.info = DeviceInfo(names[0], names[1], names[2], names[3], "native", offered)
        self.features = features
        # What was asked for, not what wgpu-native grants on top: it gives an adapter's maximum.
        self.limits = dict(limits)
        self.caps = Caps(Limits.of(limits), features)
        self._raw = raw
        self._buffers: set[Any] = set()
        self._pipelines: OrderedDict[tuple[str, int, int], tuple[Any, Any]] = OrderedDict()
        self._lost = False
        self.lock = threading.RLock()

    def _create(self, size_bytes: int, label: str, usage: str = _STORAGE_USAGE) -> Any:
        with self.lock:
            self.check()
            made = self.guard("create_buffer", self._raw.create_buffer, label=label, size=size_bytes, usage=usage)
            self._buffers.add(made)
            return made

    def _free(self, handle: Any) -> None:
        self._buffers.discard(handle)
        handle.destroy()

    def live_buffers(self) -> int:
        return len(self._buffers)

    def check(self) -> None:
        """Raise DeviceLostError once the device is gone."""
        if self._lost:
            raise DeviceLostError("the device is gone: request a new one")

    @contextmanager
    def errors(self, what: str) -> Iterator[None]:
        """Raise wgpu's errors as DeviceError or DeviceLostError."""
        import wgpu

        try:
            yield
        except (wgpu.GPUError, RuntimeError) as error:
            if "lost" in str(error).lower():
                self._lost = True
                raise DeviceLostError(f"the device is gone ({what}: {error}): request a new one") from error
            raise DeviceError(f"{what}: {error}") from error

    def guard(self, what: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        """`call(...)`, its wgpu errors raised as ours."""
        with self.errors(what):
            return call(*args, **kwargs)

    def write(self, buffer: Buffer, data: HostArray, offset_bytes: int = 0) -> None:
        with self.lock:
            self.check()
            if self.check_write(buffer, data, offset_bytes):
                self.write_raw(buffer.handle, memoryview(data).cast("B"), offset_bytes)

    def write_raw(self, handle: Any, view: memoryview, offset_bytes: int = 0) -> None:
        """Queue a copy; wgpu wants a multiple of 4 bytes, so a ragged tail goes by itself."""
        whole = view.nbytes // 4 * 4
        if whole:
            self.guard("write", self._raw.queue.write_buffer, handle, offset_bytes, view[:whole])
        if whole < view.nbytes:
            tail = bytes(view[whole:]).ljust(4, b"\0")
            self.guard("write", self._raw.queue.write_buffer, handle, offset_bytes + whole, tail)

    def read_sync(self, buffer: Buffer, out: HostArray, offset_bytes: int = 0) -> None:
        with self.lock:
            self.check()
            size_bytes = self.check_read(buffer, out, offset_bytes)
            if size_bytes:
                padded = (size_bytes + 3) // 4 * 4
                data = self.guard("read", self._raw.queue.read_buffer, buffer.handle, offset_bytes, padded)
                memoryview(out).cast("B")[:] = memoryview(data).cast("B")[:size_bytes]

    async def read(self, buffer: Buffer, out: HostArray, offset_bytes: int = 0) -> None:
        self.read_sync(buffer, out, offset_bytes)

    async def load(self, plan: Plan) -> LoadedPlan:
        return self.load_sync(plan)

    def load_sync(self, plan: Plan) -> NativePlan:
        with self.lock:
            self.check()
            plan.check(self.caps)
            return NativePlan(self, plan)

    def destroy(self) -> None:
        with self.lock:
            self._lost = True
            self._pipelines.clear()
            self._buffers.clear()
            self._raw.destroy()

    def pipeline(self, shader: Shader, reads: int, writes: int) -> tuple[Any, Any]:
        """The compute pipeline of a shader and its bind group layout, made once per text that is still kept."""
        import wgpu

        key = (shader.text, reads, writes)
        if key not in self._pipelines:
            kinds = ["read-only-storage"] * reads + ["storage"] * writes + ["uniform"]
            try:
                module = self._raw.create_shader_module(label=shader.name, code=shader.text)
                layout = self._raw.create_bind_group_layout(
                    entries=[
                        {"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
                        for i, kind in enumerate(kinds)
                    ]
                )
                pipeline = self._raw.create_compute_pipeline(
                    label=shader.name,
                    layout=self._raw.create_pipeline_layout(bind_group_layouts=[layout]),
                    compute={"module": module, "entry_point": "main"},
                )
            except (wgpu.GPUError, RuntimeError) as error:
                raise ShaderError(shader.name, str(error), shader.text) from error
            self._pipelines[key] = (pipeline, layout)
            if len(self._pipelines) > _PIPELINES_KEPT:
                self._pipelines.popitem(last=False)
        self._pipelines.move_to_end(key)
        return self._pipelines[key]
