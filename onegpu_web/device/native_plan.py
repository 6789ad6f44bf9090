"""A plan on a wgpu-py device: its buffers, bind groups and staging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import DeviceError
from ..plan import Dispatch, Plan, Role
from .base import WAITING, HostArray, LoadedPlan

if TYPE_CHECKING:
    from .native import NativeDevice


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
