"""ArgMax and ArgMin along one axis."""

from __future__ import annotations

from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32
from ..plan import Launch, grid, pack_params
from ..problems.reduce import ArgProblem
from ..shader import build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element of y."""

    name: str = "plain"

    def supports(self, problem: ArgProblem, caps: Caps, /) -> str | None:
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: ArgProblem, caps: Caps, /) -> Lowering:
        before, size, behind = problem.sizes
        floats = problem.dtype in (FLOAT32, FLOAT16)
        shader = build(
            "arg_extreme",
            constants={"SMALLEST": problem.smallest, "LAST": problem.select_last_index, "FLOATS": floats},
            aliases={"V": "f32" if floats else problem.dtype.wgsl, "T": problem.dtype.wgsl},
        )
        params = pack_params(before * behind, size, behind, problem.x_offset, problem.y_offset)
        workgroups = grid(before * behind, _WORKGROUP, caps.limits)
        return Lowering((Launch(shader, ("x",), ("y",), params, workgroups, problem.op),))


FAMILY: Family[ArgProblem] = Family("arg_extreme", (Plain(),))
