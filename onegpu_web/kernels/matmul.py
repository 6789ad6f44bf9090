"""Matrix products: MatMul and Gemm."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, fold_grid, grid, pack_params
from ..problems.matmul import MatmulProblem
from ..problems.strides import RANK, Shape, broadcast_strides, collapse, padded
from ..shader import Constant, build
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 64
_TILE = 64
_SKINNY_ROWS = 8


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element of y."""

    name: str = "plain"

    def supports(self, problem: MatmulProblem, caps: Caps, /) -> str | None:
        rank = len(_batches(problem)[0])
        if rank > RANK:
            return f"batches must have at most {RANK} axes after collapsing, got {rank}"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: MatmulProblem, caps: Caps, /) -> Lowering:
        return _lower(problem, "matmul", {}, grid(math.prod(problem.output_shape), _WORKGROUP, caps.limits))


@dataclass(frozen=True, slots=True)
class Skinny:
    """A workgroup for a few columns of a product of at most 8 rows, k cut among its threads."""

    name: str = "skinny"

    def supports(self, problem: MatmulProblem, caps: Caps, /) -> str | None:
        m = _folded(problem).m
        if not 1 <= m <= _SKINNY_ROWS:
            return f"m must be 1 to {_SKINNY_ROWS}, got {m}"
        return PLAIN.supports(problem, caps)

    def lower(self, problem: MatmulProblem, caps: Caps, /) -> Lowering:
        problem = _folded(problem)
        columns, slices = (8, 32) if problem.trans_b else (16, 16)
        constants: dict[str, Constant] = {"ROWS": problem.m, "COLUMNS": columns, "SLICES": slices}
        tiles = math.prod(problem.batch) * -(-problem.n // columns)
        return _lower(problem, "matmul_skinny", constants, fold_grid(tiles, caps.limits))


@dataclass(frozen=True, slots=True)
class Tiled:
    """A workgroup for each 64 x 64 tile, 4 x 4 sums to a thread, panels of 16 in workgroup memory."""

    name: str = "tiled"

    def supports(self, problem: MatmulProblem, caps: Caps, /) -> str | None:
        problem = _folded(problem)
        if problem.m < 4 or problem.n < 4:
            return f"m and n must be 4 or more, got {problem.m} and {problem.n}"
        return PLAIN.supports(problem, caps)

    def lower(self, problem: MatmulProblem, caps: Caps, /) -> Lowering:
        problem = _folded(problem)
        tiles = math.prod(problem.batch) * -(-problem.m // _TILE) * -(-problem.n // _TILE)
        return _lower(problem, "matmul_tiled", {}, fold_grid(tiles, caps.limits))


def _folded(problem: MatmulProblem) -> MatmulProblem:
    """The same product with a's batches as further rows, where one b serves them all."""
    shared = math.prod(problem.b_batch) == 1 and math.prod(problem.a_batch) == math.prod(problem.batch)
    bias = problem.bias_shape
    if problem.trans_a or not shared or (bias is not None and math.prod(bias[:-1]) != 1):
        return problem
    return dataclasses.replace(
        problem,
        m=math.prod(problem.batch) * problem.m,
        a_batch=(),
        b_batch=(),
        bias_shape=None if bias is None else bias[-1:],
    )


def _batches(problem: MatmulProblem) -> tuple[Shape, tuple[Shape, ...]]:
    """The collapsed batch, and a's, b's and bias's strides over it, in elements."""
    m, n, k, batch = problem.m, problem.n, problem.k, problem.batch
    a = [stride * m * k for stride in broadcast_strides(problem.a_batch, batch)]
    b = [stride * k * n for stride in broadcast_strides(problem.b_batch, batch)]
    return collapse(batch, a, b, _bias_strides(problem)[:-2])


def _bias_strides(problem: MatmulProblem) -> Shape:
    """bias's strides over y, the batch's axes first."""
    out = problem.output_shape
    return (0,) * len(out) if problem.bias_shape is None else broadcast_strides(problem.bias_shape, out)


def _lower(
    problem: MatmulProblem, file: str, constants: dict[str, Constant], workgroups: tuple[int, int, int]
) -> Lowering:
    batch, (a, b, bias) = _batches(problem)
    bias_row, bias_column = _bias_strides(problem)[-2:]
    params = pack_params(
        *padded(batch, 1),
        *padded(a),
        *padded(b),
        *padded(bias),
        problem.m,
        problem.n,
        problem.k,
        math.prod(batch),
        len(batch),
        bias_row,
        bias_column,
        problem.a_offset,
        problem.b_offset,
        problem.bias_offset,
        problem.y_offset,
        float(problem.alpha),
        float(problem.beta),
    )
    constants = constants | {
        "TRANS_A": problem.trans_a,
        "TRANS_B": problem.trans_b,
        "HAS_BIAS": problem.bias_shape is not None,
    }
    regions = None
    if problem.activation.kind != "identity":
        regions = {"activation": "activation"}
        constants |= problem.activation.constants
    shader = build(file, constants=constants, aliases={"T": problem.dtype.wgsl}, regions=regions)
    return Lowering((Launch(shader, ("a", "b", "bias"), ("y",), params, workgroups, "matmul"),))


PLAIN = Plain()
FAMILY: Family[MatmulProblem] = Family("matmul", (Skinny(), Tiled(), PLAIN))
