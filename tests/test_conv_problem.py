"""Convolution problems: shapes, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from onegpu_web.dtypes import FLOAT16, INT32
from onegpu_web.errors import KernelShapeError
from onegpu_web.problems.activation import Activation
from onegpu_web.problems.conv import ConvProblem, with_auto_pad
from onegpu_web.problems.conv_transpose import ConvTransposeProblem, with_transpose_auto_pad

X, W = (1, 6, 9, 7), (4, 6, 3, 3)


def test_pads_are_begins_then_ends() -> None:
    assert ConvProblem(X, W, pads=(1, 0, 2, 0)).output_shape == (1, 4, 10, 5)


def test_missing_attributes_are_onnx_defaults() -> None:
    problem = ConvProblem(X, W)
    assert (problem.pads, problem.strides, problem.dilations) == ((0, 0, 0, 0), (1, 1), (1, 1))


def test_one_and_three_dimensions_count_as_depth_height_width() -> None:
    assert ConvProblem((1, 2, 9), (3, 2, 4), strides=(2,)).geometry().y == (1, 1, 3)
    assert ConvProblem((1, 2, 5, 6, 7), (3, 2, 2, 2, 2)).geometry().y == (4, 5, 6)


@pytest.mark.parametrize(
    ("auto_pad", "pads"), [("SAME_UPPER", (0, 1, 1, 1)), ("SAME_LOWER", (1, 1, 0, 1)), ("VALID", (0, 0, 0, 0))]
)
def test_auto_pad_at_stride_2(auto_pad: str, pads: tuple[int, ...]) -> None:
    assert with_auto_pad((1, 3, 8, 9), (3, 3), (2, 2), (1, 1), auto_pad) == pads


def test_auto_pad_refuses_what_it_does_not_know() -> None:
    with pytest.raises(KernelShapeError, match=r"conv: auto_pad must be one of NOTSET.*got 'SAME'"):
        with_auto_pad((1, 3, 8, 9), (3, 3), (2, 2), (1, 1), "SAME")
    with pytest.raises(KernelShapeError, match=r"must be 2 positive integers, got \(3,\)"):
        with_auto_pad((1, 3, 8, 9), (3,), (2, 2), (1, 1), "VALID")
    with pytest.raises(KernelShapeError, match=r"conv_transpose: .* must be 2 positive integers, got \(0, 2\)"):
        with_transpose_auto_pad((1, 3, 5, 5), (3, 3), (0, 2), (1, 1), (0, 0), "SAME_LOWER")


def test_transposed_sizes() -> None:
    problem = ConvTransposeProblem((1, 3, 5, 5), (3, 2, 3, 3), strides=(2, 2), pads=(1, 1, 1, 1), group=1)
    assert problem.output_shape == (1, 2, 9, 9)
    more = ConvTransposeProblem((1, 3, 5, 5), (3, 2, 3, 3), strides=(2, 2), output_padding=(1, 0))
    assert more.output_shape == (1, 2, 12, 11)


def test_output_shape_gives_pads() -> None:
    pads = with_transpose_auto_pad((1, 1, 3, 3), (3, 3), (3, 2), (1, 1), (0, 0), "NOTSET", (10, 8))
    problem = ConvTransposeProblem((1, 1, 3, 3), (1, 2, 3, 3), strides=(3, 2), pads=pads)
    assert problem.output_shape == (1, 2, 10, 8)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"x_shape": (1, 6)}, "x_shape must be"),
        ({"x_shape": (1, 6, 9, 7, 3, 2)}, "1 to 3 spatial dimensions"),
        ({"x_shape": (1, 6, 0, 7)}, "positive integers"),
        ({"w_shape": (4, 6, 3)}, "of rank 4"),
        ({"w_shape": (4, 5, 3, 3)}, "w_shape must be"),
        ({"group": 0}, "group must be a positive"),
        ({"group": 4}, "divisor of x's 6 channels"),
        ({"group": 3, "w_shape": (4, 2, 3, 3)}, "divisor of w's 4"),
        ({"pads": (1, 1)}, "pads must be 4 integers"),
        ({"pads": (-1, 0, 0, 0)}, "pads must be"),
        ({"strides": (0, 1)}, "strides must be"),
        ({"strides": (2**32, 1)}, "strides must be within 32-bit indices, got \\(4294967296, 1\\)"),
        ({"dilations": (1, 2**31)}, "dilations must be within 32-bit indices"),
        ({"activation": "relu"}, "activation must be an Activation, got relu"),
        ({"dilations": (1, 1, 1)}, "dilations must be"),
        ({"w_shape": (4, 6, 10, 3)}, "fits the padded extent 9"),
        ({"dtype": INT32}, "float32 or float16"),
        ({"x_offset": -1}, "x_offset must be"),
        ({"x_offset": 2**31 - 378}, "below 2\\*\\*31"),
        ({"has_slope": True, "activation": Activation("relu")}, "identity beside a slope"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], words: str) -> None:
    shapes = {"x_shape": X, "w_shape": W} | fields
    with pytest.raises(KernelShapeError, match=words) as caught:
        ConvProblem(**shapes)
    assert str(caught.value).startswith("conv: ")


def test_indices_stay_below_32_bits() -> None:
    with pytest.raises(KernelShapeError, match=r"2\*\*31"):
        ConvProblem((1, 1, 46_341, 46_341), (1, 1, 1, 1))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"w_shape": (5, 4, 3, 3)}, "w_shape must be"),
        ({"group": 4}, "divisor of x's 6"),
        ({"output_padding": (1,)}, "output_padding must be"),
        ({"output_padding": (0, -1)}, "output_padding must be"),
        ({"pads": (9, 0, 9, 0)}, "padded extent"),
    ],
)
def test_what_transposed_refuses(fields: dict[str, Any], words: str) -> None:
    shapes = {"x_shape": X, "w_shape": (6, 4, 3, 3)} | fields
    with pytest.raises(KernelShapeError, match=words):
        ConvTransposeProblem(**shapes)


def test_half_is_a_type_of_its_own() -> None:
    assert ConvProblem(X, W, dtype=FLOAT16).dtype.size_bytes == 2
