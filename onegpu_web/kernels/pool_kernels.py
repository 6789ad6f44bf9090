"""PoolKernels: pooling on a caller's buffers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32
from ..plan import Operand, Recorder
from ..problems.pool import GlobalPoolProblem, PoolProblem
from . import pool, pool_global
from .encode import Scratch, encode, needed

Pooling = PoolProblem | GlobalPoolProblem


@dataclass(frozen=True, slots=True)
class PoolKernels:
    """Pooling kernels for a device with `caps` (device.caps), which decide what is encoded too.

    variant: a name that is used for every problem, for tests and benchmarks.
    """

    caps: Caps = field(default_factory=Caps)
    variant: str | None = None

    def describe_variant(self, problem: Pooling, half: bool = False) -> str:
        """The name of the variant that runs the problem; half: its float16 twin."""
        problem = _as_half(problem, half)
        if isinstance(problem, GlobalPoolProblem):
            return pool_global.FAMILY.choose(problem, self.caps, self.variant).name
        return pool.FAMILY.choose(problem, self.caps, self.variant).name

    def scratch(self, problem: Pooling, half: bool = False) -> Scratch:
        """How much scratch the problem needs; windows need none."""
        problem = _as_half(problem, half)
        if isinstance(problem, PoolProblem):
            return Scratch(0, 0)
        problem = replace(problem, scratch_offset=0)
        batch = needed(pool_global.FAMILY, problem, self.caps, self.variant)
        return Scratch(batch, needed(pool_global.FAMILY, problem.images(0, 1), self.caps, self.variant))

    def encode(
        self,
        recorder: Recorder,
        problem: Pooling,
        x: Operand,
        y: Operand,
        indices: Operand | None = None,
        scratch: Operand | None = None,
        scratch_offset: int = 0,
    ) -> None:
        """Record a pooling.

        x, y, indices: buffers, which hold the problem's operands from its element offsets on. scratch: a
        buffer of its own, used from float32 element `scratch_offset` on; without one the plan takes its own.
        Raises: KernelShapeError, before anything is recorded.
        """
        reads, writes = {"x": x}, {"y": y, "indices": indices}
        if isinstance(problem, PoolProblem):
            encode(
                pool.FAMILY, recorder, problem, reads, writes, scratch,
                caps=self.caps, variant=self.variant, in_chunks=False,
            )  # fmt: skip
            return
        placed = replace(problem, scratch_offset=scratch_offset if scratch is not None else 0)
        encode(
            pool_global.FAMILY, recorder, placed, reads, writes, scratch,
            caps=self.caps, variant=self.variant, in_chunks=True,
        )  # fmt: skip


def _as_half(problem: Pooling, half: bool) -> Pooling:
    return replace(problem, dtype=FLOAT16) if half and problem.dtype == FLOAT32 else problem
