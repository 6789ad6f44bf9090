"""MaxUnpool."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import shader
from ..caps import Caps
from ..plan import Launch, grid, pack_params
from ..problems.max_unpool import MaxUnpoolProblem
from .family import Family, Lowering
from .pool import three, words

WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain:
    """Elements claim their places in a scratch of owners, then each place takes its owner's element.

    A place claimed twice goes to the last claimant, whatever the order in which threads run.
    """

    name: str = "plain"

    def supports(self, problem: MaxUnpoolProblem, caps: Caps) -> str | None:
        return None

    def lower(self, problem: MaxUnpoolProblem, caps: Caps) -> Lowering:
        places, outputs = math.prod(problem.inferred_shape), math.prod(problem.output_shape)
        held = words(problem.dtype, problem.y_offset, outputs)
        owners, bits = problem.scratch_offset, 8 * problem.dtype.size_bytes
        size = {"WORKGROUP": WORKGROUP}
        if not outputs:
            return Lowering(())
        launches = (
            Launch(
                shader.build("max_unpool_clear", constants=size),
                (),
                ("scratch",),
                pack_params(owners, places),
                grid(places, WORKGROUP, caps.limits),
            ),
            Launch(
                shader.build("max_unpool_claim", constants=size),
                ("indices",),
                ("scratch",),
                pack_params(problem.indices_offset, owners, problem.elements, places),
                grid(problem.elements, WORKGROUP, caps.limits),
            ),
            Launch(
                shader.build("max_unpool", constants={**size, "BITS": bits, "MASK": (1 << bits) - 1}),
                ("x", "scratch"),
                ("y",),
                pack_params(
                    *(problem.x_offset, owners, problem.y_offset, outputs, held),
                    *three(problem.inferred_shape[2:], 1),
                    *three(problem.output_shape[2:], 1),
                ),
                grid(held, WORKGROUP, caps.limits),
            ),
        )
        return Lowering(launches, 4 * (owners + places))


FAMILY: Family[MaxUnpoolProblem] = Family("max_unpool", (Plain(),))
