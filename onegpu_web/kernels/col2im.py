"""Col2Im."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import shader
from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, grid, pack_params
from ..problems.col2im import Col2ImProblem
from .family import Family, Lowering
from .pool import three

WORKGROUP = 64


@dataclass(frozen=True, slots=True)
class Plain:
    """One thread gathers each element of the image."""

    name: str = "plain"

    def supports(self, problem: Col2ImProblem, caps: Caps) -> str | None:
        if problem.dtype is FLOAT16 and "shader-f16" not in caps.features:
            return "float16 arithmetic needs the feature shader-f16"
        return None

    def lower(self, problem: Col2ImProblem, caps: Caps) -> Lowering:
        count = math.prod(problem.output_shape)
        windows = problem.windows
        params = pack_params(
            problem.x_offset,
            problem.y_offset,
            count,
            *three(problem.image_shape, 1),
            *three(problem.blocks, 1),
            *three(problem.block_shape, 1),
            *three(tuple(w.stride for w in windows), 1),
            *three(tuple(w.dilation for w in windows), 1),
            *three(tuple(w.pad_begin for w in windows), 0),
        )
        built = shader.build("col2im", constants={"WORKGROUP": WORKGROUP}, aliases={"T": problem.dtype.wgsl})
        launch = Launch(built, ("x",), ("y",), params, grid(count, WORKGROUP, caps.limits), problem.op)
        return Lowering((launch,) if count else ())


FAMILY: Family[Col2ImProblem] = Family("col2im", (Plain(),))
