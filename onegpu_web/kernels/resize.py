"""Resize: nearest, linear and cubic, by tables of taps that the host makes once a shape."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from .. import shader
from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32, DType
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.resize import ResizeProblem
from ..problems.resize_taps import Taps, identity
from .family import Family, Lowering
from .pool import words

WORKGROUP = 64
PER_THREAD = 4  # outputs of a row that a thread of resize_upscale makes
KNOWN_WIDTH = 4  # wider windows, those of antialias, share one shader
PLANES = 4  # of which a thread of resize_planes makes the same place, at most
LEAST_LENGTH = 32  # shorter output rows leave most of a workgroup of resize_upscale idle
LEAST_TAPS = 9  # fewer are as fast at once (H200, wgpu-py, 2026-11: 151 us against 159 for bilinear to 513 x 513)
SPAN = 3  # neighbouring axes that one launch resizes


@dataclass(frozen=True, slots=True)
class Pass:
    """One launch: three neighbouring axes of (outer, three axes, inner), from one buffer to another.

    taps: of the three axes, leading ones of size 1 where there are fewer. offsets: of x and y, in elements.
    """

    reads: str
    writes: str
    types: tuple[DType, DType]
    offsets: tuple[int, int]
    outer: int
    taps: tuple[Taps, Taps, Taps]
    inner: int

    @property
    def outputs(self) -> int:
        """Elements written."""
        return self.outer * math.prod(t.out for t in self.taps) * self.inner


class Tables:
    """The taps of a lowering in one buffer, the same ones once."""

    def __init__(self) -> None:
        self._data = array("I")
        self._places: dict[int, int] = {}
        self._kept: list[Taps] = []

    def place(self, taps: Taps) -> int:
        """Where the taps begin, in u32 elements."""
        if id(taps) not in self._places:
            self._kept.append(taps)
            self._places[id(taps)] = len(self._data)
            self._data.extend(taps.starts)
            self._data.frombytes(taps.weights.tobytes())
        return self._places[id(taps)]

    def tobytes(self) -> bytes:
        """The buffer's content, little-endian on every platform that Python and WebGPU share."""
        return self._data.tobytes()


