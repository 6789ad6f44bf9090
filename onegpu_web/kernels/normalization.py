"""LayerNormalization, InstanceNormalization, GroupNormalization: rows of x by their own statistics."""

from __future__ import annotations

from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.normalization import NormalizationProblem
from ..shader import build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each row."""

    name: str = "plain"

    def supports(self, problem: NormalizationProblem, caps: Caps, /) -> str | None:
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: NormalizationProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, "normalization", grid(problem.rows[0], _WORKGROUP, caps.limits))


@dataclass(frozen=True, slots=True)
class Rows:
    """A workgroup for each row."""

    name: str = "rows"

    def supports(self, problem: NormalizationProblem, caps: Caps, /) -> str | None:
        if problem.rows[1] < 64:
            return "rows must have 64 elements or more"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: NormalizationProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, "normalization_rows", fold_grid(problem.rows[0], caps.limits))


def _lower(problem: NormalizationProblem, file: str, workgroups: tuple[int, int, int]) -> Lowering:
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
    shader = build(file, constants={"HAS_BIAS": problem.has_bias}, aliases={"T": problem.dtype.wgsl})
    return Lowering((Launch(shader, ("x", "scale", "bias"), ("y",), params, workgroups, problem.op),))


FAMILY: Family[NormalizationProblem] = Family("normalization", (Rows(), Plain()))
