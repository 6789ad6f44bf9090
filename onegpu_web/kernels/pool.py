"""Windowed pooling: MaxPool, AveragePool, LpPool."""

from __future__ import annotations

from dataclasses import dataclass

from .. import shader
from ..caps import Caps
from ..dtypes import FLOAT16, FLOAT32, INT8, INT32, UINT8, DType
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.pool import PoolProblem
from .family import Family, Lowering

WORKGROUP = 64
ROWS = 4  # output rows of a thread of the columns variant
MOST_KERNEL = 5  # whose taps are written out
_TOP_INFINITY = {FLOAT32: 0x7F800000, FLOAT16: 0x7C000000}
# The result of an empty window: the lowest finite value, as bits.
_LOWEST = {FLOAT32: 0xFF7FFFFF, FLOAT16: 0xFBFF, INT8: 0x80, UINT8: 0, INT32: 0x80000000}


def order_constants(dtype: DType) -> dict[str, int]:
    """The constants that tell a kernel how the bits of `dtype` order."""
    bits = 8 * dtype.size_bytes
    return {
        "BITS": bits,
        "ORDER": 0 if dtype in _TOP_INFINITY else 2 if dtype is UINT8 else 1,
        "INFINITY": _TOP_INFINITY.get(dtype, 0),
        "LOWEST": _LOWEST[dtype],
        "MASK": (1 << bits) - 1,
    }


def words(dtype: DType, offset: int, elements: int) -> int:
    """The u32 words that hold `elements` elements from element `offset` on."""
    per_word = 4 // dtype.size_bytes
    return -(-(offset + elements) // per_word) - offset // per_word if elements else 0


def norm(kind: str, p: float) -> int:
    """The constant NORM of wgsl/pool_norm.wgsl."""
    return 0 if kind == "average" else {1.0: 1, 2.0: 2}.get(p, 3)


def three(values: tuple[int, ...], filler: int) -> tuple[int, int, int]:
    """One to three sizes as three, along depth, height, width."""
    full = (filler,) * (3 - len(values)) + values
    return full[0], full[1], full[2]


def geometry(problem: PoolProblem) -> tuple[int, ...]:
    """Input, output, kernel, stride, dilation and begin padding along three axes, as the kernels' params list them."""
    windows = problem.windows
    return (
        *three(problem.spatial, 1),
        *three(problem.output_shape[2:], 1),
        *three(problem.kernel_shape, 1),
        *three(tuple(w.stride for w in windows), 1),
        *three(tuple(w.dilation for w in windows), 1),
        *three(tuple(w.pad_begin for w in windows), 0),
    )


def outputs(problem: PoolProblem) -> int:
    """Elements of y."""
    count = 1
    for size in problem.output_shape:
        count *= size
    return count


@dataclass(frozen=True, slots=True)
class Plain:
    """One thread for each output (each word of outputs for max), all taps in a loop."""

    name: str = "plain"

    def supports(self, problem: PoolProblem, caps: Caps) -> str | None:
        if problem.kind != "max" and problem.dtype is FLOAT16 and "shader-f16" not in caps.features:
            return "float16 arithmetic needs the feature shader-f16"
        return None

    def lower(self, problem: PoolProblem, caps: Caps) -> Lowering:
        return Lowering((_max(problem, caps) if problem.kind == "max" else _norm(problem, caps),))


def _max(problem: PoolProblem, caps: Caps) -> Launch:
    count, held = outputs(problem), words(problem.dtype, problem.y_offset, outputs(problem))
    constants: dict[str, int | float] = {
        **order_constants(problem.dtype),
        "INDICES": problem.indices,
        "COLUMN_MAJOR": problem.storage_order == 1,
        "WORKGROUP": WORKGROUP,
    }
    offsets = (problem.x_offset, problem.y_offset, problem.indices_offset)
    return Launch(
        shader.build("pool_max", constants=constants),
        ("x",),
        ("y", "indices"),
        pack_params(*offsets, count, held, *geometry(problem)),
        grid(held, WORKGROUP, caps.limits),
        problem.op,
    )


def _norm(problem: PoolProblem, caps: Caps) -> Launch:
    count = outputs(problem)
    ends = tuple(size + w.pad_end for size, w in zip(problem.spatial, problem.windows, strict=True))
    built = _norm_shader("pool", problem, {"WORKGROUP": WORKGROUP})
    params = pack_params(
        problem.x_offset, problem.y_offset, count, float(problem.p), *geometry(problem), *three(ends, 1)
    )
    return Launch(built, ("x",), ("y",), params, grid(count, WORKGROUP, caps.limits), problem.op)


def _norm_shader(name: str, problem: PoolProblem, constants: dict[str, int]) -> shader.Shader:
    counts = problem.kind == "average" and problem.count_include_pad
    return shader.build(
        name,
        constants={**constants, "NORM": norm(problem.kind, problem.p), "COUNT_INCLUDE_PAD": counts},
        aliases={"T": problem.dtype.wgsl},
        regions={"norm": "pool_norm"},
    )


@dataclass(frozen=True, slots=True)
class Columns:
    """A thread makes a few outputs of one column of a plane; the kernel's taps are written out."""

    name: str = "columns"

    def supports(self, problem: PoolProblem, caps: Caps) -> str | None:
        kernel, planes = problem.kernel_shape, problem.x_shape[:-2]
        if len(kernel) != 2:
            return f"planes must have 2 axes, got {len(kernel)}"
        if kernel[0] != kernel[1] or kernel[0] > MOST_KERNEL:
            return f"the kernel must be square and at most {MOST_KERNEL} wide, got {kernel}"
        if problem.kind == "max" and (problem.dtype is not FLOAT32 or problem.indices):
            return f"max must be of float32 without indices, got {problem.dtype.name}"
        if not all(planes):
            return f"there must be planes, got {planes}"
        return Plain().supports(problem, caps)

    def lower(self, problem: PoolProblem, caps: Caps) -> Lowering:
        n, c, oh, ow = problem.output_shape
        columns, blocks = n * c * ow, -(-oh // ROWS)
        vertical, horizontal = problem.windows
        steps = [getattr(w, field) for field in ("stride", "dilation", "pad_begin") for w in (vertical, horizontal)]
        params: list[int | float] = [problem.x_offset, problem.y_offset, columns, blocks]
        params += [*problem.spatial, oh, ow, *steps]
        constants: dict[str, int] = {"KERNEL": problem.kernel_shape[0], "ROWS": ROWS, "WORKGROUP": WORKGROUP}
        if problem.kind == "max":
            built = shader.build("pool_columns_max", constants=constants)
        else:
            ends = (size + w.pad_end for size, w in zip(problem.spatial, problem.windows, strict=True))
            params += [*ends, float(problem.p)]
            built = _norm_shader("pool_columns", problem, constants)
        groups = fold_grid(-(-columns // WORKGROUP) * blocks, caps.limits)
        return Lowering((Launch(built, ("x",), ("y",), pack_params(*params), groups, problem.op),))


FAMILY: Family[PoolProblem] = Family("pool", (Columns(), Plain()))
