"""Resizing and cropping with numpy, against Pillow and against formulas."""

from __future__ import annotations

import tracemalloc
from typing import Literal

import numpy as np
import pytest
from PIL import Image

from onegpu_web.jobs.rectangles import Rectangle
from onegpu_web.jobs.resample import crop_rectangle, resample

FILTERS = {"linear": Image.Resampling.BILINEAR, "cubic": Image.Resampling.BICUBIC}

# Pillow rounds to whole levels after each of two passes; cubic weights of both signs stretch the first half level.
ROUNDING = 1.2


def _smooth(height: int, width: int) -> np.ndarray:
    """Enlarged noise of middle values: Pillow clips cubic overshoots between its two passes, we do not."""
    rng = np.random.default_rng(2)
    small = Image.fromarray(rng.integers(70, 186, (height // 5 + 1, width // 5 + 1, 3), np.uint8))
    return np.asarray(small.resize((width, height), Image.Resampling.BICUBIC))


@pytest.mark.parametrize("kernel", ["linear", "cubic"])
@pytest.mark.parametrize(("height", "width"), [(90, 160), (37, 61), (300, 200), (180, 320), (500, 55)])
def test_resizes_as_pillow_does(kernel: Literal["linear", "cubic"], height: int, width: int) -> None:
    picture = _smooth(180, 320)
    expected = np.asarray(Image.fromarray(picture).resize((width, height), FILTERS[kernel]), np.float32)
    got = np.clip(resample(picture, height, width, kernel=kernel), 0, 255)
    assert np.abs(got - expected).max() <= ROUNDING


@pytest.mark.parametrize("kernel", ["linear", "cubic"])
def test_resizes_a_part_as_pillow_does(kernel: Literal["linear", "cubic"]) -> None:
    picture = _smooth(200, 300)
    box = (13.25, 20.5, 213.75, 150.0)
    expected = np.asarray(Image.fromarray(picture).resize((64, 48), FILTERS[kernel], box=box), np.float32)
    got = np.clip(resample(picture, 48, 64, box=box, kernel=kernel), 0, 255)
    # Pillow sees nothing outside the box, we the pixels beside it: look at the inside.
    assert np.abs(got - expected)[3:-3, 3:-3].max() <= ROUNDING


def test_same_size_is_a_copy() -> None:
    picture = np.random.default_rng(3).integers(0, 256, (70, 90, 3), np.uint8)
    np.testing.assert_array_equal(resample(picture, 70, 90), picture)


def test_a_much_larger_picture_is_thinned_to_almost_the_same() -> None:
    picture = _smooth(2000, 3000)
    expected = np.asarray(Image.fromarray(picture).resize((150, 100), Image.Resampling.BILINEAR), np.float32)
    assert np.abs(resample(picture, 100, 150) - expected).mean() < 4


def test_shrinking_twelve_thousand_by_nine_thousand_needs_little_memory() -> None:
    picture = np.broadcast_to(np.array([10, 20, 30], np.uint8), (9_000, 12_000, 3))
    tracemalloc.start()
    try:
        result = resample(picture, 960, 1280)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(result, np.broadcast_to([10, 20, 30], result.shape), rtol=1e-6)
    assert peak_bytes < 120_000_000


def test_crop_of_an_upright_rectangle_is_the_part() -> None:
    picture = np.random.default_rng(4).integers(0, 256, (60, 80, 3), np.uint8)
    corners = Rectangle(x=40, y=30, width=40, height=20, angle=0).corners()
    np.testing.assert_allclose(crop_rectangle(picture, corners, 20, 40), picture[20:40, 20:60], atol=1e-3)


@pytest.mark.parametrize("degrees", [-40, -3, 3, 17, 45])
@pytest.mark.parametrize("enlarged", [0.5, 1.0, 2.0])
def test_crop_of_a_turned_rectangle_samples_where_it_should(degrees: float, enlarged: float) -> None:
    """On a picture whose red is x and whose green is y, a crop shows its own coordinates."""
    y, x = np.mgrid[0:200, 0:200]
    picture = np.stack((x, y, x * 0), axis=2).astype(np.uint8)
    angle = np.radians(degrees)
    height, width = round(24 * enlarged), round(80 * enlarged)
    crop = crop_rectangle(picture, Rectangle(100, 90, 80, 24, angle).corners(), height, width)
    u = ((np.arange(width) + 0.5) / width - 0.5)[None, :] * 80
    v = ((np.arange(height) + 0.5) / height - 0.5)[:, None] * 24
    np.testing.assert_allclose(crop[:, :, 0], 100 + u * np.cos(angle) - v * np.sin(angle) - 0.5, atol=1e-2)
    np.testing.assert_allclose(crop[:, :, 1], 90 + u * np.sin(angle) + v * np.cos(angle) - 0.5, atol=1e-2)


def test_crop_beyond_the_picture_repeats_its_edge() -> None:
    picture = np.full((4, 4, 3), 77, np.uint8)
    corners = Rectangle(x=0, y=0, width=30, height=30, angle=0.3).corners()
    np.testing.assert_allclose(crop_rectangle(picture, corners, 12, 12), np.full((12, 12, 3), 77), atol=1e-4)


def test_crop_of_a_large_rectangle_averages() -> None:
    picture = np.zeros((90, 90, 3), np.uint8)
    picture[::3] = 240  # every third row: points would hit it or miss it, their mean is 80
    corners = Rectangle(x=45, y=45, width=90, height=90, angle=0).corners()
    np.testing.assert_allclose(crop_rectangle(picture, corners, 30, 30)[1:-1], np.full((28, 30, 3), 80), atol=1)
