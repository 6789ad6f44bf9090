"""Read text: find the lines of a picture, then read each one."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any, Self

import numpy as np

from ..device import Device, request_device
from ..graph.source import Progress, Source
from .detect_text import TextBox, detect_text
from .picture import Picture, check_picture
from .recognize_text import ReadLine, recognize_text
from .sessions import Session, Stopwatch, create_session, report

# Below this mean probability a "line" is almost always texture that the detector took for text.
_LEAST_SCORE = 0.5


class ReadText:
    """Reads printed text with a detector and a recognizer.

    detector: (1, 3, h, w) in, (1, 1, h, w) probabilities out.
    recognizer: (n, 3, 48, w) in, (n, steps, classes) probabilities out, its characters in its metadata.
    """

    def __init__(self, detector: Session, recognizer: Session) -> None:
        self._detector = detector
        self._recognizer = recognizer
        self._owned_device: Device | None = None

    @classmethod
    async def create(
        cls,
        detector: Source,
        recognizer: Source,
        *,
        device: Device | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Load both models on one device.

        progress: called with (stage, done, total) as InferenceSession.create does, for one model after the other.
        """
        with ExitStack() as undo:
            owned = await request_device() if device is None else None
            if owned is not None:
                undo.callback(owned.destroy)
            first = await create_session(detector, device=device or owned, progress=progress)
            undo.callback(first.destroy)
            job = cls(first, await create_session(recognizer, device=device or owned, progress=progress))
            undo.pop_all()
        job._owned_device = owned
        return job

    async def run(self, picture: Picture, *, progress: Progress | None = None) -> dict[str, Any]:
        """Read a picture, (H, W, 3) uint8 RGB.

        Returns: {"lines": [{"text", "score", "box": [[x, y] * 4]}], "ms": {stage: float}}, lines from top to
        bottom, boxes from the top left corner clockwise in the picture's pixels.
        """
        check_picture(picture)
        stopwatch = Stopwatch()
        report(progress, "detect", 0, 1)
        boxes = await detect_text(self._detector, picture, stopwatch)
        report(progress, "detect", 1, 1)
        with stopwatch.stage("finish"):
            boxes = reading_order(boxes)
        rectangles = [box.rectangle for box in boxes]
        lines = await recognize_text(self._recognizer, picture, rectangles, stopwatch, progress=progress)
        found = [_line(box, line) for box, line in zip(boxes, lines, strict=True) if line.score >= _LEAST_SCORE]
        return {"lines": found, "ms": stopwatch.ms()}

    def destroy(self) -> None:
        """Free what both sessions hold on the GPU, and the device where `create` requested it."""
        self._detector.destroy()
        self._recognizer.destroy()
        if self._owned_device is not None:
            self._owned_device.destroy()
            self._owned_device = None


def reading_order(boxes: list[TextBox]) -> list[TextBox]:
    """Sort boxes into rows from top to bottom, and within a row from left to right.

    Places are taken along and across the page's lean, the median of the boxes' angles: on a page that was scanned
    askew a long line's centre can lie below the next, short line's. A box joins a row when its centre is within half
    the smaller height of the centre of the row's first box.
    """
    if not boxes:
        return []
    lean = float(np.median([box.rectangle.angle for box in boxes]))
    cos, sin = math.cos(lean), math.sin(lean)

    def across(box: TextBox) -> float:
        return box.rectangle.y * cos - box.rectangle.x * sin

    def along(box: TextBox) -> float:
        return box.rectangle.x * cos + box.rectangle.y * sin

    rows: list[list[TextBox]] = []
    for box in sorted(boxes, key=across):
        first = rows[-1][0] if rows else None
        if first and across(box) - across(first) <= 0.5 * min(box.rectangle.height, first.rectangle.height):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [box for row in rows for box in sorted(row, key=along)]


def _line(box: TextBox, line: ReadLine) -> dict[str, Any]:
    corners = [[round(x, 2), round(y, 2)] for x, y in box.rectangle.corners().tolist()]
    return {"text": line.text, "score": round(line.score, 4), "box": corners}
