"""The plain variants: one thread for each output, kept as the in-GPU reference."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...caps import Caps
from ...plan import Launch, grid
from ...problems.conv import Convolution
from .parameters import launch, shader
from .variant import ConvVariant

_WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain(ConvVariant):
    """Runs every problem. source: the shader, of Conv or of ConvTranspose."""

    source: str

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        made = shader(self.source, problem)
        workgroups = grid(math.prod(problem.output_shape), _WORKGROUP, caps.limits)
        return [launch(made, problem, workgroups, f"{problem.op} {self.name}")]
