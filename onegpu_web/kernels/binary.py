"""Binary functions and comparisons with broadcasting, element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32
from ..plan import Launch, grid, pack_params
from ..problems.elementwise import BINARIES, COMPARISONS, BinaryProblem
from ..problems.strides import RANK, Shape, broadcast_strides, collapse, padded
from ..shader import Constant, build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 256


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element of y."""

    name: str = "plain"

    def supports(self, problem: BinaryProblem, caps: Caps, /) -> str | None:
        return _too_much(problem, caps)

    def lower(self, problem: BinaryProblem, caps: Caps, /) -> Lowering:
        shape, (a, b, _) = _walk(problem)
        element = problem.dtype.wgsl
        aliases = {"T": element, "Y": problem.output_dtype.wgsl}
        elements = math.prod(shape)
        params = pack_params(
            *padded(shape, 1),
            *padded(a),
            *padded(b),
            elements,
            len(shape),
            problem.a_offset,
            problem.b_offset,
            problem.y_offset,
        )
        return _lowering(problem, caps, "binary", aliases, params, elements)


@dataclass(frozen=True, slots=True)
class Lanes:
    """A thread for each four elements along y's last axis; a and b lie along it or are repeated."""

    name: str = "vec4"

    def supports(self, problem: BinaryProblem, caps: Caps, /) -> str | None:
        shape, (a, b, _) = _walk(problem)
        if shape[-1] % 4 or problem.y_offset % 4:
            return "y's last axis, as collapsed, and y_offset must be multiples of 4"
        for name, strides, offset in (("a", a, problem.a_offset), ("b", b, problem.b_offset)):
            if strides[-1] == 1 and (offset % 4 or any(stride % 4 for stride in strides[:-1])):
                return f"{name}'s offset and strides must be multiples of 4"
        return _too_much(problem, caps)

    def lower(self, problem: BinaryProblem, caps: Caps, /) -> Lowering:
        shape, (a, b, _) = _walk(problem)
        element = problem.dtype.wgsl
        quads = (*shape[:-1], shape[-1] // 4)
        a_lanes, b_lanes = (4 if strides[-1] == 1 else 1 for strides in (a, b))
        aliases = {
            "T": element,
            "A": f"vec4<{element}>" if a_lanes == 4 else element,
            "B": f"vec4<{element}>" if b_lanes == 4 else element,
            "Y": f"vec4<{problem.output_dtype.wgsl}>",
        }
        params = pack_params(
            *padded(quads, 1),
            *padded(_in_lanes(a, a_lanes)),
            *padded(_in_lanes(b, b_lanes)),
            math.prod(quads),
            len(quads),
            problem.a_offset // a_lanes,
            problem.b_offset // b_lanes,
            problem.y_offset // 4,
        )
        return _lowering(problem, caps, "binary_lanes", aliases, params, math.prod(quads))


def _walk(problem: BinaryProblem) -> tuple[Shape, tuple[Shape, ...]]:
    """The collapsed shape of y, and a's, b's and y's strides over it."""
    out = problem.output_shape
    a, b = broadcast_strides(problem.a_shape, out), broadcast_strides(problem.b_shape, out)
    return collapse(out, a, b, broadcast_strides(out, out))


def _in_lanes(strides: Sequence[int], lanes: int) -> Shape:
    """Strides counted in vec4s where the operand is one; the last axis steps from one to the next."""
    return (*(stride // lanes for stride in strides[:-1]), 1 if lanes == 4 else strides[-1])


def _too_much(problem: BinaryProblem, caps: Caps) -> str | None:
    rank = len(_walk(problem)[0])
    if rank > RANK:
        return f"y must have at most {RANK} axes after collapsing, got {rank}"
    return needs_half(problem.dtype is FLOAT16, caps)


def _lowering(
    problem: BinaryProblem, caps: Caps, file: str, aliases: dict[str, str], params: bytes, threads: int
) -> Lowering:
    constants: dict[str, Constant] = {}
    floats = problem.dtype in (FLOAT32, FLOAT16)
    computed = "f32" if floats else problem.dtype.wgsl
    if problem.kind in COMPARISONS:
        regions = {"function": "compare"}
        constants |= {"KIND": COMPARISONS.index(problem.kind), "FLOATS": floats}
        result = "u32"
    else:
        regions = {"function": "binary_float" if floats else "binary_int"}
        constants["KIND"] = BINARIES.index(problem.kind)
        result = computed
    if problem.activation.kind != "identity":
        regions["activation"] = "activation"
        constants |= problem.activation.constants
    shader = build(file, constants=constants, aliases={"V": computed, "R": result} | aliases, regions=regions)
    workgroups = grid(threads, _WORKGROUP, caps.limits)
    return Lowering((Launch(shader, ("a", "b"), ("y",), params, workgroups, problem.kind),))


FAMILY: Family[BinaryProblem] = Family("binary", (Lanes(), Plain()))
