"""Resize: taps against the definition, shapes, and the faults that other runtimes have."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from onegpu_web.caps import Caps
from onegpu_web.dtypes import FLOAT16, UINT8
from onegpu_web.errors import KernelShapeError
from onegpu_web.kernels.resize import FAMILY
from onegpu_web.problems.resize import COORDINATES, ResizeProblem
from onegpu_web.problems.resize_taps import OUTSIDE, Taps, identity
from onegpu_web.testing.reference import resize as reference

NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def line(size: int, **fields: Any) -> ResizeProblem:
    """A resize of one axis."""
    if coordinates := fields.pop("coordinates", None):
        fields["coordinate_transformation_mode"] = coordinates
    return ResizeProblem((size,), **fields)


def taps_of(problem: ResizeProblem) -> Taps:
    weighted = problem.mode != "nearest"
    return problem.taps().get(0) or identity(problem.x_shape[0], weighted=weighted)


def dense(taps: Taps) -> np.ndarray[Any, Any]:
    matrix = np.zeros((taps.out, taps.size))
    for i, start in enumerate(taps.starts):
        for k in range(taps.width):
            matrix[i, start + k] += taps.weights[i * taps.width + k]
    return matrix


def definition(problem: ResizeProblem) -> tuple[np.ndarray[Any, Any], float, int]:
    """Coordinates, scale and size of the only axis, by the reference."""
    ((out, scale, length, roi),) = reference._axes(problem)
    size = problem.x_shape[0]
    points = reference.coordinates(problem.coordinate_transformation_mode, size, out, scale, length, roi)
    if problem.sizes:
        points = reference.between_lengths(problem.coordinate_transformation_mode, size, out, points)
    return points, scale, size


def lines(count: int, **fields: Any) -> list[ResizeProblem]:
    """Random one-axis problems, large sizes among them."""
    rng, made = random.Random(11), []
    while len(made) < count:
        size = rng.choice((rng.randint(1, 12), rng.randint(13, 700), rng.randint(65_000, 70_000)))
        if rng.random() < 0.5:
            how: dict[str, Any] = {"sizes": (rng.choice((rng.randint(1, 40), rng.randint(1, 4 * min(size, 300)))),)}
        else:
            how = {"scales": (rng.choice((1 / 3, 2 / 3, 0.1, 0.3, 0.6, 0.7, 1.1, 1.7, 2.0, 2.3, 3.0)),)}
        problem = line(size, coordinates=rng.choice(COORDINATES[:-1]), **how, **fields)
        if 0 < problem.output_shape[0] < 25_000:
            made.append(problem)
    return made


@pytest.mark.parametrize("nearest_mode", NEAREST)
def test_nearest_taps_are_exactly_those_of_the_definition(nearest_mode: str) -> None:
    for problem in lines(60, nearest_mode=nearest_mode):
        points, scale, size = definition(problem)
        kept = problem.output_shape == problem.x_shape and scale == 1
        want = np.arange(size) if kept else reference.nearest_indices(nearest_mode, points, scale, size)
        assert list(taps_of(problem).starts) == want.tolist(), problem


@pytest.mark.parametrize(("mode", "antialias", "exclude"), list(product(("linear", "cubic"), (0, 1), (0, 1))))
def test_weights_are_those_of_the_definition(mode: str, antialias: int, exclude: int) -> None:
    fields: dict[str, Any] = {"mode": mode, "antialias": bool(antialias), "exclude_outside": bool(exclude)}
    for problem in lines(40, **fields):
        points, scale, size = definition(problem)
        if size > 1000 or problem.output_shape[0] > 1000 or (problem.output_shape == problem.x_shape and scale == 1):
            continue
        want = reference.weight_matrix(problem, points, size, scale)
        np.testing.assert_allclose(dense(taps_of(problem)), want, rtol=0, atol=1e-7, err_msg=str(problem))


def test_all_reads_lie_within_the_input() -> None:
    for mode in ("nearest", "linear", "cubic"):
        for problem in lines(30, mode=mode):
            taps = taps_of(problem)
            assert taps.width <= taps.size
            assert all(start + taps.width <= taps.size for start in taps.starts)


@pytest.mark.parametrize(("size", "out"), [(3, 9), (9, 3), (10, 25), (65_537, 131_074), (70_001, 10_000), (1 << 17, 3)])
@pytest.mark.parametrize("nearest_mode", NEAREST)
def test_sizes_hit_no_rounding_error_at_ties(size: int, out: int, nearest_mode: str) -> None:
    """Against integers; float32 coordinates go wrong here from 2^16 on."""
    starts = taps_of(line(size, sizes=(out,), coordinates="half_pixel", nearest_mode=nearest_mode)).starts
    below, rest = np.divmod((2 * np.arange(out) + 1) * size - out, 2 * out)  # the coordinate, rest over 2 * out
    above = {
        "floor": np.zeros(out, bool),
        "ceil": rest > 0,
        "round_prefer_floor": rest > out,
        "round_prefer_ceil": rest >= out,
    }[nearest_mode]
    assert np.array_equal(starts, np.clip(below + above, 0, size - 1))


def test_a_third_is_the_float32_of_the_model() -> None:
    problem = line(9, scales=(1 / 3,), coordinates="asymmetric", nearest_mode="floor")
    assert problem.output_shape == (3,)
    assert list(taps_of(problem).starts) == [0, 2, 5]  # 1 / float32(1/3) is 2.9999999, not 3
    ceil = line(9, scales=(1 / 3,), coordinates="asymmetric", nearest_mode="round_prefer_floor")
    assert list(taps_of(ceil).starts) == [0, 3, 6]


def test_align_corners_uses_the_length_that_is_made() -> None:
    """scale 0.6 of 4 is 2.4: two elements, the last of which is the input's last, as in onnxruntime."""
    taps = taps_of(line(4, scales=(0.6,), mode="linear", coordinates="align_corners"))
    want = np.array([0.0, 3.0])
    np.testing.assert_allclose(dense(taps) @ np.arange(4.0), want, atol=1e-6)


