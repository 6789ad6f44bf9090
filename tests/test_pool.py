"""Pooling problems, their shapes and variants, and the faults that other runtimes have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onegpu_web.caps import Caps
from onegpu_web.dtypes import FLOAT16, INT8
from onegpu_web.errors import KernelShapeError
from onegpu_web.kernels import pool, pool_global
from onegpu_web.problems.pool import GlobalPoolProblem, PoolProblem
from onegpu_web.testing.reference import pool as reference


def run(problem: PoolProblem, x: Any) -> dict[str, np.ndarray[Any, Any]]:
    """By the definition, which the kernels' case tables are compared with."""
    return reference.pool(problem, np.asarray(x, np.float32).reshape(problem.x_shape))


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pads", "want"),
    [
        (4, 3, 2, (0, 0), 2),
        (2, 3, 3, (1, 1), 1),  # the second window would start in the end padding
        (2, 1, 2, (0, 0), 1),  # and here behind the input
        (8, 3, 3, (0, 0), 3),
        (7, 2, 2, (0, 1), 4),
    ],
)
def test_ceil_mode_counts_windows_that_start_inside(
    size: int, kernel: int, stride: int, pads: tuple[int, int], want: int
) -> None:
    problem = PoolProblem("max", (1, 1, size), (kernel,), strides=(stride,), pads=pads, ceil_mode=True)
    assert problem.output_shape == (1, 1, want)


def test_auto_pad_gives_the_shape_whatever_ceil_mode() -> None:
    for ceil_mode in (False, True):
        for auto_pad, want in (("VALID", 3), ("SAME_UPPER", 4), ("SAME_LOWER", 4)):
            problem = PoolProblem("max", (1, 1, 8), (3,), strides=(2,), auto_pad=auto_pad, ceil_mode=ceil_mode)
            assert problem.output_shape == (1, 1, want)


def test_same_upper_pads_the_end_more() -> None:
    (upper,) = PoolProblem("max", (1, 1, 8), (3,), strides=(2,), auto_pad="SAME_UPPER").windows
    (lower,) = PoolProblem("max", (1, 1, 8), (3,), strides=(2,), auto_pad="SAME_LOWER").windows
    assert (upper.pad_begin, upper.pad_end, lower.pad_begin, lower.pad_end) == (0, 1, 1, 0)


def test_count_include_pad_does_not_count_beyond_the_padding() -> None:
    """The last window hangs over: 1 element and 1 of padding count, the third tap does not."""
    problem = PoolProblem("average", (1, 1, 4), (3,), strides=(2,), pads=(1, 1), ceil_mode=True, count_include_pad=True)
    assert run(problem, [3, 3, 3, 6])["y"].ravel().tolist() == [2.0, 4.0, 3.0]


def test_without_count_include_pad_only_elements_count() -> None:
    problem = PoolProblem("average", (1, 1, 4), (3,), strides=(2,), pads=(1, 1), ceil_mode=True)
    assert run(problem, [3, 3, 3, 6])["y"].ravel().tolist() == [3.0, 4.0, 6.0]


