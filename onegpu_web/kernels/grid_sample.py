"""GridSample."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import shader
from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, grid, pack_params
from ..problems.grid_sample import PADDING_MODES, GridSampleProblem
from .family import Family, Lowering

WORKGROUP = 64
_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}


@dataclass(frozen=True, slots=True)
class Positions:
    """A thread makes `channels` outputs of one position, which share taps and weights."""

    name: str
    channels: int

    def supports(self, problem: GridSampleProblem, caps: Caps) -> str | None:
        if FLOAT16 in (problem.dtype, problem.grid_dtype) and "shader-f16" not in caps.features:
            return "float16 arithmetic needs the feature shader-f16"
        if problem.x_shape[1] < self.channels:
            return f"channels must be at least {self.channels}, got {problem.x_shape[1]}"
        return None

    def lower(self, problem: GridSampleProblem, caps: Caps) -> Lowering:
        n, c, *spatial = problem.x_shape
        positions = math.prod(problem.grid_shape[1:-1])
        blocks = -(-c // self.channels)
        built = shader.build(
            "grid_sample",
            constants={
                "TAPS": _TAPS[problem.mode],
                "VOLUME": len(spatial) == 3,
                "CHANNELS": self.channels,
                "WORKGROUP": WORKGROUP,
            },
            aliases={"T": problem.dtype.wgsl, "G": problem.grid_dtype.wgsl},
        )
        threads = n * blocks * positions
        depth, height, width = [1] * (3 - len(spatial)) + spatial
        offsets = (problem.x_offset, problem.grid_offset, problem.y_offset)
        padding = PADDING_MODES.index(problem.padding_mode)
        sizes = (positions, c, blocks, depth, height, width)
        params = pack_params(*offsets, threads, *sizes, padding, int(problem.align_corners))
        launch = Launch(built, ("x", "grid"), ("y",), params, grid(threads, WORKGROUP, caps.limits), problem.op)
        return Lowering((launch,) if threads else ())


FAMILY: Family[GridSampleProblem] = Family("grid_sample", (Positions("channels", 8), Positions("plain", 1)))