def test_pytorch_half_pixel_reads_the_first_element_for_one_output() -> None:
    taps = taps_of(line(5, sizes=(1,), mode="cubic", coordinates="pytorch_half_pixel"))
    assert dense(taps).tolist() == [[1.0, 0.0, 0.0, 0.0, 0.0]]


def test_outputs_outside_of_a_crop_take_the_extrapolation_value() -> None:
    problem = line(4, sizes=(3,), roi=(-0.5, 1.0), mode="linear", coordinates="tf_crop_and_resize")
    assert taps_of(problem).starts[0] == OUTSIDE


def test_crop_counts_in_the_size_that_scales_give() -> None:
    problem = line(10, scales=(2.0,), roi=(0.25, 0.75), coordinates="tf_crop_and_resize")
    assert problem.output_shape == (10,)


def test_zero_weights_take_nothing() -> None:
    """An infinity beside an output that lies on its input stays out of it."""
    taps = taps_of(line(3, sizes=(6,), mode="linear", coordinates="asymmetric"))
    assert taps.weights[1] == 0.0
    assert taps.weights[0] == 1.0


@pytest.mark.parametrize(
    ("policy", "sizes", "want"),
    [("not_larger", (7, 8), (7, 7)), ("not_smaller", (7, 8), (8, 8)), ("stretch", (7, 8), (7, 8))],
)
def test_keep_aspect_ratio(policy: str, sizes: tuple[int, int], want: tuple[int, int]) -> None:
    problem = ResizeProblem((1, 1, 2, 2), sizes=sizes, axes=(2, 3), keep_aspect_ratio_policy=policy)
    assert problem.output_shape[2:] == want


def test_half_of_an_element_rounds_up_with_a_policy() -> None:
    problem = ResizeProblem((2, 5), sizes=(1, 9), keep_aspect_ratio_policy="not_larger")
    assert problem.output_shape == (1, 3)


@pytest.mark.parametrize(
    ("problem", "variant"),
    [
        (ResizeProblem((1, 2, 4, 40), scales=(1, 1, 2, 2)), "upscale"),
        (ResizeProblem((1, 1, 4, 4), scales=(1, 1, 2, 2)), "plain"),
        (ResizeProblem((1, 4, 9, 2), scales=(1, 3, 2, 1), coordinate_transformation_mode="asymmetric",
                       nearest_mode="floor"), "upscale"),
        (ResizeProblem((1, 2, 4, 4), scales=(1, 1, 2, 2), dtype=UINT8), "plain"),
        (ResizeProblem((1, 2, 4, 4), scales=(1, 1, 1.5, 2)), "planes"),
        (ResizeProblem((1, 1, 4, 4), scales=(1, 1, 2, 2), mode="linear"), "plain"),
        (ResizeProblem((1, 4, 4, 4), scales=(1, 1, 2, 2), mode="linear"), "planes"),
        (ResizeProblem((1, 2, 64, 64), scales=(1, 1, 2, 2), mode="cubic"), "separable"),
        (ResizeProblem((1, 2, 64, 64), scales=(1, 1, 0.2, 0.2), mode="linear", antialias=True), "separable"),
    ],
)  # fmt: skip
def test_variant_chosen(problem: ResizeProblem, variant: str) -> None:
    assert FAMILY.choose(problem, Caps()).name == variant


def test_no_variant_for_half_arithmetic_without_the_feature() -> None:
    problem = ResizeProblem((1, 2, 4, 4), scales=(1, 1, 2, 2), mode="linear", dtype=FLOAT16)
    with pytest.raises(KernelShapeError, match="shader-f16"):
        FAMILY.choose(problem, Caps())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scales": (2.0,)}, "scales must be 2 positive"),
        ({"scales": (2.0, 0.0)}, "scales must be 2 positive"),
        ({"scales": (2.0, 1.0), "sizes": (2, 2)}, "either scales or sizes"),
        ({}, "either scales or sizes"),
        ({"sizes": (2, -1)}, "sizes must be 2 integers"),
        ({"sizes": (2,), "axes": (2,)}, "axes must be distinct and within the rank 2"),
        ({"sizes": (2, 2), "axes": (0, -2)}, "axes must be distinct"),
        ({"sizes": (2, 2), "mode": "area"}, "mode must be one of"),
        ({"sizes": (2, 2), "roi": (0.0, 1.0)}, "roi must be 4 numbers"),
        ({"sizes": (2, 2), "antialias": True}, "antialias must be off"),
        ({"sizes": (2, 2), "mode": "linear", "dtype": UINT8}, "dtype must be one of float32, float16"),
        ({"sizes": (2, 2), "x_offset": -1}, "x_offset must be a non-negative integer"),
        (
            {"sizes": (2, 2), "dtype": FLOAT16, "extrapolation_value": 1e9},
            "extrapolation_value must be a number of float16",
        ),
        (
            {"sizes": (2, 2), "dtype": UINT8, "extrapolation_value": np.nan},
            "extrapolation_value must be a number of uint8",
        ),
        ({"sizes": (2, 2), "roi": (0.0, 0.0, 1e39, 1.0)}, "roi must be float32 numbers"),
        ({"scales": (2.0, 1e39)}, "scales must be float32 numbers"),
        ({"sizes": (2,), "axes": (0.5,)}, "axes must be distinct"),
        ({"sizes": (60_000, 60_000)}, "y must end before element"),
    ],
)
def test_wrong_problems_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelShapeError, match=message):
        ResizeProblem((3, 4), **fields)
