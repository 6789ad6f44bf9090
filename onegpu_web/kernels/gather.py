"""Gather: slices along one axis, chosen by indices."""

from __future__ import annotations

from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, grid, pack_params
from ..problems.movement import GatherProblem
from ..shader import build
from .copy import moved_type
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 256


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element of y."""

    name: str = "plain"

    def supports(self, problem: GatherProblem, caps: Caps, /) -> str | None:
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: GatherProblem, caps: Caps, /) -> Lowering:
        before, size, count, behind = problem.sizes
        elements = before * count * behind
        params = pack_params(
            elements,
            size,
            count,
            behind,
            problem.x_offset,
            problem.indices_offset,
            problem.y_offset,
        )
        shader = build("gather", aliases={"E": moved_type(problem.dtype)})
        workgroups = grid(elements, _WORKGROUP, caps.limits)
        return Lowering((Launch(shader, ("x", "indices"), ("y",), params, workgroups, "gather"),))


FAMILY: Family[GatherProblem] = Family("gather", (Plain(),))
