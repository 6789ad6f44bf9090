"""Say what a picture shows: the likeliest of a classifier's names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..device import Device
from ..errors import FeedError, ModelError
from ..graph.source import Progress, Source
from .picture import Picture, check_picture
from .resample import resample
from .sessions import Session, Stopwatch, create_session, report, run_one

_SIZE = 224
# The network was evaluated on the middle 224 of a picture whose short side is 256.
_SHORT_SIDE = 256
_MEAN = 127.0
_STD = 128.0


class Classify:
    """Names what a picture shows, with EfficientNet-lite0 or a model fed alike.

    session: (1, 3, 224, 224) RGB (x - 127) / 128 in, (1, classes) probabilities or logits out.
    labels: a name for each class.
    """

    def __init__(self, session: Session, labels: Sequence[str]) -> None:
        self._session = session
        self._labels = list(labels)

    @classmethod
    async def create(
        cls,
        model: Source,
        labels: Sequence[str] | str | Path,
        *,
        device: Device | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Load the model. labels: the names, or the path of a JSON list of them. Raises: ModelError."""
        names = read_labels(labels) if isinstance(labels, str | Path) else list(labels)
        return cls(await create_session(model, device=device, progress=progress), names)

    async def run(self, picture: Picture, *, top: int = 5, progress: Progress | None = None) -> dict[str, Any]:
        """Classify a picture, (H, W, 3) uint8 RGB.

        Returns: {"top": [{"label", "score"}], "ms": {stage: float}}, the likeliest first.
        """
        check_picture(picture)
        if isinstance(top, bool) or not isinstance(top, int) or top < 1:
            raise FeedError(f"classify: top must be a positive integer, got {top!r}")
        stopwatch = Stopwatch()
        report(progress, "prepare", 0, 3)
        with stopwatch.stage("prepare"):
            feed = classifier_input(picture)
        report(progress, "model", 1, 3)
        outputs = await run_one(self._session, feed, stopwatch, "model")
        with stopwatch.stage("finish"):
            if outputs[0].shape != (1, len(self._labels)):
                raise ModelError(f"classify: output must be (1, {len(self._labels)}) scores, got {outputs[0].shape}")
            scores = probabilities(outputs[0][0])
            best = np.argsort(-scores, kind="stable")[:top]
            named = [{"label": self._labels[index], "score": round(float(scores[index]), 5)} for index in best]
        report(progress, "finish", 3, 3)
        return {"top": named, "ms": stopwatch.ms()}

    def destroy(self) -> None:
        """Free what the session holds on the GPU."""
        self._session.destroy()


def read_labels(file: str | Path) -> list[str]:
    """The names in a JSON list. Raises: ModelError."""
    try:
        names = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"classify: labels must be a JSON list of names, {file} cannot be read: {error}") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"classify: labels must be a JSON list of names, got something else in {file}")
    return names


def classifier_input(picture: Picture) -> NDArray[np.float32]:
    """(1, 3, 224, 224) float32: the middle of the picture, its short side as 256.

    Bicubic with antialiasing, as in training and evaluation of the network: linear interpolation changes the
    sharpness that the network learned on.
    """
    height, width = picture.shape[:2]
    side = min(height, width) * _SIZE / _SHORT_SIDE
    left, top = (width - side) / 2, (height - side) / 2
    box = (left, top, left + side, top + side)
    pixels = np.clip(resample(picture, _SIZE, _SIZE, box=box, kernel="cubic"), 0, 255)
    return np.ascontiguousarray(((pixels - _MEAN) / _STD).transpose(2, 0, 1)[None])


def probabilities(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Softmax over (classes,) scores, unless the model has done it already."""
    if scores.min() >= 0 and abs(float(scores.sum()) - 1) < 1e-3:
        return scores
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum(), np.float32)
