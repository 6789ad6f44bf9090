"""Resizing and cropping pictures with numpy alone: Pyodide has no Pillow or OpenCV unless it is downloaded.

Coordinates are continuous: pixel i of a row covers [i, i + 1], so the whole picture is the box
(0, 0, W, H) and scaling a coordinate needs no half-pixel corrections.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .picture import Picture

Kernel = Literal["linear", "cubic"]
# Source samples and their weights, both (results, taps).
Taps = tuple[NDArray[np.intp], NDArray[np.float32]]

_SUPPORT: dict[Kernel, float] = {"linear": 1.0, "cubic": 2.0}
_STRIP_ROWS = 64
# A picture this many times larger than asked for is first thinned to three or more samples per output pixel,
# by a view: no copy of the picture is made, and the time no longer grows with its size.
_THIN_FROM = 6
_THIN_SAMPLES = 3
# A rectangle that leans by less than this part of its height is cropped as an upright one: in Pyodide that is
# four times as fast, and the lean cannot be seen.
_UPRIGHT = 0.05


def resample(
    picture: Picture,
    height: int,
    width: int,
    *,
    box: tuple[float, float, float, float] | None = None,
    kernel: Kernel = "linear",
) -> NDArray[np.float32]:
    """Resize the part of a picture inside box to (height, width, 3) float32, still 0..255.

    picture: (H, W, 3) uint8; box: (x0, y0, x1, y1) in its pixels, the whole picture by default. The kernel
    widens with the shrinking factor (antialiasing), as Pillow's BILINEAR and BICUBIC do. Beyond the picture its
    edge repeats.
    """
    if box is None and picture.shape[:2] == (height, width):
        return picture.astype(np.float32)
    x0, y0, x1, y1 = box or (0.0, 0.0, picture.shape[1], picture.shape[0])
    thin_y, thin_x = _thinning((y1 - y0) / height), _thinning((x1 - x0) / width)
    thinned = picture[thin_y // 2 :: thin_y, thin_x // 2 :: thin_x]
    rows = _taps(y0 / thin_y, y1 / thin_y, height, thinned.shape[0], kernel)
    columns, column_weights = _taps(x0 / thin_x, x1 / thin_x, width, thinned.shape[1], kernel)
    leftmost = int(columns.min())
    part = thinned[:, leftmost : int(columns.max()) + 1]
    result = np.empty((height, width, 3), np.float32)
    for top in range(0, height, _STRIP_ROWS):
        strip = slice(top, top + _STRIP_ROWS)
        tall = _resample_rows(part, (rows[0][strip], rows[1][strip]))
        # Columns become rows, whose samples lie side by side: three times as fast as gathering columns.
        result[strip] = _resample_rows(tall.transpose(1, 0, 2), (columns - leftmost, column_weights)).transpose(1, 0, 2)
    return result


def crop_rectangle(picture: Picture, corners: NDArray[np.float64], height: int, width: int) -> NDArray[np.float32]:
    """Cut a rotated rectangle out and resize it to (height, width, 3) float32, 0..255.

    corners: (4, 2) x and y of the rectangle's top left, top right, bottom right, bottom left corner, as its
    content reads. Beyond the picture its edge repeats. Where the rectangle is turned, samples are bilinear, and
    up to 3 x 3 of them averaged for a pixel where it is larger than the result.
    """
    origin, right, down = corners[0], corners[1] - corners[0], corners[3] - corners[0]
    if right[0] > 0 and down[1] > 0 and max(abs(right[1]), abs(down[0])) <= _UPRIGHT * down[1]:
        left, top = (origin + corners[3])[0] / 2, (origin + corners[1])[1] / 2
        return resample(picture, height, width, box=(left, top, left + right[0], top + down[1]))
    fine = min(3, max(1, round(float(np.hypot(*down)) / height)))
    u = ((np.arange(width * fine) + 0.5) / (width * fine))[None, :]
    v = ((np.arange(height * fine) + 0.5) / (height * fine))[:, None]
    x = (origin[0] + u * right[0] + v * down[0] - 0.5).astype(np.float32)
    y = (origin[1] + u * right[1] + v * down[1] - 0.5).astype(np.float32)
    sampled = _bilinear(picture, x, y)
    if fine == 1:
        return sampled
    mean: NDArray[np.float32] = sampled.reshape(height, fine, width, fine, 3).mean(axis=(1, 3), dtype=np.float32)
    return mean


def _thinning(factor: float) -> int:
    return int(factor // _THIN_SAMPLES) if factor >= _THIN_FROM else 1


def _taps(start: float, stop: float, size: int, available: int, kernel: Kernel) -> Taps:
    """Which source samples make each of `size` results, and with which weights."""
    scale = (stop - start) / size
    stretch = max(scale, 1.0)
    support = _SUPPORT[kernel] * stretch
    centres = np.clip(start + (np.arange(size) + 0.5) * scale, 0, available)
    first = np.floor(centres - support + 0.5).astype(np.intp)
    samples = first[:, None] + np.arange(int(np.ceil(support)) * 2 + 1)
    distances = np.abs(samples + 0.5 - centres[:, None]) / stretch
    weights = _linear(distances) if kernel == "linear" else _cubic(distances)
    weights[(samples < 0) | (samples >= available)] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    used = weights.any(axis=0)
    return np.clip(samples, 0, available - 1)[:, used], weights.astype(np.float32)[:, used]


def _linear(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(1.0 - distances, 0.0)


def _cubic(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keys' cubic convolution with a = -0.5, as Pillow's BICUBIC."""
    near = (1.5 * distances - 2.5) * distances * distances + 1.0
    far = ((-0.5 * distances + 2.5) * distances - 4.0) * distances + 2.0
    return np.where(distances < 1.0, near, np.where(distances < 2.0, far, 0.0))


def _resample_rows(source: NDArray[np.uint8] | NDArray[np.float32], taps: Taps) -> NDArray[np.float32]:
    """Weighted sums of rows: (rows, ...) to (results, ...) float32."""
    samples, weights = taps
    lowest = int(samples.min())
    window = np.ascontiguousarray(source[lowest : int(samples.max()) + 1], np.float32)
    weights = weights[:, :, None, None]
    total: NDArray[np.float32] = window[samples[:, 0] - lowest]
    total *= weights[:, 0]
    for tap in range(1, samples.shape[1]):
        part = window[samples[:, tap] - lowest]
        part *= weights[:, tap]
        total += part
    return total


def _bilinear(picture: Picture, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sample at x and y, both (h, w) in pixel centres (the first pixel is at 0): (h, w, 3) float32."""
    height, width = picture.shape[:2]
    x, y = np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)
    left, top = x.astype(np.int32), y.astype(np.int32)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    fx, fy = (x - left.astype(np.float32))[:, :, None], (y - top.astype(np.float32))[:, :, None]

    def between(first: NDArray[np.float32], second: NDArray[np.float32], part: NDArray[np.float32]) -> None:
        """Mix second into first, in place."""
        second -= first
        second *= part
        first += second

    upper, lower = picture[top, left].astype(np.float32), picture[bottom, left].astype(np.float32)
    between(upper, picture[top, right].astype(np.float32), fx)
    between(lower, picture[bottom, right].astype(np.float32), fx)
    between(upper, lower, fy)
    return upper
