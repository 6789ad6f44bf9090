"""Cases of MatMul and Gemm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16
from ...kernels import matmul
from ...problems.activation import Activation
from ...problems.matmul import MatmulProblem
from ..reference import matmul as reference
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = matmul.FAMILY


def _shapes(problem: MatmulProblem) -> dict[str, tuple[int, ...]]:
    m, n, k = problem.m, problem.n, problem.k
    shapes = {
        "a": (*problem.a_batch, *((k, m) if problem.trans_a else (m, k))),
        "b": (*problem.b_batch, *((n, k) if problem.trans_b else (k, n))),
    }
    return shapes if problem.bias_shape is None else shapes | {"bias": problem.bias_shape}


def arrays(problem: MatmulProblem, rng: np.random.Generator) -> Arrays:
    """a, b and bias, flat."""
    made = {}
    for role, shape in _shapes(problem).items():
        made[role] = normal(rng, shape, getattr(problem, f"{role}_offset"), problem.dtype.name)
    return made


def expected(problem: MatmulProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y in float64."""
    taken = {
        role: take(arrays[role], shape, getattr(problem, f"{role}_offset")) for role, shape in _shapes(problem).items()
    }
    return {"y": reference.matmul(problem, taken["a"], taken["b"], taken.get("bias"))}


def _case(name: str, m: int, n: int, k: int, *, tolerance: float = 1e-5, **fields: Any) -> Case:
    return Case(name, MatmulProblem(m, n, k, **fields), tolerance)


CASES = [
    _case("one_tile", 64, 64, 16),
    _case("ragged", 67, 71, 37),
    _case("deep", 20, 24, 700),
    _case("long_groups", 65, 5, 261),
    _case("trans_a", 33, 40, 50, trans_a=True),
    _case("trans_b", 33, 40, 50, trans_b=True),
    _case("trans_both_scaled", 19, 21, 35, trans_a=True, trans_b=True, alpha=0.5, beta=0.25, bias_shape=(19, 21)),
    _case("bias_row", 30, 20, 10, bias_shape=(20,)),
    _case("bias_column", 30, 20, 10, bias_shape=(30, 1), beta=2.0),
    _case("bias_scalar", 30, 20, 10, bias_shape=()),
    _case("relu", 30, 20, 10, bias_shape=(20,), activation=Activation("relu")),
    _case("hard_swish", 6, 20, 10, bias_shape=(1, 20), activation=Activation("hard_swish")),
    _case("batches", 9, 11, 13, a_batch=(2, 3), b_batch=(2, 3)),
    _case("batches_repeated", 9, 11, 13, a_batch=(2, 1), b_batch=(3,)),
    _case("batch_of_a_alone", 9, 11, 13, a_batch=(4,), bias_shape=(11,)),
    _case("batch_of_b_alone", 9, 11, 13, b_batch=(4,)),
    _case("batched_bias", 5, 6, 7, a_batch=(3,), bias_shape=(3, 1, 6)),
    _case("vector_matrix", 1, 70, 300),
    _case("vector_matrix_trans_b", 1, 70, 300, trans_b=True, bias_shape=(70,)),
    _case("three_rows_trans_a", 3, 33, 65, trans_a=True),
    _case("eight_rows", 8, 17, 40, alpha=0.125),
    _case("eight_rows_trans_b", 8, 9, 40, trans_b=True, bias_shape=(8, 9)),
    _case("matrix_vector", 40, 1, 50),
    _case("no_terms", 5, 6, 0, bias_shape=(6,)),
    _case("no_rows", 0, 6, 4),
    _case("offsets", 17, 18, 19, bias_shape=(18,), a_offset=3, b_offset=5, bias_offset=1, y_offset=7),
    _case("offsets_skinny", 2, 18, 19, bias_shape=(18,), a_offset=3, b_offset=5, bias_offset=1, y_offset=7),
    _case("half", 20, 24, 40, bias_shape=(24,), tolerance=2e-3, dtype=FLOAT16),
    _case("half_skinny", 2, 24, 40, tolerance=2e-3, dtype=FLOAT16),
]
