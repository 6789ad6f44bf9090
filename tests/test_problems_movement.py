"""What movement problems refuse, and the walks they describe."""

from __future__ import annotations

import numpy as np
import pytest

from onegpu_web.caps import Caps
from onegpu_web.dtypes import FLOAT16, INT8, INT32, UINT8
from onegpu_web.errors import KernelShapeError
from onegpu_web.kernels.copy import FAMILY
from onegpu_web.problems.movement import (
    CastProblem,
    ConcatProblem,
    CopyProblem,
    GatherProblem,
    PadProblem,
    depth_to_space,
    expand,
    slice_axes,
    tile,
    transpose,
)
from onegpu_web.testing.reference.movement import copy

X = np.arange(120).reshape(2, 3, 4, 5)


def test_walks_are_numpys() -> None:
    walks = (
        (transpose(X.shape, (3, 0, 2, 1)), X.transpose(3, 0, 2, 1)),
        (slice_axes(X.shape, [(1, 2, -1), (0, 2, 2), (3, 1, 1), (4, 3, -2)]), X[::-1, ::2, 3:, ::-2]),
        (expand((4, 1), (3, 4, 2)), np.broadcast_to(np.arange(4).reshape(4, 1), (3, 4, 2))),
        (tile((2, 3), (2, 2)), np.tile(np.arange(6).reshape(2, 3), (2, 2))),
    )
    for problem, wanted in walks:
        assert copy(problem, X.reshape(-1)).reshape(wanted.shape).tolist() == wanted.tolist()


def test_depth_to_space_takes_channels_in_either_order() -> None:
    x = np.arange(8).reshape(1, 8, 1, 1)
    dcr = copy(depth_to_space(x.shape, 2), x.reshape(-1)).reshape(1, 2, 2, 2)
    crd = copy(depth_to_space(x.shape, 2, "CRD"), x.reshape(-1)).reshape(1, 2, 2, 2)
    assert dcr.tolist() == [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]
    assert crd.tolist() == [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: transpose((2, 3), (0, 0)), "transpose: perm must order the axes"),
        (lambda: tile((2, 3), (2,)), "tile: repeats must be 2 non-negative integers"),
        (lambda: slice_axes((4,), [(3, 2, 1)]), "slice: slices must lie within"),
        (lambda: depth_to_space((1, 6, 2, 2), 2), "depth_to_space: x must be"),
        (lambda: ConcatProblem(((2, 3), (3, 3)), 1), "concat: shapes must be equal but along axis 1"),
        (lambda: ConcatProblem(((2, 3),), 2), "concat: axis must be within the rank 2"),
        (lambda: PadProblem((2, 3), (1, 1, 1)), "pad: pads must be 4 integers"),
        (lambda: PadProblem((2, 3), (-2, 0, -1, 0)), "pad: pads must leave sizes of 0 or more"),
        (lambda: PadProblem((2, 0), (0, 1, 0, 0), "edge"), "pad: mode edge must have elements"),
        (lambda: PadProblem((2,), (1, 1), "mirror"), "pad: mode must be of constant"),
        (lambda: PadProblem((2,), (1, 1), value=1e6, dtype=FLOAT16), "pad: value must be a number of float16"),
        (lambda: PadProblem((2,), (1, 1), value=1e39), "pad: value must be a number of float32"),
        (lambda: PadProblem((2,), (1, 1), value=np.inf, dtype=INT32), "pad: value must be a number of int32, got inf"),
        (lambda: PadProblem((2,), (1, 1), value=-1.0, dtype=UINT8), "pad: value must be a number of uint8, got -1"),
        (lambda: GatherProblem((2, 3), (3,), dtype=INT8), "gather: dtype must be of float32"),
        (lambda: GatherProblem((2, 0), (3,), 1), "gather: axis 1 must have elements"),
        (lambda: GatherProblem((2, 3), (3,), 2), "gather: axis must be within the rank 2"),
        (lambda: CastProblem(4, INT8, INT8), "cast: dtype must be of"),
        (lambda: CopyProblem("slice", (3,), (-1,), (1,)), "slice: x must be read from index 0 on, got -2"),
        (lambda: expand((2,), (2**20, 2**11, 2)), r"fewer than 2\*\*31 elements"),
    ],
)
def test_bad_shapes_are_named(make: object, message: str) -> None:
    with pytest.raises(KernelShapeError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("problem", "variant"),
    [
        (transpose((1, 64, 20, 20), (0, 2, 3, 1)), "tiled"),
        (transpose((2, 6, 4, 8), (0, 2, 1, 3)), "vec4"),
        (transpose((2, 6, 4, 7), (0, 2, 1, 3)), "plain"),
        (slice_axes((4, 8), [(0, 4, 1), (1, 4, 1)]), "plain"),
        (transpose((2, 6, 4, 8), (0, 2, 1, 3), UINT8), "vec4"),
        (transpose((1, 64, 20, 20), (0, 2, 3, 1), UINT8), "plain"),
    ],
)
def test_the_right_variant_is_chosen(problem: CopyProblem, variant: str) -> None:
    assert FAMILY.choose(problem, Caps()).name == variant


def test_a_forced_variant_says_why_it_cannot() -> None:
    with pytest.raises(KernelShapeError, match="variant tiled does not run this problem: x and y must be batches"):
        FAMILY.choose(tile((2, 3), (2, 2)), Caps(), "tiled")
