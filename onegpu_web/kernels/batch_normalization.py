"""BatchNormalization as inference runs it: each channel by statistics given."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, grid, pack_params
from ..problems.normalization import BatchNormalizationProblem
from ..shader import build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 256


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element."""

    name: str = "plain"

    def supports(self, problem: BatchNormalizationProblem, caps: Caps, /) -> str | None:
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: BatchNormalizationProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, caps, lanes=1)


@dataclass(frozen=True, slots=True)
class Lanes:
    """A thread for each four elements of a plane."""

    name: str = "vec4"

    def supports(self, problem: BatchNormalizationProblem, caps: Caps, /) -> str | None:
        if problem.plane % 4 or problem.x_offset % 4 or problem.y_offset % 4:
            return "planes and offsets must be multiples of 4"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: BatchNormalizationProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, caps, lanes=4)


def _lower(problem: BatchNormalizationProblem, caps: Caps, lanes: int) -> Lowering:
    elements, element = math.prod(problem.x_shape) // lanes, problem.dtype.wgsl
    params = pack_params(
        elements,
        problem.plane // lanes,
        problem.channels,
        problem.x_offset,
        problem.scale_offset,
        problem.bias_offset,
        problem.mean_offset,
        problem.variance_offset,
        problem.y_offset,
        float(problem.epsilon),
    )
    aliases = {"T": element, "X": element, "V": "f32"}
    if lanes == 4:
        aliases |= {"X": f"vec4<{element}>", "V": "vec4<f32>"}
    shader = build("batch_normalization", constants={"LANES": lanes}, aliases=aliases)
    reads = ("x", "scale", "bias", "mean", "variance")
    return Lowering((Launch(shader, reads, ("y",), params, grid(elements, _WORKGROUP, caps.limits), problem.op),))


FAMILY: Family[BatchNormalizationProblem] = Family("batch_normalization", (Lanes(), Plain()))
