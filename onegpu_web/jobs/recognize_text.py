"""What a line of text says: crops of equal height, a convolutional recognizer, greedy CTC decoding.

Source: Graves et al., "Connectionist Temporal Classification", 2006; the model is PP-OCRv6's tiny recognizer,
whose characters lie in its metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..graph.source import Progress
from .picture import Picture
from .rectangles import Rectangle
from .resample import crop_rectangle
from .sessions import Session, Stopwatch, report, run_one

LINE_HEIGHT = 48
# Widths a crop may have: each is about a third more than the one before, so few input shapes arise (a new
# shape costs a session a new plan) and little of a crop is padding. The model was trained on 320.
_WIDTHS = (160, 224, 320, 448, 608, 832, 1120, 1504, 2016, 2688)
_LEAST_WIDTH = 16
# Crops of one width run four at a time; two input shapes for each width, never more.
_BATCH = 4
_TALL = 1.5


@dataclass(frozen=True, slots=True)
class ReadLine:
    """The text of a crop and the mean probability of its characters."""

    text: str
    score: float


def characters(metadata: Mapping[str, str], classes: int) -> list[str]:
    """The character of each class: class 0 is CTC's blank, then the model's list, then the space.

    Raises: ModelError: no list in the metadata, or one that does not fit the number of classes.
    """
    if "character" not in metadata:
        raise ModelError("read: the recognizer's metadata must list its characters under 'character', got none")
    listed = metadata["character"].split("\n")
    if len(listed) + 2 != classes:
        raise ModelError(f"read: the recognizer must have {len(listed)} + 2 classes, got {classes}")
    return ["", *listed, " "]


async def recognize_text(
    session: Session,
    picture: Picture,
    rectangles: Sequence[Rectangle],
    stopwatch: Stopwatch,
    *,
    progress: Progress | None = None,
) -> list[ReadLine]:
    """Read the text in each rectangle of a picture.

    A rectangle that is clearly taller than wide is read upright and turned either way; the surest wins.
    """
    crops = [crop for number, rectangle in enumerate(rectangles) for crop in _crops(number, rectangle)]
    best = [ReadLine("", 0.0)] * len(rectangles)
    done = 0
    report(progress, "recognize", done, len(crops))
    for width, batch in _batches(crops):
        with stopwatch.stage("prepare"):
            feed = _recognizer_input(picture, batch, width)
        outputs = await run_one(session, feed, stopwatch, "recognize")
        with stopwatch.stage("finish"):
            shape = outputs[0].shape
            if len(shape) != 3 or shape[0] != len(feed):
                raise ModelError(f"read: recognizer output must be ({len(feed)}, steps, classes), got {shape}")
            alphabet = characters(session.metadata, shape[2])
            for crop, probabilities in zip(batch, outputs[0], strict=False):
                line = decode(probabilities[: _steps(crop.width, width, len(probabilities))], alphabet)
                best[crop.number] = max(best[crop.number], line, key=lambda read: read.score)
        done += len(batch)
        report(progress, "recognize", done, len(crops))
    return best


def decode(probabilities: NDArray[np.float32], alphabet: Sequence[str]) -> ReadLine:
    """Greedy CTC: the likeliest class of each step, repeats merged, blanks (class 0) dropped.

    probabilities: (steps, classes).
    """
    classes = probabilities.argmax(axis=1)
    kept = (classes != 0) & (classes != np.concatenate(([0], classes[:-1])))
    if not kept.any():
        return ReadLine("", 0.0)
    text = "".join(alphabet[index] for index in classes[kept].tolist())
    return ReadLine(text, float(probabilities[kept, classes[kept]].mean()))


@dataclass(frozen=True, slots=True)
class _Crop:
    """One way to read a rectangle: its corners (4, 2) in reading order, and its width at LINE_HEIGHT."""

    number: int
    corners: NDArray[np.float64]
    width: int


def _crops(number: int, rectangle: Rectangle) -> list[_Crop]:
    corners = rectangle.corners()
    turns = (0, -1, 1) if rectangle.height >= _TALL * rectangle.width else (0,)
    crops = []
    for turn in turns:
        along, across = (rectangle.width, rectangle.height) if turn == 0 else (rectangle.height, rectangle.width)
        width = min(_WIDTHS[-1], max(_LEAST_WIDTH, round(LINE_HEIGHT * along / across)))
        crops.append(_Crop(number, np.roll(corners, turn, axis=0), width))
    return crops


def _batches(crops: Sequence[_Crop]) -> Iterator[tuple[int, list[_Crop]]]:
    """Crops that share an input width, in batches of _BATCH or alone; narrow ones first."""
    narrowest = 0
    for width in _WIDTHS:
        fitting = [crop for crop in crops if narrowest < crop.width <= width]
        while fitting:
            size = _BATCH if len(fitting) > _BATCH // 2 else 1
            yield width, fitting[:size]
            fitting = fitting[size:]
        narrowest = width


def _recognizer_input(picture: Picture, batch: Sequence[_Crop], width: int) -> NDArray[np.float32]:
    """(1 or _BATCH, 3, LINE_HEIGHT, width) float32 in blue, green, red, -1..1, zero beside and below the crops."""
    feed = np.zeros((1 if len(batch) == 1 else _BATCH, 3, LINE_HEIGHT, width), np.float32)
    for image, crop in zip(feed, batch, strict=False):
        pixels = crop_rectangle(picture, crop.corners, LINE_HEIGHT, crop.width)
        image[:, :, : crop.width] = pixels[:, :, ::-1].transpose(2, 0, 1) / 127.5 - 1
    return feed


def _steps(crop_width: int, width: int, steps: int) -> int:
    """How many of the steps see the crop and not only the padding beside it."""
    return min(steps, -(-crop_width * steps // width) + 1)
