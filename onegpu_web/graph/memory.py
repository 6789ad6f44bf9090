"""Which buffer holds which value: whole buffers, reused once the last reader of a value has run.

Every value has a buffer of its own while it lives, so that no dispatch reads and writes one buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..plan import Operand, PlanBuffer, Recorder, Role
from .lowering import Alias, Lowered, Name, Step


@dataclass(slots=True)
class Arena:
    """Scratch buffers of a plan, handed out and taken back."""

    recorder: Recorder
    _free: list[PlanBuffer] = field(default_factory=list)

    def take(self, size_bytes: int, label: str) -> PlanBuffer:
        """The smallest free buffer that is long enough, else the longest one grown, else a new one."""
        enough = [buffer for buffer in self._free if buffer.size_bytes >= size_bytes]
        if enough:
            chosen = min(enough, key=lambda buffer: buffer.size_bytes)
        elif self._free:
            chosen = max(self._free, key=lambda buffer: buffer.size_bytes)
        else:
            return self.recorder.buffer(size_bytes, Role.SCRATCH, label)
        self._free.remove(chosen)
        return self.recorder.grow(chosen, size_bytes)

    def give(self, buffer: PlanBuffer) -> None:
        """Take a buffer back; its contents are dead."""
        self._free.append(buffer)


def roots(steps: Sequence[Lowered]) -> dict[Name, Name]:
    """For every alias the value whose buffer it shares."""
    found: dict[Name, Name] = {}
    for step in steps:
        if isinstance(step, Alias) and step.target.array is None:
            found[step.target.name] = found.get(step.source, step.source)
    return found


def last_reads(steps: Sequence[Lowered], root: Mapping[Name, Name], kept: Sequence[Name]) -> dict[int, set[Name]]:
    """For each step index the values that nobody reads after it; `kept` values are never let go."""
    last: dict[Name, int] = {}
    for index, step in enumerate(steps):
        if isinstance(step, Step):
            for name in (*step.reads.values(), *(value.name for value in step.writes.values())):
                last[root.get(name, name)] = index
    alive: set[Name] = {root.get(name, name) for name in kept}
    ends: dict[int, set[Name]] = {}
    for name, index in last.items():
        if name not in alive:
            ends.setdefault(index, set()).add(name)
    return ends


def record(
    recorder: Recorder, steps: Sequence[Lowered], given: Mapping[Name, Operand], kept: Sequence[Name]
) -> dict[Name, Operand]:
    """Record all steps in order.

    given: operands that stand already (inputs, constants). kept: values that must outlive the run.
    Returns: the operands of all values that are still held.
    """
    root, arena = roots(steps), Arena(recorder)
    ends = last_reads(steps, root, kept)
    held: dict[Name, Operand] = dict(given)
    for index, step in enumerate(steps):
        if isinstance(step, Alias):
            continue
        writes: dict[str, Operand | None] = {}
        for role, value in step.writes.items():
            size = value.stored.size_bytes
            for extent in value.shape:
                size *= extent
            writes[role] = held[value.name] = held.get(value.name) or arena.take(size, str(value.name))
        reads: dict[str, Operand | None] = {role: held[root.get(n, n)] for role, n in step.reads.items()}
        for role, array in step.constants.items():
            reads[role] = recorder.constant(array.tobytes(), role)
        step.family.record(recorder, step.problem, reads, writes)
        for name in ends.get(index, ()):
            operand = held.get(name)
            if name not in given and isinstance(operand, PlanBuffer):
                arena.give(operand)
                del held[name]
    return held
