"""Components of masks and rectangles around them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from onegpu_web.jobs.components import Runs, find_runs, label_runs
from onegpu_web.jobs.detect_text import find_boxes
from onegpu_web.jobs.rectangles import Rectangle, convex_hull, outline, smallest_rectangle


def _flood(mask: np.ndarray) -> np.ndarray:
    """Components by flooding from pixel to pixel, numbered from 1 in reading order."""
    labels = np.zeros(mask.shape, int)
    for start in zip(*np.nonzero(mask), strict=True):
        if labels[start]:
            continue
        number, waiting = labels.max() + 1, [start]
        labels[start] = number
        while waiting:
            y, x = waiting.pop()
            for near in ((y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)):
                inside = 0 <= near[0] < mask.shape[0] and 0 <= near[1] < mask.shape[1]
                if inside and mask[near] and not labels[near]:
                    labels[near] = number
                    waiting.append(near)
    return labels


def _painted(shape: tuple[int, int], runs: Runs) -> np.ndarray:
    labels = np.zeros(shape, int)
    for row, start, end, label in zip(runs.rows, runs.starts, runs.ends, label_runs(runs), strict=True):
        labels[row, start:end] = label + 1
    return labels


@pytest.mark.parametrize("density", [0.1, 0.3, 0.4, 0.5, 0.7])
def test_components_are_those_of_a_flood_fill(density: float) -> None:
    mask = np.random.default_rng(5).random((40, 50)) < density
    np.testing.assert_array_equal(_painted(mask.shape, find_runs(mask)), _flood(mask))


def _spiral(size: int) -> np.ndarray:
    mask = np.zeros((size, size), bool)
    y, x, dy, dx = 0, 0, 0, 1
    mask[0, 0] = True
    for _ in range(size * size):
        ahead = (y + 2 * dy, x + 2 * dx)
        beyond = not (0 <= ahead[0] < size and 0 <= ahead[1] < size)
        if beyond or mask[ahead]:
            if beyond and 0 <= y + dy < size and 0 <= x + dx < size:
                y, x = y + dy, x + dx
                mask[y, x] = True
            dy, dx = dx, -dy
            if mask[y + dy, x + dx] or mask[min(max(y + 2 * dy, 0), size - 1), min(max(x + 2 * dx, 0), size - 1)]:
                break
            continue
        y, x = y + dy, x + dx
        mask[y, x] = True
    return mask


@pytest.mark.parametrize(
    "mask", [_spiral(41), np.ones((3, 3), bool), np.eye(30, dtype=bool), np.eye(30, dtype=bool)[::-1]]
)
def test_one_winding_component_is_one(mask: np.ndarray) -> None:
    labels = label_runs(find_runs(mask))
    assert labels.size
    assert not labels.any()
    assert _flood(mask).max() == 1


def test_runs_at_the_edges_of_neighbouring_rows_do_not_touch() -> None:
    mask = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0]], bool)
    assert label_runs(find_runs(mask)).tolist() == [0, 1, 2, 1]


def test_no_runs_no_labels() -> None:
    assert label_runs(find_runs(np.zeros((5, 5), bool))).size == 0


def _turned(rectangle: Rectangle, shape: tuple[int, int]) -> np.ndarray:
    """A mask of the pixels whose middle lies in a rectangle."""
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]] + 0.5
    along = (x - rectangle.x) * np.cos(rectangle.angle) + (y - rectangle.y) * np.sin(rectangle.angle)
    across = (y - rectangle.y) * np.cos(rectangle.angle) - (x - rectangle.x) * np.sin(rectangle.angle)
    return (np.abs(along) <= rectangle.width / 2) & (np.abs(across) <= rectangle.height / 2)


def _around(mask: np.ndarray) -> Rectangle:
    runs = find_runs(mask)
    return smallest_rectangle(convex_hull(*outline(runs.rows, runs.starts, runs.ends)))


@pytest.mark.parametrize("degrees", [0, 3, -3, 12, -30, 44])
def test_smallest_rectangle_finds_a_drawn_one(degrees: float) -> None:
    drawn = Rectangle(150.0, 120.0, 160.0, 30.0, np.radians(degrees))
    found = _around(_turned(drawn, (240, 300)))
    assert (found.x, found.y) == pytest.approx((drawn.x, drawn.y), abs=1)
    assert (found.width, found.height) == pytest.approx((drawn.width, drawn.height), abs=2.5)
    assert found.angle == pytest.approx(drawn.angle, abs=0.02)


@pytest.mark.parametrize("seed", range(8))
def test_no_turned_box_is_smaller(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = np.zeros((60, 60), bool)
    for _ in range(4):
        x, y = rng.integers(5, 28, 2)
        mask[y:31, x : x + rng.integers(3, 20)] = True
        mask[30, :45] = True  # so that it is one component
    found = _around(mask)
    y, x = np.nonzero(mask)
    points = np.concatenate([np.stack((x, y), axis=1) + corner for corner in ((0, 0), (0, 1), (1, 0), (1, 1))])
    angles = np.radians(np.arange(-45, 45, 0.5))
    widths = np.ptp(points @ np.stack((np.cos(angles), np.sin(angles))), axis=0)
    heights = np.ptp(points @ np.stack((-np.sin(angles), np.cos(angles))), axis=0)
    assert found.width * found.height <= (widths * heights).min() + 1e-6
    edges = found.grown(1e-6).corners()
    for corner, following in zip(edges, np.roll(edges, -1, axis=0), strict=True):
        side, to_points = following - corner, points - corner
        assert (side[0] * to_points[:, 1] - side[1] * to_points[:, 0] >= -1e-6).all()


def test_one_pixel_has_a_rectangle() -> None:
    mask = np.zeros((3, 3), bool)
    mask[1, 1] = True
    assert _around(mask) == Rectangle(1.5, 1.5, 1.0, 1.0, 0.0)


def test_corners_go_clockwise_from_the_top_left() -> None:
    np.testing.assert_allclose(Rectangle(10, 20, 6, 4, 0).corners(), [[7, 18], [13, 18], [13, 22], [7, 22]])


def test_boxes_are_grown_back_by_area_over_perimeter() -> None:
    probability = np.zeros((100, 200), np.float32)
    probability[40:50, 60:160] = 0.9
    (box,) = find_boxes(probability)
    margin = 1.4 * 1000 / 220
    assert box.score == pytest.approx(0.9)
    np.testing.assert_allclose(
        box.rectangle.corners()[[0, 2]], [[60 - margin, 40 - margin], [160 + margin, 50 + margin]], atol=1e-4
    )


def test_faint_and_tiny_blobs_are_no_boxes() -> None:
    probability = np.zeros((100, 100), np.float32)
    probability[10:20, 10:60] = 0.3
    probability[40:42, 10:60] = 0.9
    probability[60:70, 10:12] = 0.9
    assert find_boxes(probability) == []


def test_noise_of_two_megapixels_takes_no_long_time() -> None:
    probability = (np.random.default_rng(6).random((1280, 1600)) > 0.7).astype(np.float32)
    start = time.process_time()
    find_boxes(probability)
    assert time.process_time() - start < 5  # 0.6 s; a hull for each blob would take 10
