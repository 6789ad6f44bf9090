"""Pictures: what a job takes, and how the desktop loads one from a file.

A picture is an (H, W, 3) uint8 array of sRGB values. In a browser the page decodes the file and hands the
array over; on the desktop `load_picture` does it with Pillow, which is imported only there.
"""

from __future__ import annotations

import threading
import warnings
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import PictureError

if TYPE_CHECKING:
    from PIL import Image

Picture: TypeAlias = NDArray[np.uint8]

# 12,000 x 9,000 pixels are 324 MB as an array and 432 MB more inside Pillow while they are decoded.
MAX_PIXELS = 150_000_000

_FILTERS_LOCK = threading.Lock()
_STRIP_ROWS = 256
_EXIF_ORIENTATION = 0x0112


def check_picture(picture: object) -> Picture:
    """Return the picture as it is, once it is known to be one.

    picture: (H, W, 3) uint8 RGB, H and W at least 1, at most MAX_PIXELS pixels.

    Raises: PictureError.
    """
    if not isinstance(picture, np.ndarray):
        raise PictureError(f"picture: value must be a numpy array (H, W, 3) uint8, got {type(picture).__name__}")
    if picture.dtype != np.uint8:
        raise PictureError(f"picture: dtype must be uint8 (0..255), got {picture.dtype}")
    if picture.ndim != 3 or picture.shape[2] != 3:
        raise PictureError(f"picture: shape must be (H, W, 3), got {picture.shape}")
    height, width = picture.shape[:2]
    _check_size(height, width)
    return picture


def load_picture(source: str | Path | bytes) -> Picture:
    """Decode a picture file: (H, W, 3) uint8 RGB, turned upright as its EXIF orientation says.

    source: a path, or the bytes of the file. Transparent parts are laid on white, a PNG's colour key too; gray,
    palette, CMYK and 16-bit pictures become RGB; one of floats is of 0 to 1 where all lie there, else of 0 to 255;
    an animation gives its first frame.

    Raises: PictureError: no such file, not an image, cut short, or more than MAX_PIXELS pixels.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise PictureError("picture: decoding files needs Pillow, got none: pip install 'onegpu-web[demo]'") from error
    name = "these bytes" if isinstance(source, bytes) else str(source)
    opened = BytesIO(source) if isinstance(source, bytes) else source
    try:
        with _opened(opened) as image:
            _check_size(image.height, image.width)
            pixels = _pixels(image)
            orientation = image.getexif().get(_EXIF_ORIENTATION, 1)
    except Image.DecompressionBombError as error:
        raise PictureError(f"picture: {name} must have at most {MAX_PIXELS} pixels, got more") from error
    except FileNotFoundError as error:
        raise PictureError(f"picture: file must exist, got {name}") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow raises all of these for files that are no image or are cut short (UnidentifiedImageError is
        # an OSError, PictureError a ValueError).
        if isinstance(error, PictureError):
            raise
        raise PictureError(f"picture: {name} must be an image file, got one that cannot be decoded: {error}") from error
    return np.ascontiguousarray(_upright(pixels, orientation))


def _opened(source: str | Path | BytesIO) -> Image.Image:
    """The picture, not decoded yet.

    Pillow warns from 89 million pixels on; the limit that counts here is _check_size's. Filters of warnings are the
    whole process's, so of threads one at a time changes them and puts them back.
    """
    from PIL import Image

    with _FILTERS_LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(source)


def _check_size(height: int, width: int) -> None:
    if height < 1 or width < 1:
        raise PictureError(f"picture: height and width must be at least 1, got {height} x {width}")
    if height * width > MAX_PIXELS:
        raise PictureError(f"picture: size must be at most {MAX_PIXELS} pixels, got {width} x {height}: shrink it")


def _pixels(image: Image.Image) -> Picture:
    """Copy the image out strip by strip, so that a large one is held once here and once in Pillow, not four times."""
    pixels = np.empty((image.height, image.width, 3), np.uint8)
    image.load()
    unit = image.mode == "F" and _within_one(image)
    for top in range(0, image.height, _STRIP_ROWS):
        bottom = min(top + _STRIP_ROWS, image.height)
        pixels[top:bottom] = _rgb(image.crop((0, top, image.width, bottom)), unit)
    return pixels


def _within_one(image: Image.Image) -> bool:
    extrema = np.asarray(image.getextrema(), np.float64)
    return bool(extrema.min() >= 0 and extrema.max() <= 1)


def _rgb(strip: Image.Image, unit: bool) -> NDArray[Any]:
    """One strip as (rows, W, 3) uint8, whatever mode it has. unit: floats are of 0 to 1."""
    key = strip.info.get("transparency")
    if strip.mode == "RGB" and key is None:
        return np.asarray(strip)
    if strip.mode == "F":
        gray = np.rint(np.clip(np.nan_to_num(np.asarray(strip)) * (255 if unit else 1), 0, 255))
        return np.broadcast_to(gray[:, :, None], (*gray.shape, 3))
    if strip.mode.startswith("I"):
        # 16-bit gray, which Pillow would clip at 255 instead of scaling.
        deep = np.asarray(strip).astype(np.int64)
        gray = np.clip(deep >> 8, 0, 255)
        if isinstance(key, int):
            gray = np.where(deep == key, 255, gray)
        return np.broadcast_to(gray[:, :, None], (*gray.shape, 3))
    if strip.mode == "RGB" and isinstance(key, tuple) and max(key) > 255:
        # Of 16 bits a channel, of which Pillow keeps the upper eight.
        strip.info["transparency"] = tuple(part >> 8 for part in key)
    if strip.mode in ("RGBA", "LA", "PA", "RGBa", "La") or key is not None:
        rgba = np.asarray(strip.convert("RGBA")).astype(np.uint16)
        alpha = rgba[:, :, 3:]
        return (rgba[:, :, :3] * alpha + 255 * (255 - alpha) + 127) // 255
    return np.asarray(strip.convert("RGB"))


def _upright(pixels: Picture, orientation: int) -> Picture:
    """Turn (H, W, 3) pixels as EXIF orientation 1 to 8 asks; unknown values leave them as they are."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels
