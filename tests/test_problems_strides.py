"""Shapes and strides: broadcasting and collapsing."""

from __future__ import annotations

import numpy as np
import pytest

from onegpu_web.errors import KernelShapeError
from onegpu_web.problems.strides import broadcast_shape, broadcast_strides, check_offsets, collapse, row_major


def test_strides_are_row_major() -> None:
    assert row_major((2, 3, 4)) == (12, 4, 1)
    assert row_major(()) == ()


def test_broadcast_shape_is_numpys() -> None:
    for shapes in (((2, 1, 4), (3, 1)), ((), (5,)), ((0, 3), (1, 3)), ((4,), (2, 4), (1, 1, 1))):
        assert broadcast_shape("add", *shapes) == np.broadcast_shapes(*shapes)


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(KernelShapeError, match=r"add: shapes must broadcast together, got \(2, 3\) and \(4,\)"):
        broadcast_shape("add", (2, 3), (4,))


def test_repeated_axes_have_stride_0() -> None:
    assert broadcast_strides((3, 1, 5), (2, 3, 4, 5)) == (0, 5, 0, 1)


def test_dense_operands_collapse_to_one_axis() -> None:
    shape = (2, 3, 4, 5)
    assert collapse(shape, row_major(shape), row_major(shape)) == ((120,), ((1,), (1,)))


def test_a_channel_keeps_its_axis() -> None:
    out = (2, 6, 8, 8)
    collapsed = collapse(out, row_major(out), broadcast_strides((6, 1, 1), out))
    assert collapsed == ((2, 6, 64), ((384, 64, 1), (0, 1, 0)))


def test_axes_of_size_1_go_and_one_axis_stays() -> None:
    assert collapse((1, 1), (7, 7)) == ((1,), ((0,),))
    assert collapse((1, 4, 1), (9, 2, 5)) == ((4,), ((2,),))


def test_collapsing_does_not_change_the_walk() -> None:
    shape, strides = (2, 1, 3, 4, 5), (60, 7, 20, 5, 1)
    sizes, (steps,) = collapse(shape, strides)

    def walk(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
        return [int(np.dot(index, strides)) for index in np.ndindex(*shape)]

    assert walk(sizes, steps) == walk(shape, strides)
    assert len(sizes) < len(shape)


@pytest.mark.parametrize("offset", [-1, True, 1.5, 2**31 - 5])
def test_offsets_are_checked(offset: object) -> None:
    with pytest.raises(KernelShapeError, match="add: x_offset"):
        check_offsets("add", x_offset=(offset, 5))  # type: ignore[dict-item]
