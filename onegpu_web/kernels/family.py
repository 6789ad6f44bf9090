"""Families of kernels: one operator, several variants (algorithms), each pure data until it is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from ..caps import Caps
from ..errors import KernelShapeError
from ..plan import Launch, Operand, Recorder, separate

P_contra = TypeVar("P_contra", contravariant=True)
P = TypeVar("P", bound="Problem")


class Problem(Protocol):
    """What every problem can do: name its operator."""

    @property
    def op(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Lowering:
    """A variant's launches, in order, and the scratch they share.

    Launches name their operands: those of the problem (`x`, `w`, `bias`, `residual`, `y` ...) and
    `scratch`, which is `scratch_bytes` long. constants: tables made on the host, by operand name.
    setup: a launch that the plan makes once, when it is loaded: it writes `laid_out`, `laid_out_bytes` long,
    from operands that stay (constant weights, in another order).
    """

    launches: tuple[Launch, ...]
    scratch_bytes: int = 0
    constants: Mapping[str, bytes] = field(default_factory=dict)
    setup: Launch | None = None
    laid_out_bytes: int = 0


class Variant(Protocol[P_contra]):
    """One algorithm of a family."""

    @property
    def name(self) -> str: ...

    def supports(self, problem: P_contra, caps: Caps, /) -> str | None:
        """None, or the reason why this variant cannot run the problem on a device with `caps`."""
        ...

    def lower(self, problem: P_contra, caps: Caps, /) -> Lowering:
        """The launches for a supported problem."""
        ...


@dataclass(frozen=True, slots=True)
class Family(Generic[P]):
    """The variants of one operator, the preferred ones first; the last, `plain`, runs everything."""

    name: str
    variants: tuple[Variant[P], ...]

    def choose(self, problem: P, caps: Caps, variant: str | None = None) -> Variant[P]:
        """The first variant that supports the problem, or the forced one.

        Raises: KernelShapeError where the forced variant is unknown or does not support the problem.
        """
        if variant is not None:
            return self._forced(problem, caps, variant)
        reasons = []
        for candidate in self.variants:
            reason = candidate.supports(problem, caps)
            if reason is None:
                return candidate
            reasons.append(f"{candidate.name}: {reason}")
        raise KernelShapeError(f"{self.name}: no variant runs this problem: {'; '.join(reasons)}")

    def _forced(self, problem: P, caps: Caps, variant: str) -> Variant[P]:
        for candidate in self.variants:
            if candidate.name == variant:
                reason = candidate.supports(problem, caps)
                if reason is None:
                    return candidate
                raise KernelShapeError(f"{self.name}: variant {variant} does not run this problem: {reason}")
        names = ", ".join(v.name for v in self.variants)
        raise KernelShapeError(f"{self.name}: variant must be one of {names}, got {variant!r}")

    def record(
        self,
        recorder: Recorder,
        problem: P,
        reads: Mapping[str, Operand | None],
        writes: Mapping[str, Operand | None],
        *,
        variant: str | None = None,
    ) -> None:
        """Record the problem over operands by name, with the plan's own scratch."""
        separate(problem.op, reads, writes)
        lowering = self.choose(problem, recorder.caps, variant).lower(problem, recorder.caps)
        tables = {name: recorder.constant(data, f"{problem.op} {name}") for name, data in lowering.constants.items()}
        operands = {**reads, **writes, **tables}
        if lowering.scratch_bytes:
            operands["scratch"] = recorder.scratch(lowering.scratch_bytes)
        record_lowering(recorder, problem.op, lowering, operands)


def record_lowering(recorder: Recorder, op: str, lowering: Lowering, operands: Mapping[str, Operand | None]) -> None:
    """Record a lowering's set-up and launches over one set of operands."""
    if lowering.setup is not None:
        laid_out = recorder.lay_out(lowering.setup, operands, lowering.laid_out_bytes, f"{op} laid out")
        operands = {**operands, "laid_out": laid_out}
    record_launches(recorder, lowering.launches, operands)


def record_launches(recorder: Recorder, launches: Sequence[Launch], operands: Mapping[str, Operand | None]) -> None:
    """Record launches in order over one set of operands."""
    for launch in launches:
        recorder.launch(launch, operands)
