"""The plain variants: one thread for each output, kept as the in-GPU reference."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...caps import Caps
from ...plan import grid
from ...problems.conv import Convolution
from ..family import Lowering
from .parameters import half_reason, launch, shader

_WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain:
    """Runs every problem. source: the shader, of Conv or of ConvTranspose."""

    source: str
    name: str = "plain"

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        return half_reason(problem, caps)

    def lower(self, problem: Convolution, caps: Caps, /) -> Lowering:
        made = shader(self.source, problem)
        workgroups = grid(math.prod(problem.output_shape), _WORKGROUP, caps.limits)
        return Lowering((launch(made, problem, workgroups, f"{problem.op} {self.name}"),))
