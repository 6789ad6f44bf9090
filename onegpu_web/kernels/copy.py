"""Strided copies: Transpose, Slice, Expand, Tile, Split, Concat, DepthToSpace, SpaceToDepth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16, INT8, UINT8, DType
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.movement import ConcatProblem, CopyProblem
from ..problems.strides import RANK, Shape, collapse, padded
from ..shader import build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 256
_TILE = 32


def moved_type(dtype: DType) -> str:
    """The WGSL type that moves elements of `dtype` bit for bit."""
    return "f16" if dtype is FLOAT16 else "u32"


def moved_regions(dtype: DType) -> dict[str, str]:
    """The regions of a shader that moves single elements of `dtype`."""
    return {"elements": "moved_bytes"} if dtype in (INT8, UINT8) else {}


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element."""

    name: str = "plain"

    def supports(self, problem: CopyProblem, caps: Caps, /) -> str | None:
        rank = len(_walk(problem)[0])
        if rank > RANK:
            return f"shape must have at most {RANK} axes after collapsing, got {rank}"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: CopyProblem, caps: Caps, /) -> Lowering:
        shape, (x, y) = _walk(problem)
        return _lower(problem, caps, shape, x, y, lanes=1)


@dataclass(frozen=True, slots=True)
class Lanes:
    """A thread for each four elements, where the last axis is contiguous on both sides."""

    name: str = "vec4"

    def supports(self, problem: CopyProblem, caps: Caps, /) -> str | None:
        shape, (x, y) = _walk(problem)
        if x[-1] != 1 or y[-1] != 1:
            return "the last axis must be contiguous in x and y"
        if any(v % 4 for v in (shape[-1], problem.x_offset, problem.y_offset, *x[:-1], *y[:-1])):
            return "the last axis, offsets and strides must be multiples of 4"
        return PLAIN.supports(problem, caps)

    def lower(self, problem: CopyProblem, caps: Caps, /) -> Lowering:
        shape, (x, y) = _walk(problem)
        quads = (*shape[:-1], shape[-1] // 4)
        return _lower(problem, caps, quads, _in_quads(x), _in_quads(y), lanes=4)


@dataclass(frozen=True, slots=True)
class Tiled:
    """Matrices transposed through workgroup memory."""

    name: str = "tiled"

    def supports(self, problem: CopyProblem, caps: Caps, /) -> str | None:
        shape, (x, y) = _walk(problem)
        if problem.dtype in (INT8, UINT8):
            return "elements must have 16 or 32 bits"
        if len(shape) not in (2, 3) or x[-2] != 1 or y[-1] != 1:
            return "x and y must be batches of matrices, one transposed against the other"
        if min(shape[-2:]) < 4:
            return f"the matrices must have 4 rows and columns or more, got {shape[-2:]}"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: CopyProblem, caps: Caps, /) -> Lowering:
        shape, (x, y) = _walk(problem)
        batches = shape[0] if len(shape) == 3 else 1
        rows, columns = shape[-2:]
        x_batch, y_batch = (x[0], y[0]) if len(shape) == 3 else (0, 0)
        params = pack_params(batches, rows, columns, x_batch, x[-1], y_batch, y[-2], problem.x_offset, problem.y_offset)
        tiles = batches * -(-rows // _TILE) * -(-columns // _TILE)
        shader = build("copy_tiled", constants={"TILE": _TILE}, aliases={"E": moved_type(problem.dtype)})
        return Lowering((Launch(shader, ("x",), ("y",), params, fold_grid(tiles, caps.limits), problem.op),))


def _walk(problem: CopyProblem) -> tuple[Shape, tuple[Shape, ...]]:
    """The collapsed shape, and x's and y's strides over it."""
    return collapse(problem.shape, problem.x_strides, problem.y_strides)


def _in_quads(strides: Sequence[int]) -> Shape:
    return (*(stride // 4 for stride in strides[:-1]), 1)


def _lower(
    problem: CopyProblem, caps: Caps, shape: Shape, x: Sequence[int], y: Sequence[int], *, lanes: int
) -> Lowering:
    elements = math.prod(shape)
    params = pack_params(
        *padded(shape, 1),
        *padded(x),
        *padded(y),
        elements,
        len(shape),
        problem.x_offset // lanes,
        problem.y_offset // lanes,
    )
    element, regions = moved_type(problem.dtype), moved_regions(problem.dtype)
    if lanes == 4:  # four bytes are a word
        element, regions = (element if regions else f"vec4<{element}>"), {}
    shader = build("copy", aliases={"E": element}, regions=regions)
    return Lowering((Launch(shader, ("x",), ("y",), params, grid(elements, _WORKGROUP, caps.limits), problem.op),))


PLAIN = Plain()
FAMILY: Family[CopyProblem] = Family("copy", (Lanes(), Tiled(), PLAIN))


@dataclass(frozen=True, slots=True)
class ConcatPlain:
    """A plain copy for each input."""

    name: str = "plain"

    def supports(self, problem: ConcatProblem, caps: Caps, /) -> str | None:
        return next((r for copy in problem.copies() if (r := PLAIN.supports(copy, caps))), None)

    def lower(self, problem: ConcatProblem, caps: Caps, /) -> Lowering:
        return _lower_concat(problem, caps, "plain")


@dataclass(frozen=True, slots=True)
class ConcatCopies:
    """The best copy for each input."""

    name: str = "copies"

    def supports(self, problem: ConcatProblem, caps: Caps, /) -> str | None:
        return CONCAT_PLAIN.supports(problem, caps)

    def lower(self, problem: ConcatProblem, caps: Caps, /) -> Lowering:
        return _lower_concat(problem, caps, None)


def _lower_concat(problem: ConcatProblem, caps: Caps, variant: str | None) -> Lowering:
    launches = []
    for index, copy in enumerate(problem.copies()):
        if 0 in copy.shape:
            continue
        for launch in FAMILY.choose(copy, caps, variant).lower(copy, caps).launches:
            launches.append(
                Launch(launch.shader, (f"x{index}",), ("y",), launch.params, launch.workgroups, launch.label)
            )
    return Lowering(tuple(launches))


CONCAT_PLAIN = ConcatPlain()
CONCAT: Family[ConcatProblem] = Family("concat", (ConcatCopies(), CONCAT_PLAIN))
