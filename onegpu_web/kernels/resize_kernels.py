"""ResizeKernels: resizing on a caller's buffers, and ResizePlan, the part of it that a shape needs only once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32
from ..errors import KernelShapeError
from ..plan import Operand, Recorder, separate
from ..problems.resize import ResizeProblem
from .encode import Scratch, check_operands, encode, needed
from .family import Lowering, record_lowerings
from .resize import FAMILY


@dataclass(frozen=True, slots=True, eq=False)
class ResizePlan:
    """A problem with its tap tables and launches, made once by ResizeKernels.plan and recorded any number of times.

    caps: the kernels'. scratch_elements: float32 elements that the scratch must hold, its offset included.
    """

    caps: Caps
    problem: ResizeProblem
    variant: str
    lowering: Lowering

    @property
    def scratch_elements(self) -> int:
        return -(-self.lowering.scratch_bytes // 4)

    def encode(self, recorder: Recorder, x: Operand, y: Operand, scratch: Operand | None = None) -> None:
        """Record it; scratch as in ResizeKernels.encode, and needed where scratch_elements is not 0.

        Raises: KernelShapeError, before anything is recorded.
        """
        problem, have = self.problem, 0 if scratch is None else scratch.size_bytes // 4
        separate(problem.op, {"x": x}, {"y": y, "scratch": scratch})
        check_operands(problem, {"x": x, "y": y})
        if recorder.caps != self.caps:  # the same need not be asked again: it makes taps anew
            FAMILY.choose(problem, recorder.caps, self.variant)
        if have < self.scratch_elements:
            raise KernelShapeError(
                f"{problem.op}: scratch must hold {self.scratch_elements:,} float32 elements, got {have:,}"
            )
        record_lowerings(recorder, problem.op, [self.lowering], {"x": x, "y": y, "scratch": scratch})


@dataclass(frozen=True, slots=True)
class ResizeKernels:
    """Resize kernels for a device with `caps` (device.caps), which decide what is encoded too.

    variant: a name that is used for every problem, for tests and benchmarks.
    """

    caps: Caps = field(default_factory=Caps)
    variant: str | None = None

    def describe_variant(self, problem: ResizeProblem, half: bool = False) -> str:
        """The name of the variant that runs the problem; half: its float16 twin."""
        return FAMILY.choose(_as_half(problem, half), self.caps, self.variant).name

    def scratch(self, problem: ResizeProblem, half: bool = False) -> Scratch:
        """How much scratch the problem needs; for one image as for all where the batch itself is resized."""
        problem = replace(_as_half(problem, half), scratch_offset=0)
        name = self.describe_variant(problem)
        batch = needed(FAMILY, problem, self.caps, name)
        image = needed(FAMILY, problem.images(0, 1), self.caps, name) if _in_chunks(problem) else batch
        return Scratch(batch, image)

    def plan(self, problem: ResizeProblem) -> ResizePlan:
        """Taps and launches of a problem, for many recordings."""
        variant = FAMILY.choose(problem, self.caps, self.variant)
        return ResizePlan(self.caps, problem, variant.name, variant.lower(problem, self.caps))

    def encode(
        self,
        recorder: Recorder,
        problem: ResizeProblem,
        x: Operand,
        y: Operand,
        scratch: Operand | None = None,
        scratch_offset: int = 0,
    ) -> None:
        """Record a resize.

        x, y: buffers, which hold the problem's operands from its element offsets on. scratch: a buffer of its
        own, used from float32 element `scratch_offset` on; less than the batch needs makes the batch run in
        chunks of whole images with the same bits. Without one the plan takes its own, of at most 64 MiB or
        one image's.
        Raises: KernelShapeError, before anything is recorded.
        """
        placed = replace(problem, scratch_offset=scratch_offset if scratch is not None else 0)
        in_chunks = _in_chunks(problem)
        encode(
            FAMILY, recorder, placed, {"x": x}, {"y": y}, scratch,
            caps=self.caps, variant=self.variant, in_chunks=in_chunks,
        )  # fmt: skip


def _in_chunks(problem: ResizeProblem) -> bool:
    """Whether images can be resized by themselves."""
    return len(problem.x_shape) > 1 and problem.x_shape[0] > 0 and 0 not in problem.taps()


def _as_half(problem: ResizeProblem, half: bool) -> ResizeProblem:
    return replace(problem, dtype=FLOAT16) if half and problem.dtype == FLOAT32 else problem
