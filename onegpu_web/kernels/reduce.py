"""Reductions over axes: sums, means, extremes, products, norms."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16, INT32
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.reduce import REDUCTIONS, ReduceProblem
from ..problems.strides import RANK, Shape, collapse, padded, row_major
from ..shader import Constant, build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 64
# A part of one reduction that a workgroup makes: 32 elements to each of 256 threads.
_CHUNK = 8192


def row_workgroup(size: int) -> int:
    """The threads that share a row of `size` elements: 16 elements to each, or 256 threads."""
    return 64 if size <= 1024 else 256


@dataclass(frozen=True, slots=True)
class _Walk:
    """x along the axes that stay and along those that go, each collapsed."""

    kept: Shape
    kept_strides: Shape
    gone: Shape
    gone_strides: Shape

    @property
    def params(self) -> Shape:
        return (
            *padded(self.kept, 1),
            *padded(self.kept_strides),
            *padded(self.gone, 1),
            *padded(self.gone_strides),
        )


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element of y."""

    name: str = "plain"

    def supports(self, problem: ReduceProblem, caps: Caps, /) -> str | None:
        walk = _walk(problem)
        rank = max(len(walk.kept), len(walk.gone))
        if rank > RANK:
            return f"x must have at most {RANK} axes of either sort after collapsing, got {rank}"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: ReduceProblem, caps: Caps, /) -> Lowering:
        walk = _walk(problem)
        elements = math.prod(walk.kept)
        params = pack_params(
            *walk.params,
            elements,
            len(walk.kept),
            math.prod(walk.gone),
            len(walk.gone),
            problem.x_offset,
            problem.y_offset,
        )
        shader = build(
            "reduce",
            constants={"KIND": REDUCTIONS.index(problem.kind)},
            aliases={"V": _computed(problem), "T": problem.dtype.wgsl},
            regions=_regions(problem),
        )
        launch = Launch(shader, ("x",), ("y",), params, grid(elements, _WORKGROUP, caps.limits), problem.op)
        return Lowering((launch,))


@dataclass(frozen=True, slots=True)
class Tree:
    """A workgroup for each element of y, or for each chunk of a long reduction and then for the chunks."""

    name: str = "tree"

    def supports(self, problem: ReduceProblem, caps: Caps, /) -> str | None:
        walk = _walk(problem)
        if math.prod(walk.gone) < 32:
            return "the reduction must have 32 elements or more"
        if walk.gone_strides[-1] != 1 and math.prod(walk.kept) >= 4096:
            return "the last axis must be reduced, or y have fewer than 4096 elements"
        return PLAIN.supports(problem, caps)

    def lower(self, problem: ReduceProblem, caps: Caps, /) -> Lowering:
        walk, count = _walk(problem), math.prod(_walk(problem).gone)
        elements, chunks = math.prod(walk.kept), -(-count // _CHUNK)
        if chunks == 1:
            return Lowering((_tree(problem, caps, walk, ("x", "y"), chunks=1, length=count),))
        parts = _Walk((elements,), (chunks,), (chunks,), (1,))
        launches = (
            _tree(problem, caps, walk, ("x", "scratch"), chunks=chunks, length=_CHUNK),
            _tree(problem, caps, parts, ("scratch", "y"), chunks=1, length=chunks),
        )
        return Lowering(launches, elements * chunks * 4)


def _tree(
    problem: ReduceProblem, caps: Caps, walk: _Walk, names: tuple[str, str], *, chunks: int, length: int
) -> Launch:
    """One launch from operand names[0] to names[1]."""
    source, target = names
    elements = math.prod(walk.kept)
    params = pack_params(
        *walk.params,
        elements,
        len(walk.kept),
        math.prod(walk.gone),
        len(walk.gone),
        chunks,
        length,
        problem.x_offset if source == "x" else 0,
        problem.y_offset if target == "y" else 0,
        math.prod(_walk(problem).gone),
    )
    constants: dict[str, Constant] = {
        "KIND": REDUCTIONS.index(problem.kind),
        "WORKGROUP": row_workgroup(length),
        "TAKE": source == "x",
        "FINISH": target == "y",
    }
    computed = _computed(problem)
    aliases = {
        "V": computed,
        "X": problem.dtype.wgsl if source == "x" else computed,
        "Y": problem.dtype.wgsl if target == "y" else computed,
    }
    shader = build("reduce_tree", constants=constants, aliases=aliases, regions=_regions(problem))
    return Launch(shader, (source,), (target,), params, fold_grid(elements * chunks, caps.limits), problem.op)


def _walk(problem: ReduceProblem) -> _Walk:
    reduced, strides = problem.reduced, row_major(problem.x_shape)
    kept = [axis for axis in range(len(problem.x_shape)) if axis not in reduced]
    gone = sorted(reduced)
    kept_shape, (kept_strides,) = collapse([problem.x_shape[a] for a in kept], [strides[a] for a in kept])
    gone_shape, (gone_strides,) = collapse([problem.x_shape[a] for a in gone], [strides[a] for a in gone])
    return _Walk(kept_shape, kept_strides, gone_shape, gone_strides)


def _computed(problem: ReduceProblem) -> str:
    return "i32" if problem.dtype is INT32 else "f32"


def _regions(problem: ReduceProblem) -> dict[str, str]:
    return {"function": "reduce_int" if problem.dtype is INT32 else "reduce_float"}


PLAIN = Plain()
FAMILY: Family[ReduceProblem] = Family("reduce", (Tree(), PLAIN))