def test_max_skips_nan_unless_all_taps_are() -> None:
    problem = PoolProblem("max", (1, 1, 4), (2,), strides=(2,), indices=True)
    out = run(problem, [np.nan, -np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(out["y"].ravel(), [-np.inf, np.nan])
    assert out["indices"].ravel().tolist() == [1, 2]


def test_empty_windows() -> None:
    """Windows wholly in the padding: the lowest finite value, NaN, 0."""
    fields: dict[str, Any] = {"pads": (1, 1)}
    assert run(PoolProblem("max", (1, 1, 1), (1,), **fields), [5.0])["y"].ravel()[0] == np.finfo(np.float32).min
    assert np.isnan(run(PoolProblem("average", (1, 1, 1), (1,), **fields), [5.0])["y"].ravel()[0])
    assert run(PoolProblem("lp", (1, 1, 1), (1,), **fields), [5.0])["y"].ravel()[0] == 0
    half = pool.order_constants(FLOAT16)["LOWEST"]
    assert np.array([half], np.uint16).view(np.float16)[0] == -65504


@pytest.mark.parametrize(("storage_order", "want"), [(0, [4, 8]), (1, [3, 10])])
def test_indices_count_rows_or_columns(storage_order: int, want: list[int]) -> None:
    problem = PoolProblem("max", (1, 2, 2, 3), (2, 3), indices=True, storage_order=storage_order)
    x = np.zeros((1, 2, 2, 3), np.float32)
    x[0, 0, 1, 1] = x[0, 1, 0, 2] = 1
    assert run(problem, x)["indices"].ravel().tolist() == want


def test_equal_maxima_give_the_first_index() -> None:
    problem = PoolProblem("max", (1, 1, 2, 2), (2, 2), indices=True)
    assert run(problem, [0.0, 7.0, 7.0, 7.0])["indices"].ravel().tolist() == [1]


@pytest.mark.parametrize(
    ("channels", "plane", "chunks"),
    [
        (1, 4096 * 4096, 1024),
        (2048, 49, 1),
        (64, 112 * 112, 4),
        (2048, 112 * 112, 1),
        (4096, 1 << 20, 16),
        (1, 8192, 1),
    ],
)
def test_long_planes_are_cut_where_they_are_few(channels: int, plane: int, chunks: int) -> None:
    assert pool_global.chunks_of(channels, plane) == chunks


@pytest.mark.parametrize("plane", [1, 3, 49, 1000, 65_536, 4096 * 4096])
@pytest.mark.parametrize("planes", [1, 7, 2048])
def test_every_element_of_a_plane_has_one_row(planes: int, plane: int) -> None:
    chunks = pool_global.chunks_of(planes, plane)
    chunk = -(-plane // chunks)
    assert chunk * (chunks - 1) < plane <= chunk * chunks
    assert chunk <= pool_global.MOST_CHUNK
    lanes = pool_global.lanes_of(chunk)
    assert lanes & (lanes - 1) == 0
    assert lanes <= pool_global.WORKGROUP


def test_global_pools_fill_a_large_gpu() -> None:
    """Neither one channel of 4096 x 4096 nor 2048 of 7 x 7 leaves most of 132 processors idle."""
    for shape in ((1, 1, 4096, 4096), (1, 2048, 7, 7)):
        problem = GlobalPoolProblem("average", shape)
        launches = pool_global.FAMILY.choose(problem, Caps()).lower(problem, Caps()).launches
        assert launches[0].workgroups[0] >= 128


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kernel_shape": (3,)}, "kernel_shape must be 2 integers"),
        ({"kernel_shape": (0, 3)}, "kernel_shape must be 2 integers of at least 1"),
        ({"kernel_shape": (3, 3), "strides": (0, 1)}, "strides must be 2 integers of at least 1"),
        ({"kernel_shape": (3, 3), "pads": (1, 1)}, "pads must be 4 integers"),
        ({"kernel_shape": (3, 3), "pads": (1, 1, -1, 1)}, "pads must be 4 integers of at least 0"),
        ({"kernel_shape": (3, 3), "dilations": (1, 1, 1)}, "dilations must be 2"),
        ({"kernel_shape": (3, 3), "auto_pad": "SAME"}, "auto_pad must be one of"),
        ({"kernel_shape": (3, 3), "auto_pad": "VALID", "pads": (1, 1, 1, 1)}, "pads must be absent"),
        ({"kernel_shape": (9, 3)}, "kernel_shape must fit"),
        ({"kernel_shape": (3, 3), "x_offset": -1}, "x_offset must be a non-negative integer"),
        ({"kernel_shape": (3, 3), "x_offset": 2**31}, "x must end before element"),
        ({"kernel_shape": (3, 3), "storage_order": 2}, "storage_order must be one of"),
    ],
)
def test_wrong_problems_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelShapeError, match=f"max_pool: {message}"):
        PoolProblem("max", (1, 2, 5, 6), **fields)


def test_types_are_those_of_the_operator() -> None:
    assert PoolProblem("max", (1, 1, 4), (2,), dtype=INT8).dtype is INT8
    with pytest.raises(KernelShapeError, match="average_pool: dtype must be one of float32, float16, got int8"):
        PoolProblem("average", (1, 1, 4), (2,), dtype=INT8)
    with pytest.raises(KernelShapeError, match="lp_pool: p must be a positive number"):
        PoolProblem("lp", (1, 1, 4), (2,), p=0)
    with pytest.raises(KernelShapeError, match="indices must be asked of max alone"):
        PoolProblem("average", (1, 1, 4), (2,), indices=True)
    with pytest.raises(KernelShapeError, match="1 to 3 spatial sizes"):
        PoolProblem("max", (1, 1, 2, 2, 2, 2), (1, 1, 1, 1))


def test_half_sums_need_the_feature_and_half_maxima_do_not() -> None:
    assert pool.FAMILY.choose(PoolProblem("max", (1, 1, 4), (2,), dtype=FLOAT16), Caps()).name
    with pytest.raises(KernelShapeError, match="shader-f16"):
        pool.FAMILY.choose(PoolProblem("average", (1, 1, 4), (2,), dtype=FLOAT16), Caps())
