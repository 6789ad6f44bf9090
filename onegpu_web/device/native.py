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
from ..plan import Dispatch, Plan, Role
from ..shader import Shader
from .base import (
    WAITING,
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


class NativePlan(LoadedPlan):
    """A plan on a wgpu-py device."""

    def __init__(self, device: NativeDevice, plan: Plan) -> None:
        self.plan = plan
        self._device = device
        self._owned: list[Any] = []
        self._staging: list[Any] = []  # free readback buffers; one is taken per run in flight
        self._alive = True
        try:
            self._handles = [self._handle(buffer) for buffer in plan.buffers]
            self._setup = self._bind(plan.setup)
            self._steps = self._bind(plan.dispatches)
            self._readback_bytes = sum((t.size_bytes + 3) // 4 * 4 for t in plan.readbacks)
            self._timestamps = self._query_set(2)
            if self._setup:
                self._submit(self._setup, None)
        except BaseException:  # whatever went wrong, the buffers made so far must not stay
            self.destroy()
            raise

    def _handle(self, buffer: Any) -> Any:
        if buffer.role is Role.EXTERNAL:
            return self._device.external(self.plan.externals[buffer.slot]).handle
        handle = self._own(self._device._create(buffer.size_bytes, buffer.label))
        if buffer.slot in self.plan.constants:
            self._device.write_raw(handle, memoryview(self.plan.constants[buffer.slot]))
        return handle

    def _own(self, handle: Any) -> Any:
        self._owned.append(handle)
        return handle

    def _query_set(self, count: int) -> tuple[Any, Any] | None:
        """A set of timestamp queries and the buffer they resolve to; None without the feature."""
        if "timestamp-query" not in self._device.features:
            return None
        queries = self._device._raw.create_query_set(type="timestamp", count=count)
        return queries, self._own(self._device._create(count * 8, "timestamps", "QUERY_RESOLVE|COPY_SRC"))

    def _bind(self, dispatches: Sequence[Dispatch]) -> list[tuple[Any, Any, tuple[int, int, int]]]:
        """Pipeline, bind group and grid of each dispatch; all params in one uniform buffer."""
        if not dispatches:
            return []
        device = self._device
        step = device.caps.limits.min_uniform_buffer_offset_alignment
        stride = max(-(-len(d.params) // step) * step for d in dispatches)
        uniforms = self._own(device._create(stride * len(dispatches), "params", "UNIFORM|COPY_DST"))
        device.write_raw(uniforms, memoryview(b"".join(d.params.ljust(stride, b"\0") for d in dispatches)))
        bound = []
        for index, dispatch in enumerate(dispatches):
            slots = dispatch.reads + dispatch.writes
            pipeline, layout = device.pipeline(dispatch.shader, len(dispatch.reads), len(dispatch.writes))
            entries = [{"binding": i, "resource": {"buffer": self._handles[slot]}} for i, slot in enumerate(slots)]
            params = {"buffer": uniforms, "offset": index * stride, "size": len(dispatch.params)}
            entries.append({"binding": len(slots), "resource": params})
            group = device.guard(dispatch.label, device._raw.create_bind_group, layout=layout, entries=entries)
            bound.append((pipeline, group, dispatch.workgroups))
        return bound

    def _submit(self, steps: Sequence[Any], staging: Any) -> None:
        """Encode one pass over `steps` and the copies to `staging`, and submit."""
        raw = self._device._raw
        encoder = raw.create_command_encoder()
        timed = staging is not None and self._timestamps
        writes = None
        if timed:
            writes = {"query_set": timed[0], "beginning_of_pass_write_index": 0, "end_of_pass_write_index": 1}
        if steps:
            compute = encoder.begin_compute_pass(timestamp_writes=writes)
            for pipeline, group, workgroups in steps:
                compute.set_pipeline(pipeline)
                compute.set_bind_group(0, group)
                compute.dispatch_workgroups(*workgroups)
            compute.end()
        if staging is not None:
            self._copy_out(encoder, staging, timed if steps else None)
        self._device.guard("run", raw.queue.submit, [self._device.guard("run", encoder.finish)])

    def _copy_out(self, encoder: Any, staging: Any, timed: Any) -> None:
        offset = 0
        for transfer in self.plan.readbacks:
            padded = (transfer.size_bytes + 3) // 4 * 4
            encoder.copy_buffer_to_buffer(self._handles[transfer.slot], 0, staging, offset, padded)
            offset += padded
        if timed:
            encoder.resolve_query_set(timed[0], 0, 2, timed[1], 0)
            encoder.copy_buffer_to_buffer(timed[1], 0, staging, -(-offset // 8) * 8, 16)

    def run_sync(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> None:
        staging = self._start(inputs, outputs)
        if staging is not None:
            with self._waiting(staging):
                staging.map_sync("READ")
            self._finish(staging, outputs)

    async def run(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> None:
        if WAITING.get():
            self.run_sync(inputs, outputs)
            return
        staging = self._start(inputs, outputs)
        if staging is not None:
            with self._waiting(staging):
                await staging.map_async("READ")
            self._finish(staging, outputs)

    @contextmanager
    def _waiting(self, staging: Any) -> Iterator[None]:
        """Errors of a wait for `staging` are ours; where the wait fails or is cancelled the buffer is freed."""
        try:
            with self._device.errors("run"):
                yield
        except BaseException as error:
            with self._device.lock:
                if self._alive:
                    self._owned.remove(staging)
                    self._device._free(staging)
                elif isinstance(error, DeviceError):
                    raise DeviceError("run: the plan was destroyed while it ran") from error
            raise

    def _start(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> Any:
        """Upload and submit a run, with no other thread's in between: all runs share the buffers of the inputs.

        Returns: the staging buffer that takes its outputs; None without outputs.
        """
        with self._device.lock:
            return self._begin(inputs, outputs)

    def _begin(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> Any:
        if not self._alive:
            raise DeviceError("run: the plan was destroyed")
        self._device.check()
        self.check_run(inputs, outputs)
        for transfer, array in zip(self.plan.uploads, inputs, strict=True):
            if transfer.size_bytes:
                self._device.write_raw(self._handles[transfer.slot], memoryview(array).cast("B"))
        if not outputs:
            self._submit(self._steps, None)
            return None
        staging = self._staging.pop() if self._staging else self._new_staging()
        self._submit(self._steps, staging)
        return staging

    def _finish(self, staging: Any, outputs: Sequence[HostArray]) -> None:
        """Fill `outputs` from the mapped staging buffer and give it back for the next run."""
        with self._device.lock:
            if not self._alive:
                raise DeviceError("run: the plan was destroyed while it ran")
            try:
                self._take(memoryview(staging.read_mapped(copy=False)).cast("B"), outputs)
            finally:
                staging.unmap()
                self._staging.append(staging)

    def _new_staging(self) -> Any:
        size = -(-self._readback_bytes // 8) * 8 + 16
        return self._own(self._device._create(size, "staging", "MAP_READ|COPY_DST"))

    def _take(self, mapped: memoryview, outputs: Sequence[HostArray]) -> None:
        offset = 0
        for transfer, out in zip(self.plan.readbacks, outputs, strict=True):
            if transfer.size_bytes:
                memoryview(out).cast("B")[:] = mapped[offset : offset + transfer.size_bytes]
            offset += (transfer.size_bytes + 3) // 4 * 4
        if self._timestamps and self._steps:
            start = -(-offset // 8) * 8
            begin, end = memoryview(bytes(mapped[start : start + 16])).cast("Q")
            self.gpu_ms = (end - begin) / 1e6

    async def measure(self, repeats: int) -> list[list[float]]:
        with self._device.lock:
            return self._measure(repeats)

    def _measure(self, repeats: int) -> list[list[float]]:
        if not self._alive:
            raise DeviceError("measure: the plan was destroyed")
        if "timestamp-query" not in self._device.features:
            raise DeviceError("measure: the device must have timestamp-query")
        device, raw, count = self._device, self._device._raw, len(self._steps)
        queries = raw.create_query_set(type="timestamp", count=2 * count)
        stride = -(-16 * count // 256) * 256  # where a query set may be resolved to
        resolved = device._create(stride * repeats, "timestamps", "QUERY_RESOLVE|COPY_SRC")
        encoder = raw.create_command_encoder()
        for repeat in range(repeats):
            for index, (pipeline, group, workgroups) in enumerate(self._steps):
                writes = {
                    "query_set": queries,
                    "beginning_of_pass_write_index": 2 * index,
                    "end_of_pass_write_index": 2 * index + 1,
                }
                compute = encoder.begin_compute_pass(timestamp_writes=writes)
                compute.set_pipeline(pipeline)
                compute.set_bind_group(0, group)
                compute.dispatch_workgroups(*workgroups)
                compute.end()
            encoder.resolve_query_set(queries, 0, 2 * count, resolved, stride * repeat)
        try:
            device.guard("measure", raw.queue.submit, [device.guard("measure", encoder.finish)])
            ticks = memoryview(device.guard("measure", raw.queue.read_buffer, resolved)).cast("B").cast("Q")
        finally:
            device._free(resolved)
        return [
            [(ticks[first + 2 * i + 1] - ticks[first + 2 * i]) / 1e6 for i in range(count)]
            for first in range(0, stride // 8 * repeats, stride // 8)
        ]

    def destroy(self) -> None:
        with self._device.lock:
            self._release()

    def __del__(self) -> None:
        # Without the lock: the collector runs anywhere, also where another device's lock is held.
        self._release()

    def _release(self) -> None:
        self._alive = False
        for handle in self._owned:
            self._device._free(handle)
        self._owned.clear()
        self._staging.clear()
