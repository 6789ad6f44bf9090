"""Unary functions, element by element."""

from __future__ import annotations

from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32, UINT32
from ..plan import Launch, grid, pack_params
from ..problems.elementwise import FLOAT_UNARIES, INT_UNARIES, UnaryProblem
from ..shader import Constant, build
from .family import Family, Lowering

_WORKGROUP = 256
_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element."""

    name: str = "plain"

    def supports(self, problem: UnaryProblem, caps: Caps, /) -> str | None:
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: UnaryProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, caps, lanes=1)


@dataclass(frozen=True, slots=True)
class Lanes:
    """A thread for each four elements."""

    name: str = "vec4"

    def supports(self, problem: UnaryProblem, caps: Caps, /) -> str | None:
        if problem.elements % 4 or problem.x_offset % 4 or problem.y_offset % 4:
            return "elements and offsets must be multiples of 4"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: UnaryProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, caps, lanes=4)


def needs_half(half: bool, caps: Caps) -> str | None:
    """None, or why a device without shader-f16 cannot run a kernel of half elements."""
    return "float16 needs the feature shader-f16" if half and "shader-f16" not in caps.features else None


def _lower(problem: UnaryProblem, caps: Caps, lanes: int) -> Lowering:
    constants: dict[str, Constant] = {"LANES": lanes}
    alpha, beta = problem.factors
    element = problem.dtype.wgsl
    if problem.dtype in (FLOAT32, FLOAT16):
        function, computed = "unary_float", "f32"
        constants |= {"KIND": list(FLOAT_UNARIES).index(problem.kind), "ALPHA": alpha, "BETA": beta}
    else:
        function, computed = "unary_int", element
        constants["KIND"] = INT_UNARIES.index(problem.kind)
        if problem.kind == "clip":
            constants |= _int_bounds(problem)
    regions = {"function": function} | ({"lanes": "unary_lanes"} if lanes > 1 else {})
    aliases = {"V": computed, "X": f"vec4<{element}>" if lanes > 1 else element}
    shader = build("unary", constants=constants, aliases=aliases, regions=regions)
    params = pack_params(problem.elements, problem.x_offset, problem.y_offset)
    workgroups = grid(problem.elements // lanes, _WORKGROUP, caps.limits)
    return Lowering((Launch(shader, ("x",), ("y",), params, workgroups, problem.kind),))


def _int_bounds(problem: UnaryProblem) -> dict[str, Constant]:
    """LO and HI; the ends of int32 stand for no bound."""
    lo = -_LARGEST_INT if problem.alpha is None else max(problem.alpha, -_LARGEST_INT)
    hi = _LARGEST_INT if problem.beta is None else min(problem.beta, _LARGEST_INT)
    return {"LO": max(int(lo), 0) if problem.dtype is UINT32 else int(lo), "HI": int(hi)}


FAMILY: Family[UnaryProblem] = Family("unary", (Lanes(), Plain()))
