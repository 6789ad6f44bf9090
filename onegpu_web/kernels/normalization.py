"""LayerNormalization, InstanceNormalization, GroupNormalization: rows of x by their own statistics."""

from __future__ import annotations

from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.normalization import NormalizationProblem
from ..shader import Constant, build
from .family import Family, Lowering
from .reduce import row_workgroup
from .unary import needs_half

_WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each row."""

    name: str = "plain"

    def supports(self, problem: NormalizationProblem, caps: Caps, /) -> str | None:
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: NormalizationProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, "normalization", _WORKGROUP, grid(problem.rows[0], _WORKGROUP, caps.limits))


@dataclass(frozen=True, slots=True)
class Rows:
    """A workgroup for each row."""

    name: str = "rows"

    def supports(self, problem: NormalizationProblem, caps: Caps, /) -> str | None:
        if problem.rows[1] < 64:
            return "rows must have 64 elements or more"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: NormalizationProblem, caps: Caps, /) -> Lowering:
        threads = row_workgroup(problem.rows[1])
        return _lower(problem, "normalization_rows", threads, fold_grid(problem.rows[0], caps.limits))


def _lower(problem: NormalizationProblem, file: str, threads: int, workgroups: tuple[int, int, int]) -> Lowering:
    rows, size = problem.rows
    span, channels = problem.channels
    params = pack_params(
        rows,
        size,
        span,
        channels,
        problem.x_offset,
        problem.scale_offset,
        problem.bias_offset,
        problem.y_offset,
        float(problem.epsilon),
    )
    constants: dict[str, Constant] = {"HAS_BIAS": problem.has_bias, "WORKGROUP": threads}
    shader = build(file, constants=constants, aliases={"T": problem.dtype.wgsl})
    return Lowering((Launch(shader, ("x", "scale", "bias"), ("y",), params, workgroups, problem.op),))


FAMILY: Family[NormalizationProblem] = Family("normalization", (Rows(), Plain()))
