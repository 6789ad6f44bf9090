"""ConvKernels: convolution and its transpose on a caller's buffers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...caps import Caps
from ...dtypes import FLOAT16, FLOAT32
from ...errors import KernelShapeError
from ...plan import Operand, Recorder, separate
from ...problems.conv import Convolution, ConvProblem
from ...problems.conv_transpose import ConvTransposeProblem
from ..family import record_lowerings
from .families import CONV, CONV_TRANSPOSE, ConvFamily
from .variant import ConvVariant


@dataclass(frozen=True, slots=True)
class Scratch:
    """float32 elements of scratch: `batch` for the whole batch at once, `image` for one image at a time.

    Any size from `image` up gives the same bits.
    """

    batch: int
    image: int


@dataclass(frozen=True, slots=True)
class ConvKernels:
    """Convolution kernels for a device with `caps` (device.caps), which decide what is encoded too.

    variant: a name that is used for every problem, for tests and benchmarks. deterministic: takes the place of
    caps.deterministic where it is given. Without the caller's scratch a plan takes its own, of at most 64 MiB or
    one image's.
    """

    caps: Caps = field(default_factory=Caps)
    variant: str | None = None
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        if self.deterministic not in (None, True, False):
            raise KernelShapeError(f"conv: deterministic must be True or False, got {self.deterministic!r}")
        if self.deterministic is not None:
            object.__setattr__(self, "caps", replace(self.caps, deterministic=self.deterministic))

    def describe_variant(self, problem: Convolution, half: bool = False) -> str:
        """The name of the variant that runs the problem; half: its float16 twin."""
        return self._choose(problem, half).name

    def scratch(self, problem: Convolution, half: bool = False) -> Scratch:
        """How much scratch the problem needs."""
        problem = _as_half(problem, half)
        image = self._choose(problem, half).image_scratch(problem, self.caps)
        return Scratch(image * problem.x_shape[0], image)

    def encode(
        self,
        recorder: Recorder,
        problem: ConvProblem,
        x: Operand,
        w: Operand,
        y: Operand,
        bias: Operand | None = None,
        residual: Operand | None = None,
        scratch: Operand | None = None,
        scratch_offset: int = 0,
        *,
        slope: Operand | None = None,
    ) -> None:
        """Record a convolution.

        x, w, y ...: buffers, which hold the problem's operands from its element offsets on. scratch: a
        buffer of its own, used from float32 element `scratch_offset` on; less than the batch needs makes the
        batch run in chunks of whole images with the same bits.
        Raises: KernelShapeError, before anything is recorded.
        """
        reads = {"x": x, "w": w, "bias": bias, "residual": residual, "slope": slope}
        self._encode(recorder, problem, ConvProblem, reads, y, scratch, scratch_offset)

    def encode_transpose(
        self,
        recorder: Recorder,
        problem: ConvTransposeProblem,
        x: Operand,
        w: Operand,
        y: Operand,
        bias: Operand | None = None,
        residual: Operand | None = None,
        scratch: Operand | None = None,
        scratch_offset: int = 0,
        *,
        slope: Operand | None = None,
    ) -> None:
        """Record a transposed convolution; arguments as in `encode`."""
        reads = {"x": x, "w": w, "bias": bias, "residual": residual, "slope": slope}
        self._encode(recorder, problem, ConvTransposeProblem, reads, y, scratch, scratch_offset)

    def _encode(
        self,
        recorder: Recorder,
        problem: Convolution,
        kind: type[Convolution],
        reads: Mapping[str, Operand | None],
        y: Operand,
        scratch: Operand | None,
        scratch_offset: int,
    ) -> None:
        if not isinstance(problem, kind):
            raise KernelShapeError(f"{kind.op}: problem must be a {kind.__name__}, got {type(problem).__name__}")
        operands = {**reads, "y": y}
        separate(problem.op, reads, {"y": y, "scratch": scratch})
        _check_operands(problem, operands)
        variant = self._choose(problem, False)
        _family(problem).choose_conv(problem, recorder.caps, variant.name)  # its device must be able to do the same
        if scratch is None:
            lowering = variant.lower(problem, self.caps)
        else:
            if scratch_offset < 0:
                raise KernelShapeError(f"{problem.op}: scratch_offset must be non-negative, got {scratch_offset}")
            room = max(0, scratch.size_bytes // 4 - scratch_offset)
            lowering = variant.lower_within(problem, self.caps, room, scratch_offset)
        record_lowerings(recorder, problem.op, [lowering], {**operands, "scratch": scratch})

    def _choose(self, problem: Convolution, half: bool) -> ConvVariant:
        problem = _as_half(problem, half)
        return _family(problem).choose_conv(problem, self.caps, self.variant)


def _family(problem: Convolution) -> ConvFamily:
    return CONV_TRANSPOSE if isinstance(problem, ConvTransposeProblem) else CONV


def _as_half(problem: Convolution, half: bool) -> Convolution:
    return replace(problem, dtype=FLOAT16) if half and problem.dtype == FLOAT32 else problem


def _check_operands(problem: Convolution, operands: Mapping[str, Operand | None]) -> None:
    """Raise KernelShapeError where an operand is missing, superfluous or too small."""
    wanted = {role: shape for role, shape, _ in problem.operands()}
    for role, operand in operands.items():
        if (operand is not None) != (role in wanted):
            rule = "given" if role in wanted else "left out"
            raise KernelShapeError(f"{problem.op}: {role} must be {rule} for this problem, got {operand}")
        if operand is None:
            continue
        elements = getattr(problem, f"{role}_offset") + math.prod(wanted[role])
        if operand.size_bytes < elements * problem.dtype.size_bytes:
            raise KernelShapeError(
                f"{problem.op}: {role} must hold {elements:,} elements of {problem.dtype.name} "
                f"(offset and shape {wanted[role]}), got a buffer of {operand.size_bytes:,} bytes"
            )
