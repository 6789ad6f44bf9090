"""Where: a choice between two operands, element by element."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, grid, pack_params
from ..problems.elementwise import WhereProblem
from ..problems.strides import RANK, Shape, broadcast_strides, collapse, padded
from ..shader import build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 256


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element of y."""

    name: str = "plain"

    def supports(self, problem: WhereProblem, caps: Caps, /) -> str | None:
        rank = len(_walk(problem)[0])
        if rank > RANK:
            return f"y must have at most {RANK} axes after collapsing, got {rank}"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: WhereProblem, caps: Caps, /) -> Lowering:
        shape, strides = _walk(problem)
        elements = math.prod(shape)
        params = pack_params(
            *padded(shape, 1),
            *(stride for operand in strides for stride in padded(operand)),
            elements,
            len(shape),
            problem.condition_offset,
            problem.a_offset,
            problem.b_offset,
            problem.y_offset,
        )
        shader = build("where", aliases={"E": "f16" if problem.dtype is FLOAT16 else "u32"})
        launch = Launch(
            shader, ("condition", "a", "b"), ("y",), params, grid(elements, _WORKGROUP, caps.limits), "where"
        )
        return Lowering((launch,))


def _walk(problem: WhereProblem) -> tuple[Shape, tuple[Shape, ...]]:
    """The collapsed shape of y, and the condition's, a's and b's strides over it."""
    out = problem.output_shape
    shapes = (problem.condition_shape, problem.a_shape, problem.b_shape)
    return collapse(out, *(broadcast_strides(shape, out) for shape in shapes))


FAMILY: Family[WhereProblem] = Family("where", (Plain(),))
