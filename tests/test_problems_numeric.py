"""What elementwise, reduction, normalization and matrix problems refuse, and how they are lowered."""

from __future__ import annotations

import math

import pytest

from onegpu_web.caps import Caps
from onegpu_web.dtypes import FLOAT16, INT8, INT32
from onegpu_web.errors import KernelShapeError
from onegpu_web.kernels import binary, matmul, reduce, unary
from onegpu_web.problems.activation import Activation
from onegpu_web.problems.elementwise import BinaryProblem, UnaryProblem
from onegpu_web.problems.matmul import MatmulProblem
from onegpu_web.problems.normalization import BatchNormalizationProblem, NormalizationProblem
from onegpu_web.problems.reduce import ArgProblem, ReduceProblem, SoftmaxProblem


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UnaryProblem("arctan", 4), "unary: kind of float32 must be of relu"),
        (lambda: UnaryProblem("exp", 4, dtype=INT32), "unary: kind of int32 must be of relu, clip"),
        (lambda: UnaryProblem("elu", 4, math.nan), "elu: alpha must be a number, got nan"),
        (lambda: UnaryProblem("relu", -1), "relu: elements must be non-negative"),
        (lambda: UnaryProblem("relu", 4, x_offset=-1), "relu: x_offset must be a non-negative integer, got -1"),
        (lambda: BinaryProblem("add", (2,), (3,)), "add: shapes must broadcast together"),
        (lambda: BinaryProblem("and", (2,), (2,)), "binary: kind of float32 must be of"),
        (lambda: BinaryProblem("add", (2,), (2,), dtype=INT8), "binary: kind of int8 must be of"),
        (lambda: BinaryProblem("less", (2,), (2,), Activation("relu")), "less: activation must be identity"),
        (lambda: ReduceProblem("mean", (2, 3), (2,)), "reduce_mean: axes must be within the rank 2, got 2"),
        (lambda: ReduceProblem("mean", (2, 3), (1, -1)), "reduce_mean: axes must be distinct"),
        (lambda: ReduceProblem("l2", (2, 3), (1,), dtype=INT32), "reduce: kind of int32 must be of sum"),
        (lambda: SoftmaxProblem((2, 3), 2), "softmax: axis must be within the rank 2"),
        (lambda: ArgProblem((2, 0), 1), "arg_max: axis 1 must have elements"),
        (lambda: NormalizationProblem("group", (1, 6, 4), num_groups=4), "num_groups must divide 6, got 4"),
        (lambda: NormalizationProblem("layer", (4,), -1.0), "epsilon must be a number of 0 or more"),
        (lambda: BatchNormalizationProblem(()), "x must have 1 axis or more"),
        (lambda: MatmulProblem(2, 3, 4, bias_shape=(2,)), "matmul: shapes must broadcast together"),
        (lambda: MatmulProblem(1, 3, 4, bias_shape=(2, 3)), r"bias_shape must broadcast to \(1, 3\)"),
        (lambda: MatmulProblem(2, 3, 4, (2,), (3,)), "matmul: shapes must broadcast together"),
        (lambda: MatmulProblem(2, 3, 4, alpha=math.inf), "alpha and beta must be finite"),
        (lambda: MatmulProblem(2**16, 2**16, 1), r"fewer than 2\*\*31 elements"),
    ],
)
def test_bad_problems_are_named(make: object, message: str) -> None:
    with pytest.raises(KernelShapeError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("problem", "variant"),
    [
        (MatmulProblem(64, 64, 64), "tiled"),
        (MatmulProblem(1, 1000, 1280), "skinny"),
        (MatmulProblem(1, 100, 64, a_batch=(40,)), "tiled"),
        (MatmulProblem(9, 3, 64), "plain"),
    ],
)
def test_products_choose_by_shape(problem: MatmulProblem, variant: str) -> None:
    assert matmul.FAMILY.choose(problem, Caps()).name == variant


def test_batches_of_a_become_rows_where_one_b_serves_all() -> None:
    launch = matmul.Tiled().lower(MatmulProblem(8, 64, 32, a_batch=(4, 4)), Caps()).launches[0]
    assert launch.workgroups == (2, 1, 1)


def test_broadcasts_by_channel_take_four_lanes() -> None:
    assert binary.FAMILY.choose(BinaryProblem("add", (2, 6, 8, 8), (6, 1, 1)), Caps()).name == "vec4"
    assert binary.FAMILY.choose(BinaryProblem("add", (2, 6, 7, 7), (6, 1, 1)), Caps()).name == "plain"


def test_long_grids_fold() -> None:
    elements = 65_536 * 256 * 4
    launch = unary.FAMILY.choose(UnaryProblem("relu", elements), Caps()).lower(UnaryProblem("relu", elements), Caps())
    x, y, z = launch.launches[0].workgroups
    assert (y, z) == (2, 1)
    assert x * y >= 65_536


def test_long_reductions_take_two_launches_whose_cut_depends_on_the_shape_alone() -> None:
    lowering = reduce.Tree().lower(ReduceProblem("mean", (3, 20_000), (1,)), Caps())
    assert [launch.workgroups for launch in lowering.launches] == [(9, 1, 1), (3, 1, 1)]
    assert lowering.scratch_bytes == 9 * 4


def test_half_needs_the_feature() -> None:
    problem = UnaryProblem("relu", 4, dtype=FLOAT16)
    with pytest.raises(KernelShapeError, match="float16 needs the feature shader-f16"):
        unary.FAMILY.choose(problem, Caps())
    assert unary.FAMILY.choose(problem, Caps(features=frozenset({"shader-f16"}))).name == "vec4"