@dataclass(frozen=True, slots=True)
class Upscale:
    """Nearest by whole factors without tables: what networks use to go up."""

    name: str = "upscale"

    def supports(self, problem: ResizeProblem, caps: Caps) -> str | None:
        if problem.mode != "nearest":
            return "it moves elements: mode must be nearest"
        made = problem.taps()
        if len(_spans(sorted(made))) != 1:
            return f"the resized axes must lie within {SPAN} neighbours, got {sorted(made)}"
        if any(_factor(taps) is None for taps in made.values()):
            return "output i of each axis must be input i // factor"
        length = math.prod(problem.output_shape[max(made) :])
        per_word = 4 // problem.dtype.size_bytes
        if length % per_word or problem.y_offset % per_word or length // per_word < LEAST_LENGTH:
            return f"output rows must be whole words, {LEAST_LENGTH} or more, got {length} from {problem.y_offset} on"
        return None

    def lower(self, problem: ResizeProblem, caps: Caps) -> Lowering:
        made, shape = problem.taps(), problem.x_shape
        ((first, last),) = _spans(sorted(made))
        axes = [(1, 1)] * (SPAN - 1 - last + first)
        axes += [(shape[a], _factor(made[a]) or 1 if a in made else 1) for a in range(first, last + 1)]
        (in0, factor0), (in1, factor1), (in2, factor2) = axes
        inner = math.prod(shape[last + 1 :])
        per_word = 4 // problem.dtype.size_bytes
        rows, length = math.prod(shape[:first]) * in0 * in1, in2 * factor2 * inner // per_word
        spans = -(-length // (WORKGROUP * PER_THREAD))
        constants: dict[str, int] = {"FACTOR0": factor0, "FACTOR1": factor1, "FACTOR2": factor2}
        constants |= {"CHANNELS_LAST": inner > 1, "WORKGROUP": WORKGROUP, "PER_THREAD": PER_THREAD}
        constants |= _bit_constants(problem.dtype)
        params = pack_params(problem.x_offset, problem.y_offset // per_word, rows, spans, in0, in1, length, inner)
        built = shader.build("resize_upscale", constants=constants)
        groups = fold_grid(rows * spans, caps.limits)
        return Lowering((Launch(built, ("x",), ("y",), params, groups, problem.op),) if rows * spans else ())


def _factor(taps: Taps) -> int | None:
    """The whole factor by which the taps repeat every element, if that is all they do."""
    factor = taps.out // max(taps.size, 1)
    whole = factor > 0 and factor * taps.size == taps.out
    return factor if whole and all(i // factor == start for i, start in enumerate(taps.starts)) else None


@dataclass(frozen=True, slots=True)
class Separable:
    """Linear or cubic in two launches over a float32 scratch, where that reads less than all taps at once."""

    name: str = "separable"

    def supports(self, problem: ResizeProblem, caps: Caps) -> str | None:
        if problem.mode == "nearest":
            return "nearest has one tap"
        reason = Plain().supports(problem, caps)
        if reason is not None:
            return reason
        made = problem.taps()
        if len(made) < 2 or len(_spans(sorted(made))) > 1:
            return f"two or three axes within {SPAN} neighbours must change, got {sorted(made)}"
        cost, order = min(_orders(problem))
        at_once = math.prod(t.width for t in made.values())
        if at_once < LEAST_TAPS:
            return f"an output must have {LEAST_TAPS} taps or more, got {at_once}"
        direct = math.prod(problem.output_shape) * at_once
        if cost >= direct:
            return f"{direct:,} reads at once are fewer than {cost:,} in two launches ({order})"
        scratch_bytes, most = self.lower(problem, caps).scratch_bytes, caps.limits.max_storage_buffer_binding_size
        if scratch_bytes > most:
            return f"the scratch must fit a binding of {most:,} bytes, got {scratch_bytes:,}"
        return None

    def lower(self, problem: ResizeProblem, caps: Caps) -> Lowering:
        return lower_spans(problem, min(_orders(problem))[1], caps, PLANES)


def _orders(problem: ResizeProblem) -> list[tuple[int, list[tuple[int, int]]]]:
    """Orders of two launches with their cost: elements read, those written and read again counted as two more."""
    made, shape = problem.taps(), problem.x_shape
    axes = sorted(made)
    orders = []
    for alone in (axes[-1], axes[0]):
        others = [axis for axis in axes if axis != alone]
        between = math.prod(made[a].out if a == alone else size for a, size in enumerate(shape))
        second = math.prod(problem.output_shape) * math.prod(made[a].width for a in others)
        orders.append((between * (made[alone].width + 2) + second, [(alone, alone), (others[0], others[-1])]))
    return orders


@dataclass(frozen=True, slots=True)
class Planes:
    """All axes at once; a thread makes the same place of several planes with taps that it finds once."""

    name: str = "planes"

    def supports(self, problem: ResizeProblem, caps: Caps) -> str | None:
        reason = Plain().supports(problem, caps)
        if reason is not None:
            return reason
        if problem.mode == "nearest" and problem.dtype.size_bytes != 4:
            return f"nearest must be of 32-bit elements, got {problem.dtype.name}"
        made = problem.taps()
        widest = max((t.width for t in made.values()), default=0)
        if not 1 <= widest <= KNOWN_WIDTH:
            return f"windows must have 1 to {KNOWN_WIDTH} taps, got {widest}"
        if math.prod(problem.x_shape[: min(made)]) < 2:
            return f"several planes must lie before the resized axes, got shape {problem.x_shape}"
        return None

    def lower(self, problem: ResizeProblem, caps: Caps) -> Lowering:
        return lower_spans(problem, _spans(sorted(problem.taps())), caps, PLANES)


@dataclass(frozen=True, slots=True)
class Plain:
    """One thread for each output (each word of outputs for nearest), all axes at once."""

    name: str = "plain"

    def supports(self, problem: ResizeProblem, caps: Caps) -> str | None:
        if problem.mode != "nearest" and problem.dtype is FLOAT16 and "shader-f16" not in caps.features:
            return "float16 arithmetic needs the feature shader-f16"
        taps = problem.taps()
        if taps and len(_spans(sorted(taps))) > 2:
            return f"the resized axes must lie in two spans of {SPAN}, got {sorted(taps)}"
        return None

    def lower(self, problem: ResizeProblem, caps: Caps) -> Lowering:
        return lower_spans(problem, _spans(sorted(problem.taps())), caps)


def _spans(axes: Sequence[int]) -> list[tuple[int, int]]:
    """Spans of up to three neighbouring axes (first, last) that cover `axes`, in order."""
    spans: list[tuple[int, int]] = []
    for axis in axes:
        if spans and axis - spans[-1][0] < SPAN:
            spans[-1] = (spans[-1][0], axis)
        else:
            spans.append((axis, axis))
    return spans


def lower_spans(problem: ResizeProblem, spans: Sequence[tuple[int, int]], caps: Caps, planes: int = 1) -> Lowering:
    """A launch for each span of axes, in order, one or two; a single copy where nothing changes.

    planes: that a thread may make at once, where windows are narrow.
    """
    if not math.prod(problem.output_shape):
        return Lowering(())
    weighted = problem.mode != "nearest"
    made, shape, tables = problem.taps(), list(problem.x_shape), Tables()
    spans = spans or [(len(shape), len(shape) - 1)]
    middle = FLOAT32 if weighted else problem.dtype
    between = problem.scratch_offset * FLOAT32.size_bytes // middle.size_bytes
    launches: list[Launch] = []
    scratch_bytes = 0
    for number, (first, last) in enumerate(spans):
        begins, ends = number == 0, number == len(spans) - 1
        axes = [made.get(a) or identity(shape[a], weighted=weighted) for a in range(first, last + 1)]
        trivial = identity(1, weighted=weighted)
        full = [trivial] * (SPAN - len(axes)) + axes
        step = Pass(
            "x" if begins else "scratch",
            "y" if ends else "scratch",
            (problem.dtype if begins else middle, problem.dtype if ends else middle),
            (problem.x_offset if begins else between, problem.y_offset if ends else between),
            math.prod(shape[:first]),
            (full[0], full[1], full[2]),
            math.prod(shape[last + 1 :]),
        )
        if not weighted and min(planes, step.outer) > 1:
            launches.append(_copy_planes(problem, step, tables, caps, min(planes, step.outer)))
        elif not weighted:
            launches.append(_copy(problem, step, tables, caps))
        elif min(planes, step.outer) > 1 and max(t.width for t in step.taps) <= KNOWN_WIDTH:
            launches.append(_planes(problem, step, tables, caps, min(planes, step.outer)))
        else:
            launches.append(_weighted(problem, step, tables, caps))
        shape[first : last + 1] = [t.out for t in axes]
        if not ends:
            scratch_bytes = (between + step.outputs) * middle.size_bytes
    return Lowering(tuple(launches), scratch_bytes, {"taps": tables.tobytes()})


def _sizes(step: Pass, tables: Tables) -> tuple[int, ...]:
    """inner, the axes before and after, and their tables, as both kernels' params list them."""
    places = (tables.place(t) for t in step.taps)
    return (step.inner, *(t.size for t in step.taps), *(t.out for t in step.taps), *places)


def _weighted(problem: ResizeProblem, step: Pass, tables: Tables, caps: Caps) -> Launch:
    widths = [taps.width for taps in step.taps]
    known = {f"WIDTH{axis}": width if max(widths) <= KNOWN_WIDTH else 0 for axis, width in enumerate(widths)}
    built = shader.build(
        "resize",
        constants={**known, "WORKGROUP": WORKGROUP},
        aliases={"IN": step.types[0].wgsl, "OUT": step.types[1].wgsl},
    )
    params = pack_params(
        *step.offsets, step.outputs, float(problem.extrapolation_value), *_sizes(step, tables), *widths
    )
    return Launch(built, (step.reads, "taps"), (step.writes,), params, grid(step.outputs, WORKGROUP, caps.limits))


def _planes(problem: ResizeProblem, step: Pass, tables: Tables, caps: Caps, planes: int) -> Launch:
    widths = {f"WIDTH{axis}": taps.width for axis, taps in enumerate(step.taps)}
    built = shader.build(
        "resize_planes",
        constants={**widths, "PLANES": planes, "WORKGROUP": WORKGROUP},
        aliases={"IN": step.types[0].wgsl, "OUT": step.types[1].wgsl},
    )
    params = pack_params(*step.offsets, step.outer, float(problem.extrapolation_value), *_sizes(step, tables))
    threads = step.outputs // step.outer * -(-step.outer // planes)
    return Launch(built, (step.reads, "taps"), (step.writes,), params, grid(threads, WORKGROUP, caps.limits))


def _copy_planes(problem: ResizeProblem, step: Pass, tables: Tables, caps: Caps, planes: int) -> Launch:
    fill = _bits(problem.extrapolation_value, problem.dtype)
    built = shader.build("resize_copy_planes", constants={"PLANES": planes, "WORKGROUP": WORKGROUP})
    params = pack_params(*step.offsets, step.outer, fill, *_sizes(step, tables))
    threads = step.outputs // step.outer * -(-step.outer // planes)
    return Launch(built, (step.reads, "taps"), (step.writes,), params, grid(threads, WORKGROUP, caps.limits))


def _copy(problem: ResizeProblem, step: Pass, tables: Tables, caps: Caps) -> Launch:
    held = words(problem.dtype, step.offsets[1], step.outputs)
    fill = _bits(problem.extrapolation_value, problem.dtype)
    built = shader.build("resize_copy", constants={**_bit_constants(problem.dtype), "WORKGROUP": WORKGROUP})
    params = pack_params(*step.offsets, step.outputs, held, fill, *_sizes(step, tables))
    return Launch(built, (step.reads, "taps"), (step.writes,), params, grid(held, WORKGROUP, caps.limits))


def _bit_constants(dtype: DType) -> dict[str, int]:
    bits = 8 * dtype.size_bytes
    return {"BITS": bits, "MASK": (1 << bits) - 1}


def _bits(value: float, dtype: DType) -> int:
    """`value` as an element: its bits; integers round half to even and saturate."""
    if dtype in (FLOAT32, FLOAT16):
        return int.from_bytes(struct.pack("<f" if dtype is FLOAT32 else "<e", value), "little")
    bits = 8 * dtype.size_bytes
    low, high = (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return int(min(max(round(value), low), high)) & ((1 << bits) - 1)


FAMILY: Family[ResizeProblem] = Family("resize", (Upscale(), Separable(), Planes(), Plain()))
