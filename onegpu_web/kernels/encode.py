"""Recording a problem on a caller's buffers: what PoolKernels and ResizeKernels share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ..caps import Caps
from ..dtypes import DType
from ..errors import KernelShapeError
from ..plan import Operand, Recorder, separate
from .family import Family, record_lowerings

OWN_SCRATCH_BYTES = 64 << 20  # what a plan takes of its own where the caller gives none and one image needs less


class Sized(Protocol):
    """A problem that knows the shape and element type of its operands, and their offsets as fields."""

    @property
    def op(self) -> str: ...

    @property
    def operands(self) -> Mapping[str, tuple[tuple[int, ...], DType]]: ...


P = TypeVar("P", bound=Any)


@dataclass(frozen=True, slots=True)
class Scratch:
    """float32 elements of scratch: `batch` for the whole batch at once, `image` for one image at a time.

    Any size from `image` up gives the same bits.
    """

    batch: int
    image: int


def check_operands(problem: Sized, operands: Mapping[str, Operand | None]) -> None:
    """Raise KernelShapeError where an operand is missing, superfluous or too small."""
    wanted = problem.operands
    for role, operand in operands.items():
        if (operand is not None) != (role in wanted):
            rule = "given" if role in wanted else "left out"
            raise KernelShapeError(f"{problem.op}: {role} must be {rule} for this problem, got {operand}")
        if operand is None:
            continue
        shape, dtype = wanted[role]
        elements = getattr(problem, f"{role}_offset") + math.prod(shape)
        if operand.size_bytes < elements * dtype.size_bytes:
            raise KernelShapeError(
                f"{problem.op}: {role} must hold {elements:,} elements of {dtype.name} (offset and shape {shape}), "
                f"got a buffer of {operand.size_bytes:,} bytes"
            )


def needed(family: Family[P], problem: P, caps: Caps, variant: str | None) -> int:
    """float32 elements of scratch that the problem takes in one go, its scratch_offset included."""
    return -(-family.choose(problem, caps, variant).lower(problem, caps).scratch_bytes // 4)


def encode(
    family: Family[P],
    recorder: Recorder,
    problem: P,
    reads: Mapping[str, Operand | None],
    writes: Mapping[str, Operand | None],
    scratch: Operand | None,
    *,
    caps: Caps,
    variant: str | None,
    in_chunks: bool,
) -> None:
    """Record a problem, in chunks of whole images where the scratch is too small for the batch.

    caps: the kernels', which describe_variant and scratch go by; the recorder's device must be able to do the same.
    in_chunks: the problem has `images(first, count)`. Raises: KernelShapeError before anything is recorded.
    """
    separate(problem.op, reads, {**writes, "scratch": scratch})
    check_operands(problem, {**reads, **writes})
    batch = problem.x_shape[0] if in_chunks else 1
    name = family.choose(problem, caps, variant).name  # one variant for all chunks, so that no bit depends on them
    family.choose(problem, recorder.caps, name)
    room = OWN_SCRATCH_BYTES // 4 if scratch is None else scratch.size_bytes // 4
    count = batch
    while count > 1 and needed(family, problem.images(0, count), caps, name) > room:
        count = -(-count // 2)
    whole = problem if count == batch else problem.images(0, count)
    least = needed(family, whole, caps, name)
    if scratch is not None and least > room:
        raise KernelShapeError(
            f"{problem.op}: scratch must hold {least:,} float32 elements (offset and one image), got {room:,}"
        )
    starts = range(0, max(batch, 1), max(count, 1))
    chunks = [problem if count == batch else problem.images(at, min(count, batch - at)) for at in starts]
    lowerings = [family.choose(chunk, caps, name).lower(chunk, caps) for chunk in chunks]
    record_lowerings(recorder, problem.op, lowerings, {**reads, **writes, "scratch": scratch})
