"""A program as a loaded plan: what is uploaded, what is read back and how arrays become GPU data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..device import Buffer, Device, LoadedPlan
from ..errors import FeedError
from ..plan import Operand, Recorder, Role
from .integers import Check
from .lowering import Name, Step, Value, storage
from .memory import record, roots
from .model import Array
from .specialise import Program


def to_storage(name: str, array: Array) -> Array:
    """`array` in the element type that the GPU holds, contiguous; the same array where nothing changes.

    Raises: FeedError for 64-bit integers that 32 bits cannot hold.
    """
    stored = np.dtype(storage(str(array.dtype)).name)
    if array.dtype == np.int64 and array.size and not fits_32_bits(array):
        raise FeedError(f"{name}: int64 values must fit 32 bits on the GPU, got {array.min()} to {array.max()}")
    return np.ascontiguousarray(array, dtype=stored)


def fits_32_bits(array: Array) -> bool:
    """Whether int32 holds every element of an array that has some."""
    return bool(array.min() >= -(2**31) and array.max() <= 2**31 - 1)


class Weights:
    """Constants of a model on the device, each uploaded when a plan first reads it and shared by all plans."""

    def __init__(self, device: Device, arrays: Mapping[str, Array]) -> None:
        self._device = device
        self._arrays: dict[Name, Array] = dict(arrays.items())
        self._buffers: dict[Name, Buffer] = {}

    def operand(self, name: Name, array: Array, recorder: Recorder) -> Operand:
        """The buffer of a constant; one made for a single set of shapes belongs to that plan."""
        if name in self._buffers:
            return self._buffers[name]
        label = str(name)
        stored = to_storage(label, array)
        if self._arrays.get(name) is not array:
            return recorder.constant(stored.tobytes(), label)
        buffer = self._device.create_buffer(stored.nbytes, label)
        if stored.nbytes:
            self._device.write(buffer, stored.reshape(-1))
        self._buffers[name] = buffer
        return buffer

    def destroy(self) -> None:
        for buffer in self._buffers.values():
            buffer.destroy()
        self._buffers.clear()


@dataclass(slots=True, eq=False)
class Compiled:
    """A loaded plan with the values that it takes and gives.

    fed: inputs to upload, in order. outputs: all of the graph's, in order; read: those that the plan
    reads back (the others the host knows). checks: read back behind them. users: runs in flight, which the session
    counts.
    """

    loaded: LoadedPlan
    fed: tuple[str, ...]
    outputs: tuple[Value, ...]
    read: tuple[int, ...]
    checks: tuple[Check, ...] = ()
    users: int = 0

    async def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """All outputs of the graph, in order. Raises: UnsupportedError where a check does not hold."""
        uploads = [to_storage(name, feeds[name]) for name in self.fed]
        results: list[Array] = [_known(value) for value in self.outputs]
        raw = [np.empty(self.outputs[i].shape, self.outputs[i].stored.name) for i in self.read]
        numbers = check_arrays(self.checks)
        await self.loaded.run([_flat(array) for array in uploads], [_flat(array) for array in (*raw, *numbers)])
        for check, number in zip(self.checks, numbers, strict=True):
            check.hold(number.item())
        for index, array in zip(self.read, raw, strict=True):
            results[index] = array.astype(self.outputs[index].dtype, copy=False)
        return results


def check_arrays(checks: Sequence[Check]) -> list[Array]:
    """Where a run's checks are read to."""
    return [np.empty(1, check.value.stored.name) for check in checks]


def _flat(array: Array) -> Array:
    """The bytes of a contiguous array, empty ones included, which memoryview.cast refuses."""
    return array.reshape(-1).view(np.uint8)


def _known(value: Value) -> Array:
    return np.empty(0) if value.array is None else value.array.copy()


def record_program(
    recorder: Recorder, program: Program, given: dict[Name, Operand], weights: Weights
) -> dict[Name, Operand]:
    """Record a program; `given` holds the inputs' operands. Returns: the operands still held."""
    root = roots(program.steps)
    for step in program.steps:
        if isinstance(step, Step):
            for name in step.reads.values():
                value = program.values[name]
                if value.array is not None and name not in given:
                    given[name] = weights.operand(name, value.array, recorder)
    kept: list[Name] = [name for name in program.outputs if program.values[name].array is None]
    kept += [check.value.name for check in program.checks]
    held = record(recorder, program.steps, given, kept)
    return {name: held[root.get(name, name)] for name in kept}


async def compile_program(device: Device, program: Program, inputs: Sequence[Value], weights: Weights) -> Compiled:
    """Load a program as a plan. inputs: the graph's, those that the host knows included."""
    recorder = Recorder(device.caps)
    fed = tuple(value for value in inputs if value.array is None)
    given: dict[Name, Operand] = {}
    for value in fed:
        given[value.name] = recorder.buffer(_bytes(value), Role.INPUT, str(value.name))
    held = record_program(recorder, program, given, weights)
    outputs = tuple(program.values[name] for name in program.outputs)
    read = tuple(i for i, value in enumerate(outputs) if value.array is None)
    for index in read:
        recorder.readback(held[outputs[index].name], _bytes(outputs[index]))
    read_checks(recorder, program, held)
    return Compiled(
        await device.load(recorder.finish()), tuple(str(v.name) for v in fed), outputs, read, program.checks
    )


def read_checks(recorder: Recorder, program: Program, held: Mapping[Name, Operand]) -> None:
    """Read back each check's number, in order."""
    for check in program.checks:
        recorder.readback(held[check.value.name], check.value.stored.size_bytes)


def _bytes(value: Value) -> int:
    return int(np.prod(value.shape, dtype=np.int64)) * value.stored.size_bytes
