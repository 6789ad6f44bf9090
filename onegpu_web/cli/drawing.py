"""Pictures with boxes drawn on them, through Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import PictureError
from ..jobs import Picture

_COLOUR = (230, 30, 90)


def save_with_boxes(picture: Picture, boxes: Sequence[Sequence[Sequence[float]]], out: str | Path) -> None:
    """Save a picture with each box, four corners [x, y], drawn as a closed line; out's ending names the format.

    Raises: PictureError: out cannot be written, or no format has its ending.
    """
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    thickness = max(2, round(max(image.size) / 400))
    for box in boxes:
        corners = [(x, y) for x, y in box]
        draw.line([*corners, *corners[:2]], fill=_COLOUR, width=thickness, joint="curve")
    try:
        image.save(out)
    except (OSError, ValueError) as error:
        raise PictureError(f"out: {out} must be a picture file that can be written: {error}") from error
