"""Find faces: BlazeFace's boxes and six points for each of 896 anchors, blended where they overlap.

Source: Bazarevsky et al., "BlazeFace: Sub-millisecond Neural Face Detection on Mobile GPUs", 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..device import Device
from ..errors import ModelError
from ..graph.source import Progress, Source
from .picture import Picture, check_picture
from .resample import resample
from .sessions import Session, Stopwatch, create_session, report, run_one

_SIZE = 256
# (cells in a row, anchors in a cell) of the two grids; an anchor is the middle of its cell.
_GRIDS = ((16, 2), (8, 6))
_ANCHORS = sum(cells * cells * anchors for cells, anchors in _GRIDS)
_VALUES = 16
# The threshold of the package that the model comes from; at 0.6 a cup of coffee is a face.
_LEAST_SCORE = 0.75
_OVERLAP = 0.3


class FindFaces:
    """Finds faces with BlazeFace's model for the back camera.

    session: (1, 256, 256, 3) RGB -1..1 in; scores (1, n, 1) and boxes (1, n, 16) out, for each of two grids.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    async def create(cls, model: Source, *, device: Device | None = None, progress: Progress | None = None) -> Self:
        """Load the model."""
        return cls(await create_session(model, device=device, progress=progress))

    async def run(self, picture: Picture, *, progress: Progress | None = None) -> dict[str, Any]:
        """Find the faces in a picture, (H, W, 3) uint8 RGB.

        Returns: {"faces": [{"box": [x0, y0, x1, y1], "score", "points": [[x, y] * 6]}], "ms": {stage: float}},
        the surest first, in the picture's pixels. The points are right eye, left eye, nose, mouth, right ear,
        left ear, as the person would call them.
        """
        check_picture(picture)
        stopwatch = Stopwatch()
        report(progress, "prepare", 0, 3)
        with stopwatch.stage("prepare"):
            feed, frame = face_input(picture)
        report(progress, "model", 1, 3)
        outputs = await run_one(self._session, feed, stopwatch, "model")
        with stopwatch.stage("finish"):
            scores, geometry = decode_faces(outputs)
            kept = blend(scores, geometry)
            faces = [_face(score, values, frame, picture) for score, values in kept]
        report(progress, "finish", 3, 3)
        return {"faces": faces, "ms": stopwatch.ms()}

    def destroy(self) -> None:
        """Free what the session holds on the GPU."""
        self._session.destroy()


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the picture lies in the model's square input: its scale, and its top left corner."""

    scale: float
    left: int
    top: int


def face_input(picture: Picture) -> tuple[NDArray[np.float32], Frame]:
    """(1, 256, 256, 3) float32, -1..1: the whole picture in the middle of a black square."""
    height, width = picture.shape[:2]
    scale = _SIZE / max(height, width)
    inner_height, inner_width = max(1, round(height * scale)), max(1, round(width * scale))
    frame = Frame(scale, (_SIZE - inner_width) // 2, (_SIZE - inner_height) // 2)
    feed = np.full((1, _SIZE, _SIZE, 3), -1, np.float32)
    shrunk = resample(picture, inner_height, inner_width)
    feed[0, frame.top : frame.top + inner_height, frame.left : frame.left + inner_width] = shrunk / 127.5 - 1
    return feed, frame


def anchors() -> NDArray[np.float32]:
    """(896, 2): x and y of each anchor, 0..1, in the order of the model's outputs."""
    grids = []
    for cells, count in _GRIDS:
        middles = (np.arange(cells, dtype=np.float32) + 0.5) / cells
        y, x = np.meshgrid(middles, middles, indexing="ij")
        grids.append(np.repeat(np.stack((x.ravel(), y.ravel()), axis=1), count, axis=0))
    return np.concatenate(grids)


def decode_faces(outputs: list[NDArray[np.float32]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Turn the model's outputs into probabilities (896,) and geometry (896, 16) in pixels of its input.

    geometry: x0, y0, x1, y1, then six points. The outputs come scores first or boxes first, large grid first.
    """
    logits = [output for output in outputs if output.shape[-1] == 1]
    values = [output for output in outputs if output.shape[-1] == _VALUES]
    if sum(array.size for array in logits) != _ANCHORS or sum(array.size for array in values) != _ANCHORS * _VALUES:
        shapes = [output.shape for output in outputs]
        raise ModelError(f"faces: outputs must be {_ANCHORS} scores and {_ANCHORS} x {_VALUES} values, got {shapes}")
    scores = np.concatenate([array.reshape(-1) for array in sorted(logits, key=_largest_first)])
    geometry = np.concatenate([array.reshape(-1, _VALUES) for array in sorted(values, key=_largest_first)])
    centres = anchors() * np.float32(_SIZE)
    middle, size = geometry[:, :2] + centres, geometry[:, 2:4]
    points = geometry[:, 4:] + np.tile(centres, 6)
    # exp(100) is the most that float32 holds with room to spare; such a score is 0 or 1 anyway.
    confidence = 1 / (1 + np.exp(-np.clip(scores, -80, 80)))
    return confidence, np.concatenate((middle - size / 2, middle + size / 2, points), axis=1)


def _largest_first(output: NDArray[np.float32]) -> int:
    return -output.size


def blend(scores: NDArray[np.float32], geometry: NDArray[np.float32]) -> list[tuple[float, NDArray[np.float32]]]:
    """Weighted non-maximum suppression: the surest box and all that overlap it become their weighted mean.

    Picking one of the overlapping boxes would let the result jump between neighbouring anchors.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= _LEAST_SCORE]
    kept = []
    while order.size:
        same = overlap(geometry[order[0]], geometry[order]) >= _OVERLAP
        same[0] = True
        weights = scores[order[same]]
        mean = (geometry[order[same]] * weights[:, None]).sum(axis=0) / weights.sum()
        kept.append((float(scores[order[0]]), mean))
        order = order[~same]
    return kept


def overlap(box: NDArray[np.float32], boxes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Intersection over union of one box with each of (n, 4 or more): (n,), 0 where both are empty."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:4], boxes[:, 2:4])
    inner = np.prod(np.maximum(high - low, 0), axis=1)
    areas = np.prod(np.maximum(boxes[:, 2:4] - boxes[:, :2], 0), axis=1)
    union = areas + np.prod(np.maximum(box[2:4] - box[:2], 0)) - inner
    return np.asarray(inner / np.maximum(union, 1e-9), np.float32)


def _face(score: float, values: NDArray[np.float32], frame: Frame, picture: Picture) -> dict[str, Any]:
    corner = np.array([frame.left, frame.top])
    placed = (values.reshape(-1, 2) - corner) / frame.scale
    box = np.clip(placed[:2], 0, [picture.shape[1], picture.shape[0]])
    return {
        "box": [round(value, 2) for value in box.ravel().tolist()],
        "score": round(score, 4),
        "points": [[round(x, 2), round(y, 2)] for x, y in placed[2:].tolist()],
    }
