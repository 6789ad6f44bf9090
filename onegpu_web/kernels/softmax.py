"""Softmax and LogSoftmax along one axis."""

from __future__ import annotations

from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.reduce import SoftmaxProblem
from ..shader import Constant, build
from .family import Family, Lowering
from .reduce import row_workgroup
from .unary import needs_half

_WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each row."""

    name: str = "plain"

    def supports(self, problem: SoftmaxProblem, caps: Caps, /) -> str | None:
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: SoftmaxProblem, caps: Caps, /) -> Lowering:
        before, size, behind = problem.sizes
        rows = before * behind if size else 0
        params = pack_params(rows, size, behind, problem.x_offset, problem.y_offset)
        shader = build("softmax", constants={"LOG": problem.log}, aliases={"T": problem.dtype.wgsl})
        launch = Launch(shader, ("x",), ("y",), params, grid(rows, _WORKGROUP, caps.limits), problem.op)
        return Lowering((launch,))


@dataclass(frozen=True, slots=True)
class Rows:
    """A workgroup for each row, where rows are contiguous."""

    name: str = "rows"

    def supports(self, problem: SoftmaxProblem, caps: Caps, /) -> str | None:
        before, size, behind = problem.sizes
        if behind != 1 or size < 64 or before == 0:
            return "rows must be contiguous and of 64 elements or more"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: SoftmaxProblem, caps: Caps, /) -> Lowering:
        before, size, _ = problem.sizes
        params = pack_params(before, size, problem.x_offset, problem.y_offset)
        constants: dict[str, Constant] = {"LOG": problem.log, "WORKGROUP": row_workgroup(size)}
        shader = build("softmax_rows", constants=constants, aliases={"T": problem.dtype.wgsl})
        launch = Launch(shader, ("x",), ("y",), params, fold_grid(before, caps.limits), problem.op)
        return Lowering((launch,))


FAMILY: Family[SoftmaxProblem] = Family("softmax", (Rows(), Plain()))
