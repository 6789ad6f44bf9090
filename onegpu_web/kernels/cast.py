"""Cast: the same values in another element type."""

from __future__ import annotations

from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16, INT8, UINT8
from ..plan import Launch, grid, pack_params
from ..problems.movement import CastProblem
from ..shader import Constant, build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 256


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element."""

    name: str = "plain"

    def supports(self, problem: CastProblem, caps: Caps, /) -> str | None:
        return needs_half(FLOAT16 in (problem.x_dtype, problem.dtype), caps)

    def lower(self, problem: CastProblem, caps: Caps, /) -> Lowering:
        constants: dict[str, Constant] = {"BOOLEAN": problem.boolean}
        value, regions = problem.x_dtype.wgsl, None
        if problem.x_dtype in (INT8, UINT8):
            signed = problem.x_dtype is INT8
            constants["SIGNED"], value, regions = signed, "i32" if signed else "u32", {"load": "cast_bytes"}
        aliases = {"X": problem.x_dtype.wgsl, "V": value, "Y": problem.dtype.wgsl}
        shader = build("cast", constants=constants, aliases=aliases, regions=regions)
        params = pack_params(problem.elements, problem.x_offset, problem.y_offset)
        workgroups = grid(problem.elements, _WORKGROUP, caps.limits)
        return Lowering((Launch(shader, ("x",), ("y",), params, workgroups, "cast"),))


FAMILY: Family[CastProblem] = Family("cast", (Plain(),))
