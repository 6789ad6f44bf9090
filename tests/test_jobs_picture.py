"""Loading and checking pictures."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from onegpu_web.errors import OnegpuError, PictureError
from onegpu_web.jobs import load_picture
from onegpu_web.jobs.picture import check_picture


def _noise(height: int, width: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, channels), np.uint8)


def _bytes_of(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def test_loads_what_was_saved(tmp_path: Path) -> None:
    pixels = _noise(300, 7)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    for source in (tmp_path / "a.png", str(tmp_path / "a.png"), (tmp_path / "a.png").read_bytes()):
        loaded = load_picture(source)
        np.testing.assert_array_equal(loaded, pixels)
        assert loaded.dtype == np.uint8
        assert loaded.flags.c_contiguous


def test_loads_one_pixel() -> None:
    np.testing.assert_array_equal(load_picture(_bytes_of(Image.new("RGB", (1, 1), (1, 2, 3)))), [[[1, 2, 3]]])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_turns_as_exif_says(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = _bytes_of(Image.fromarray(_noise(5, 9)), exif=exif.tobytes())
    expected = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    np.testing.assert_array_equal(load_picture(data), np.asarray(expected))


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "YCbCr", "HSV", "LAB"])
def test_other_modes_become_rgb(mode: str) -> None:
    image = Image.fromarray(_noise(40, 30)).convert(mode)
    data = _bytes_of(image, "TIFF" if mode in ("CMYK", "YCbCr", "LAB") else "PNG") if mode != "HSV" else None
    if data is None:
        data = _bytes_of(image.convert("RGB"))
    expected = Image.open(io.BytesIO(data)).convert("RGB")
    np.testing.assert_array_equal(load_picture(data), np.asarray(expected))


def test_transparent_parts_are_laid_on_white() -> None:
    pixels = np.array([[[10, 20, 30, 0], [10, 20, 30, 255], [0, 0, 0, 128]]], np.uint8)
    loaded = load_picture(_bytes_of(Image.fromarray(pixels, "RGBA")))
    np.testing.assert_array_equal(loaded, [[[255, 255, 255], [10, 20, 30], [127, 127, 127]]])


def test_transparent_palette_colour_is_laid_on_white() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((1, 0), 1)
    loaded = load_picture(_bytes_of(image, transparency=0))
    np.testing.assert_array_equal(loaded, [[[255, 255, 255], [0, 0, 255]]])


def test_sixteen_bit_gray_is_scaled_not_clipped() -> None:
    gray = np.array([[0, 256, 32768, 65535]], np.uint16)
    loaded = load_picture(_bytes_of(Image.fromarray(gray)))
    np.testing.assert_array_equal(loaded[0, :, 0], [0, 1, 128, 255])


def _png_that_claims(width: int, height: int) -> bytes:
    """A PNG whose header names a size and whose pixels are missing."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = b"IDAT" + zlib.compress(b"\0")
    chunks = b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in (header, body, b"IEND")
    )
    return b"\x89PNG\r\n\x1a\n" + chunks


@pytest.mark.parametrize(("width", "height"), [(13_000, 12_000), (30_000, 30_000), (500_000, 500_000)])
def test_too_many_pixels_are_refused_before_decoding(width: int, height: int) -> None:
    with pytest.raises(PictureError, match="at most 150000000 pixels"):
        load_picture(_png_that_claims(width, height))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not an image at all",
        np.random.default_rng(1).bytes(10_000),
        _bytes_of(Image.fromarray(_noise(64, 64)))[:3000],
        _bytes_of(Image.fromarray(_noise(64, 64)), "JPEG")[:900],
        _png_that_claims(100, 100),
    ],
    ids=["empty", "text", "random", "png cut short", "jpeg cut short", "png without pixels"],
)
def test_not_an_image_is_a_picture_error(data: bytes) -> None:
    with pytest.raises(PictureError, match="picture: these bytes must be an image"):
        load_picture(data)


def test_missing_file_and_folder_are_picture_errors(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="must exist"):
        load_picture(tmp_path / "none.png")
    with pytest.raises(PictureError, match="cannot be decoded"):
        load_picture(tmp_path)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[[1, 2, 3]]], "must be a numpy array"),
        (None, "got NoneType"),
        (np.zeros((4, 4, 3), np.float32), "dtype must be uint8"),
        (np.zeros((4, 4), np.uint8), r"shape must be \(H, W, 3\), got \(4, 4\)"),
        (np.zeros((4, 4, 4), np.uint8), r"got \(4, 4, 4\)"),
        (np.zeros((1, 4, 4, 3), np.uint8), "shape must be"),
        (np.zeros((0, 4, 3), np.uint8), "at least 1, got 0 x 4"),
        (np.broadcast_to(np.uint8(0), (20_000, 20_000, 3)), "at most"),
    ],
)
def test_other_values_are_no_pictures(value: object, message: str) -> None:
    with pytest.raises(PictureError, match=message) as caught:
        check_picture(value)
    assert isinstance(caught.value, OnegpuError)
    assert isinstance(caught.value, ValueError)


def test_a_view_is_a_picture() -> None:
    view = _noise(20, 20)[::-1, ::2]
    assert check_picture(view) is view


def test_threads_leave_the_filters_of_warnings_as_they_were() -> None:
    stream = BytesIO()
    Image.new("RGB", (2, 2)).save(stream, "PNG")
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(load_picture, [stream.getvalue()] * 2000))
    assert warnings.filters == before
