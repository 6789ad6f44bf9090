"""Families of kernels: one operator, several variants (algorithms), each pure data until it is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from ..caps import Caps, Limits
from ..errors import KernelShapeError
from ..plan import Launch, Operand, Recorder, check_buffer_size, check_launch, separate

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
        """Record the problem over operands by name, with the plan's own scratch.

        Raises: KernelShapeError, before anything is recorded.
        """
        separate(problem.op, reads, writes)
        lowering = self.choose(problem, recorder.caps, variant).lower(problem, recorder.caps)
        record_lowerings(recorder, problem.op, [lowering], {**reads, **writes})


def record_lowerings(
    recorder: Recorder, op: str, lowerings: Sequence[Lowering], operands: Mapping[str, Operand | None]
) -> None:
    """Record lowerings in order over one set of operands; without a `scratch` among them the plan gives its own.

    Raises: KernelShapeError, before anything is recorded.
    """
    for lowering in lowerings:
        _check_limits(recorder.caps.limits, op, lowering, operands)
    scratch_bytes = max((lowering.scratch_bytes for lowering in lowerings), default=0)
    if scratch_bytes and operands.get("scratch") is None:
        operands = {**operands, "scratch": recorder.scratch(scratch_bytes)}
    for lowering in lowerings:
        tables = {name: recorder.constant(data, f"{op} {name}") for name, data in lowering.constants.items()}
        bound = {**operands, **tables}
        if lowering.setup is not None:
            bound["laid_out"] = recorder.lay_out(lowering.setup, bound, lowering.laid_out_bytes, f"{op} laid out")
        for launch in lowering.launches:
            recorder.launch(launch, bound)


def _check_limits(limits: Limits, op: str, lowering: Lowering, operands: Mapping[str, Operand | None]) -> None:
    """Raise KernelShapeError where a buffer or a launch is more than the device grants."""
    sizes = {role: operand.size_bytes for role, operand in operands.items() if operand is not None}
    sizes |= {name: len(data) for name, data in lowering.constants.items()}
    sizes.setdefault("scratch", lowering.scratch_bytes)
    if lowering.setup is not None:
        sizes["w laid out"] = lowering.laid_out_bytes
        check_launch(lowering.setup, limits)
    for role, size_bytes in sizes.items():
        check_buffer_size(f"{op}: {role}", size_bytes, limits)
    for launch in lowering.launches:
        check_launch(launch, limits)
