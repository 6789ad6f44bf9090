"""Pooling of whole planes: GlobalMaxPool, GlobalAveragePool, GlobalLpPool."""

from __future__ import annotations

from dataclasses import dataclass

from .. import shader
from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32, UINT32, DType
from ..plan import Launch, fold_grid, pack_params
from ..problems.pool import GlobalPoolProblem
from .family import Family, Lowering
from .pool import norm, order_constants, words

WORKGROUP = 256
# A plane longer than this is cut, so that no lane sums more than 256 terms: the error stays that of short sums.
MOST_CHUNK = 65_536
LEAST_CHUNK = 4_096  # 16 elements a lane: shorter rows cost more in launches than they gain
WANTED_ROWS = 1_024  # enough workgroups to fill the largest GPUs


@dataclass(frozen=True, slots=True)
class _Stage:
    """One launch: rows of `chunk` elements, `chunks` of them to a plane, by `lanes` threads each."""

    reads: str
    writes: str
    x_offset: int
    y_offset: int
    rows: int
    plane: int
    chunks: int
    chunk: int
    lanes: int

    @property
    def first(self) -> bool:
        return self.reads == "x"

    @property
    def last(self) -> bool:
        return self.writes == "y"


def chunks_of(channels: int, plane: int) -> int:
    """Into how many rows a plane is cut.

    The shape of one image alone decides, so that sums have the same order on every device and in every batch.
    """
    needed = -(-plane // MOST_CHUNK)
    if plane <= 2 * LEAST_CHUNK or channels >= WANTED_ROWS:
        return needed
    return max(needed, min(-(-plane // LEAST_CHUNK), -(-WANTED_ROWS // max(channels, 1))))


def lanes_of(elements: int) -> int:
    """Threads for a row: a power of two of 8 to 256, four elements or more each."""
    return min(WORKGROUP, max(8, 1 << max(0, (elements // 4).bit_length())))


@dataclass(frozen=True, slots=True)
class Tree:
    """Several threads sum a row; planes that are long and few are cut into rows and joined by a second launch."""

    name: str = "tree"

    def supports(self, problem: GlobalPoolProblem, caps: Caps) -> str | None:
        return _supports(problem, caps)

    def lower(self, problem: GlobalPoolProblem, caps: Caps) -> Lowering:
        planes, plane = problem.planes, problem.plane
        chunks = chunks_of(problem.x_shape[1], plane)
        chunk = -(-plane // chunks)
        offset, target, partial = problem.x_offset, problem.y_offset, problem.scratch_offset
        if chunks == 1:
            stage = _Stage("x", "y", offset, target, planes, plane, 1, plane, lanes_of(plane))
            return Lowering((_launch(problem, stage, caps),))
        stages = (
            _Stage("x", "scratch", offset, partial, planes * chunks, plane, chunks, chunk, lanes_of(chunk)),
            _Stage("scratch", "y", partial, target, planes, chunks, 1, chunks, lanes_of(chunks)),
        )
        return Lowering(tuple(_launch(problem, stage, caps) for stage in stages), 4 * (partial + planes * chunks))


@dataclass(frozen=True, slots=True)
class Plain:
    """One thread for each plane (each word of planes for max)."""

    name: str = "plain"

    def supports(self, problem: GlobalPoolProblem, caps: Caps) -> str | None:
        return _supports(problem, caps)

    def lower(self, problem: GlobalPoolProblem, caps: Caps) -> Lowering:
        plane = problem.plane
        stage = _Stage("x", "y", problem.x_offset, problem.y_offset, problem.planes, plane, 1, plane, 1)
        return Lowering((_launch(problem, stage, caps),))


def _supports(problem: GlobalPoolProblem, caps: Caps) -> str | None:
    if problem.kind != "max" and problem.dtype is FLOAT16 and "shader-f16" not in caps.features:
        return "float16 arithmetic needs the feature shader-f16"
    return None


def _launch(problem: GlobalPoolProblem, stage: _Stage, caps: Caps) -> Launch:
    constants = {"FIRST": stage.first, "LAST": stage.last, "LANES": stage.lanes, "WORKGROUP": WORKGROUP}
    if problem.kind == "max":
        return _max(problem, stage, constants, caps)
    built = shader.build(
        "pool_global",
        constants={**constants, "NORM": norm(problem.kind, problem.p)},
        aliases={
            "IN": (problem.dtype if stage.first else FLOAT32).wgsl,
            "OUT": (problem.dtype if stage.last else FLOAT32).wgsl,
        },
        regions={"norm": "pool_norm"},
    )
    sizes = (stage.x_offset, stage.y_offset, stage.rows, stage.plane, stage.chunks, stage.chunk)
    params = pack_params(*sizes, problem.plane, float(problem.p))
    groups = fold_grid(-(-stage.rows * stage.lanes // WORKGROUP), caps.limits)
    return Launch(built, (stage.reads,), (stage.writes,), params, groups, problem.op)


def _max(problem: GlobalPoolProblem, stage: _Stage, constants: dict[str, int], caps: Caps) -> Launch:
    order = order_constants(problem.dtype)
    del order["LOWEST"]  # a plane is never empty
    held: DType = problem.dtype if stage.last else UINT32
    count = words(held, stage.y_offset, stage.rows)
    sizes = (stage.x_offset, stage.y_offset, stage.rows, count, stage.plane, stage.chunks, stage.chunk)
    return Launch(
        shader.build("pool_global_max", constants={**order, **constants}),
        (stage.reads,),
        (stage.writes,),
        pack_params(*sizes),
        fold_grid(-(-count * stage.lanes // WORKGROUP), caps.limits),
        problem.op,
    )


FAMILY: Family[GlobalPoolProblem] = Family("global_pool", (Tree(), Plain()))
