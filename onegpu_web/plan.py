"""Plans: what to run on a GPU, as plain data that needs no GPU to make, read or check.

A `Launch` is one launch of a shader over operands by name, as a kernel variant lowers it. The
`Recorder` binds the names to buffers, which makes a `Dispatch` of it; `finish` gives the `Plan`
that a device loads once and replays with one call.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, runtime_checkable

from .caps import Caps, Limits
from .dtypes import padded_bytes
from .errors import KernelShapeError
from .shader import Shader


class Role(StrEnum):
    """What a plan's buffer is for."""

    INPUT = "input"  # written by the host before each run
    OUTPUT = "output"  # read back by the host after each run
    SCRATCH = "scratch"  # lives within a run
    CONSTANT = "constant"  # filled when the plan is loaded, by host data or set-up dispatches, and kept over runs
    EXTERNAL = "external"  # a device Buffer that somebody else owns


@runtime_checkable
class DeviceBuffer(Protocol):
    """What a plan needs of a device's Buffer."""

    @property
    def size_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class PlanBuffer:
    """A buffer of a plan: its slot, size (a multiple of 4) and role."""

    slot: int
    size_bytes: int
    role: Role
    label: str


Operand = PlanBuffer | DeviceBuffer


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a shader: operand names in the order of its bindings (reads, writes), then params.

    params: the bytes of the uniform struct. workgroups: along x, y, z.
    """

    shader: Shader
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    params: bytes
    workgroups: tuple[int, int, int]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A launch bound to a plan's slots."""

    shader: Shader
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    params: bytes
    workgroups: tuple[int, int, int]
    label: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """`size_bytes` bytes of a slot, from its start, that cross between host and device."""

    slot: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A recorded run.

    setup: dispatches run once when the plan is loaded; dispatches: those of every run.
    uploads, readbacks: in the order of the arrays given to and filled by a run.
    externals: device buffers by slot. constants: the first bytes of CONSTANT slots, uploaded once when the
    plan is loaded, before the set-up dispatches; at most the slot's size, any length.
    """

    buffers: tuple[PlanBuffer, ...]
    setup: tuple[Dispatch, ...]
    dispatches: tuple[Dispatch, ...]
    uploads: tuple[Transfer, ...]
    readbacks: tuple[Transfer, ...]
    externals: Mapping[int, DeviceBuffer]
    constants: Mapping[int, bytes] = field(default_factory=dict)

    def check(self, caps: Caps | None = None) -> None:
        """Prove the plan legal on a device with `caps` (default: what every browser grants).

        Raises: KernelShapeError naming the dispatch and the rule it breaks.
        """
        limits = (caps or Caps()).limits
        for buffer in self.buffers:
            check_buffer_size(buffer.label or f"slot {buffer.slot}", buffer.size_bytes, limits)
        for dispatch in (*self.setup, *self.dispatches):
            check_launch(dispatch, limits)


def check_buffer_size(what: str, size_bytes: int, limits: Limits) -> None:
    """Raise KernelShapeError where one buffer or its binding would be larger than the device grants."""
    most = min(limits.max_buffer_size, limits.max_storage_buffer_binding_size)
    if size_bytes > most:
        raise KernelShapeError(f"{what}: a buffer must be at most {most:,} bytes on this device, got {size_bytes:,}")


def check_launch(dispatch: Dispatch | Launch, limits: Limits) -> None:
    """Raise KernelShapeError where a launch, bound to slots or not, breaks a rule of the device."""
    shader, bound = dispatch.shader, dispatch.reads + dispatch.writes
    threads = shader.workgroup_size[0] * shader.workgroup_size[1] * shader.workgroup_size[2]
    rules = (
        (not set(dispatch.reads) & set(dispatch.writes), "bind no buffer both for reading and for writing"),
        (len(set(dispatch.writes)) == len(dispatch.writes), "bind no buffer twice for writing"),
        (len(bound) <= limits.max_storage_buffers_per_shader_stage, "bind no more storage buffers than the limit"),
        (shader.workgroup_bytes <= limits.max_compute_workgroup_storage_size, "fit the workgroup memory"),
        (0 < threads <= limits.max_compute_invocations_per_workgroup, "fit the invocations of a workgroup"),
        (all(0 < n <= limits.max_compute_workgroups_per_dimension for n in dispatch.workgroups), "fit the grid"),
        (len(dispatch.params) % 16 == 0 and len(dispatch.params) > 0, "have params of a multiple of 16 bytes"),
    )
    for holds, rule in rules:
        if not holds:
            raise KernelShapeError(
                f"{dispatch.label or shader.name}: a dispatch must {rule}, got reads {dispatch.reads}, writes "
                f"{dispatch.writes}, workgroups {dispatch.workgroups}, {threads} threads, "
                f"{shader.workgroup_bytes} bytes of workgroup memory, {len(dispatch.params)} bytes of params"
            )


@dataclass(slots=True)
class Recorder:
    """Collects buffers and dispatches for one Plan.

    caps: the device's, for the kernels that record. In `setup` mode dispatches run once at load.
    """

    caps: Caps = field(default_factory=Caps)
    setup: bool = False
    _buffers: list[PlanBuffer] = field(default_factory=list)
    _setup: list[Dispatch] = field(default_factory=list)
    _dispatches: list[Dispatch] = field(default_factory=list)
    _uploads: list[Transfer] = field(default_factory=list)
    _readbacks: list[Transfer] = field(default_factory=list)
    _externals: dict[int, DeviceBuffer] = field(default_factory=dict)
    _external_slots: dict[int, int] = field(default_factory=dict)
    _constants: dict[int, bytes] = field(default_factory=dict)
    _tables: dict[bytes, PlanBuffer] = field(default_factory=dict)
    _absent: PlanBuffer | None = None
    _scratch: int | None = None

    def buffer(self, size_bytes: int, role: Role = Role.SCRATCH, label: str = "") -> PlanBuffer:
        """A new buffer of the plan. An INPUT is uploaded before each run, an OUTPUT read back after it."""
        made = PlanBuffer(len(self._buffers), padded_bytes(size_bytes), role, label)
        self._buffers.append(made)
        if role is Role.INPUT:
            self._uploads.append(Transfer(made.slot, size_bytes))
        elif role is Role.OUTPUT:
            self._readbacks.append(Transfer(made.slot, size_bytes))
        return made

    def constant(self, data: bytes, label: str = "") -> PlanBuffer:
        """The buffer that holds `data` (a kernel's table), uploaded once at load; equal data share one."""
        if data not in self._tables:
            made = self._tables[data] = self.buffer(len(data), Role.CONSTANT, label)
            self._constants[made.slot] = data
        return self._tables[data]

    def scratch(self, size_bytes: int) -> PlanBuffer:
        """The plan's one buffer for what lives within a single problem, at least `size_bytes` long."""
        if self._scratch is None:
            self._scratch = self.buffer(size_bytes, Role.SCRATCH, "scratch").slot
        return self.grow(self._buffers[self._scratch], size_bytes)

    def grow(self, buffer: PlanBuffer, size_bytes: int) -> PlanBuffer:
        """The same slot, made at least `size_bytes` long."""
        if padded_bytes(size_bytes) > buffer.size_bytes:
            buffer = replace(buffer, size_bytes=padded_bytes(size_bytes))
            self._buffers[buffer.slot] = buffer
        return buffer

    def readback(self, operand: Operand, size_bytes: int) -> None:
        """Read `size_bytes` of any buffer back after each run, behind the outputs asked for so far."""
        self._readbacks.append(Transfer(self.slot(operand), size_bytes))

    def absent(self) -> PlanBuffer:
        """The small buffer that stands in for operands a problem does not have (no bias, no residual)."""
        if self._absent is None:
            self._absent = self.buffer(16, Role.SCRATCH, "absent")
        return self._absent

    def slot(self, operand: Operand) -> int:
        """The slot of a plan buffer, or of a device Buffer, which becomes external to the plan."""
        if isinstance(operand, PlanBuffer):
            return operand.slot
        slot = self._external_slots.get(id(operand))
        if slot is None:
            made = PlanBuffer(len(self._buffers), operand.size_bytes, Role.EXTERNAL, "external")
            self._buffers.append(made)
            slot = self._external_slots[id(operand)] = made.slot
            self._externals[slot] = operand
        return slot

    def launch(self, launch: Launch, operands: Mapping[str, Operand | None]) -> None:
        """Record one launch; an operand that is None or missing is bound to the stand-in."""
        (self._setup if self.setup else self._dispatches).append(self._dispatch(launch, operands))

    def lay_out(
        self, launch: Launch, operands: Mapping[str, Operand | None], size_bytes: int, label: str
    ) -> PlanBuffer:
        """A CONSTANT buffer that a set-up launch fills, as its only write, from operands that stay.

        The same launch over the same operands is made once.
        """
        for made in self._setup:
            if made.params == launch.params and made.shader == launch.shader:
                buffer = self._buffers[made.writes[0]]
                if self._dispatch(launch, {**operands, launch.writes[0]: buffer}) == made:
                    return buffer
        buffer = self.buffer(size_bytes, Role.CONSTANT, label)
        self._setup.append(self._dispatch(launch, {**operands, launch.writes[0]: buffer}))
        return buffer

    def _dispatch(self, launch: Launch, operands: Mapping[str, Operand | None]) -> Dispatch:
        bind = lambda name: self.slot(operands.get(name) or self.absent())  # noqa: E731
        return Dispatch(
            launch.shader,
            tuple(map(bind, launch.reads)),
            tuple(map(bind, launch.writes)),
            launch.params,
            launch.workgroups,
            launch.label or launch.shader.name,
        )

    def finish(self) -> Plan:
        """The plan, checked against the recorder's caps."""
        plan = Plan(
            tuple(self._buffers),
            tuple(self._setup),
            tuple(self._dispatches),
            tuple(self._uploads),
            tuple(self._readbacks),
            dict(self._externals),
            dict(self._constants),
        )
        plan.check(self.caps)
        return plan


def pack_params(*values: int | float) -> bytes:
    """A uniform struct of 4-byte scalars: int as u32 or i32, float as f32; padded to a multiple of 16 bytes."""
    parts = [
        struct.pack("<f", value) if isinstance(value, float) else struct.pack("<I", value & 0xFFFFFFFF)
        for value in values
    ]
    data = b"".join(parts)
    return data.ljust(max(16, -(-len(data) // 16) * 16), b"\0")


def fold_grid(workgroups: int, limits: Limits) -> tuple[int, int, int]:
    """`workgroups` in a row, folded over y where a row is too long; a kernel's guard drops the excess.

    The linear index is `id.y * groups.x + id.x`.
    """
    most = limits.max_compute_workgroups_per_dimension
    if workgroups <= most:
        return (max(1, workgroups), 1, 1)
    rows = -(-workgroups // most)
    if rows > most:
        raise KernelShapeError(f"grid: must have at most {most * most:,} workgroups, got {workgroups:,}")
    return (-(-workgroups // rows), rows, 1)


def grid(items: int, workgroup_size: int, limits: Limits) -> tuple[int, int, int]:
    """The folded grid of a kernel that gives each thread one of `items`."""
    return fold_grid(-(-items // workgroup_size), limits)


def separate(op: str, reads: Mapping[str, Operand | None], writes: Mapping[str, Operand | None]) -> None:
    """Raise KernelShapeError where one buffer is both written and used in another role.

    One dispatch may not bind a buffer for reading and for writing, not even disjoint ranges:
    Chromium and wgpu-native both refuse it.
    """
    roles: Sequence[tuple[str, Operand]] = [(k, v) for k, v in {**reads, **writes}.items() if v is not None]
    for written, target in ((k, v) for k, v in writes.items() if v is not None):
        for other, operand in roles:
            if other != written and (operand is target or _same_slot(operand, target)):
                raise KernelShapeError(f"{op}: {other} and {written} must be separate buffers, got one for both")


def _same_slot(a: Operand, b: Operand) -> bool:
    return isinstance(a, PlanBuffer) and isinstance(b, PlanBuffer) and a.slot == b.slot
