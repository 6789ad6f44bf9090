"""Which input elements make each output of a resize along one axis, and with what weights.

The arithmetic is ONNX's text on the host, so that every device gets the same taps: with sizes in fractions of the
two lengths, with scales in float64, operation by operation. Scales, roi and coefficients are the float32 values of
the model, widened.
Source: ONNX Resize-19, Resize-13 (tf_half_pixel_for_nn), Upsample-9.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from fractions import Fraction

OUTSIDE = 0xFFFFFFFF  # the start of an output that takes extrapolation_value


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a resize.

    size, out: elements before and after. scale, length: the text's scale and length_resized. roi: start and
    end, of the input's extent. exact: scale is out / size, which coordinates take as the two integers.
    """

    size: int
    out: int
    scale: float
    length: float
    roi: tuple[float, float] = (0.0, 1.0)
    exact: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether the axis is not resized at all (tf_half_pixel_for_nn would shift it by half an element)."""
        return self.scale == 1 and self.out == self.size and self.roi == (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Rule:
    """How to interpolate: the attributes of Resize that decide about taps."""

    mode: str
    coordinate_transformation_mode: str
    nearest_mode: str
    cubic_coeff_a: float
    exclude_outside: bool
    antialias: bool


@dataclass(frozen=True, slots=True, eq=False)
class Taps:
    """Output i is the sum of weights[i * width + k] * input[starts[i] + k] over k < width, or is OUTSIDE.

    All reads lie within the input. weights is empty for nearest, whose width is 1. is_identity: every output
    is the input at its place.
    """

    size: int
    width: int
    starts: array[int]
    weights: array[float] = field(default_factory=lambda: array("f"))
    is_identity: bool = False

    @property
    def out(self) -> int:
        """Outputs."""
        return len(self.starts)


def identity(size: int, *, weighted: bool) -> Taps:
    """The taps that change nothing."""
    return Taps(size, 1, array("I", range(size)), array("f", [1.0] * size if weighted else []), True)


@lru_cache(maxsize=256)
def taps(axis: Axis, rule: Rule) -> Taps:
    """The taps of a resize along one axis."""
    made = _taps(axis, rule)
    same = made.out == axis.size and made.width == 1 and all(w == 1.0 for w in made.weights)
    return replace(made, is_identity=same and all(i == start for i, start in enumerate(made.starts)))


def _taps(axis: Axis, rule: Rule) -> Taps:
    if axis.out == 0:
        return Taps(axis.size, 1, array("I"))
    points = coordinates(axis, rule)
    crops = rule.coordinate_transformation_mode == "tf_crop_and_resize"
    inside = [not crops or 0 <= x <= axis.size - 1 for x in points]
    if rule.mode == "nearest":
        nearest = _nearest(rule.nearest_mode, axis.scale)
        last = axis.size - 1
        starts = (min(max(nearest(x), 0), last) if ok else OUTSIDE for x, ok in zip(points, inside, strict=True))
        return Taps(axis.size, 1, array("I", starts))
    windows = [_fold(*_window(x, axis, rule), axis.size, rule.exclude_outside) for x in points]
    return _pack(axis.size, windows, inside)


Coordinate: TypeAlias = "float | Fraction"


def coordinates(axis: Axis, rule: Rule) -> Sequence[Coordinate]:
    """x_original of every output."""
    if axis.exact and rule.coordinate_transformation_mode != "tf_crop_and_resize":
        return _exact_coordinates(rule.coordinate_transformation_mode, axis.size, axis.out)
    mode, scale, length, size = rule.coordinate_transformation_mode, axis.scale, axis.length, axis.size
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and length > 1):
        return [(x + 0.5) / scale - 0.5 for x in range(axis.out)]
    if mode == "pytorch_half_pixel":
        return [0.0] * axis.out
    if mode == "half_pixel_symmetric":
        offset = size / 2 * (1 - axis.out / (scale * size))
        return [offset + (x + 0.5) / scale - 0.5 for x in range(axis.out)]
    if mode == "align_corners":
        return [0.0] * axis.out if length == 1 else [x * (size - 1) / (length - 1) for x in range(axis.out)]
    if mode == "asymmetric":
        return [x / scale for x in range(axis.out)]
    if mode == "tf_half_pixel_for_nn":
        return [(x + 0.5) / scale for x in range(axis.out)]
    begin, end = axis.roi
    if length > 1:
        return [begin * (size - 1) + x * (end - begin) * (size - 1) / (length - 1) for x in range(axis.out)]
    return [0.5 * (begin + end) * (size - 1)] * axis.out


def _exact_coordinates(mode: str, size: int, out: int) -> list[Fraction]:
    """The same of a resize from one length to another."""
    from fractions import Fraction  # with decimal behind it: not for every page's start

    if mode == "align_corners":
        return [Fraction(x * (size - 1), max(out - 1, 1)) for x in range(out)]
    if mode == "asymmetric":
        return [Fraction(x * size, out) for x in range(out)]
    if mode == "tf_half_pixel_for_nn":
        return [Fraction((2 * x + 1) * size, 2 * out) for x in range(out)]
    if mode == "pytorch_half_pixel" and out == 1:
        return [Fraction(0)]
    return [Fraction((2 * x + 1) * size - out, 2 * out) for x in range(out)]


def _nearest(mode: str, scale: float) -> Callable[[Coordinate], int]:
    """The rounding of a coordinate; `before_opset_11` rounds down where it upsamples and up where it downsamples."""
    if mode == "before_opset_11":
        mode = "ceil" if scale < 1 else "floor"
    if mode in ("floor", "ceil"):
        return math.floor if mode == "floor" else math.ceil
    prefer_ceil = mode == "round_prefer_ceil"

    def rounded(x: Coordinate) -> int:
        below = math.floor(x)
        rest = x - below  # exact, which x + 0.5 is not
        return below + (rest >= 0.5 if prefer_ceil else rest > 0.5)

    return rounded


def _window(x: Coordinate, axis: Axis, rule: Rule) -> tuple[int, list[float]]:
    """The first tap and the weights of all taps around x, inside the input or not."""
    below = math.floor(x)
    rest = float(x - below)
    if rule.antialias and axis.scale < 1:
        return _wide_window(float(x), below, axis.scale, rule)
    if rule.mode == "linear":
        return below, [1 - rest, rest]
    a, far = rule.cubic_coeff_a, 1 - rest
    return below - 1, [
        ((a * (rest + 1) - 5 * a) * (rest + 1) + 8 * a) * (rest + 1) - 4 * a,
        ((a + 2) * rest - (a + 3)) * rest * rest + 1,
        ((a + 2) * far - (a + 3)) * far * far + 1,
        ((a * (far + 1) - 5 * a) * (far + 1) + 8 * a) * (far + 1) - 4 * a,
    ]


def _wide_window(x: float, below: int, scale: float, rule: Rule) -> tuple[int, list[float]]:
    """The filter stretched by 1 / scale, its weights normalised."""
    support = 1 if rule.mode == "linear" else 2
    reach = math.floor(-support / scale) + 1
    first = below + reach
    weights = [_filter(abs(i - x) * scale, rule) for i in range(first, below + 2 - reach)]
    total = math.fsum(weights)
    return first, [w / total for w in weights]


def _filter(distance: float, rule: Rule) -> float:
    """The weight of a tap at a distance, in stretched units."""
    if rule.mode == "linear":
        return max(0.0, 1 - distance)
    a = rule.cubic_coeff_a
    if distance <= 1:
        return ((a + 2) * distance - (a + 3)) * distance * distance + 1
    return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a if distance < 2 else 0.0


def _fold(first: int, weights: list[float], size: int, exclude_outside: bool) -> tuple[int, list[float]]:
    """The same window within [0, size): taps outside fold onto the edges, or are excluded and the rest normalised."""
    low = min(max(first, 0), size - 1)
    high = min(max(first + len(weights) - 1, 0), size - 1)
    inside = [0.0] * (high - low + 1)
    for i, weight in enumerate(weights, first):
        if 0 <= i < size:
            inside[i - low] += weight
        elif not exclude_outside:
            inside[0 if i < 0 else -1] += weight
    if exclude_outside and (total := math.fsum(inside)) != 0:
        inside = [w / total for w in inside]
    while len(inside) > 1 and inside[-1] == 0:
        inside.pop()
    skip = 0
    while skip < len(inside) - 1 and inside[skip] == 0:
        skip += 1
    return low + skip, inside[skip:]


def _pack(size: int, windows: list[tuple[int, list[float]]], inside: list[bool]) -> Taps:
    """Windows of one width, each shifted so that it ends within the input."""
    width = max((len(weights) for _, weights in windows), default=1)
    starts, packed = array("I"), array("f")
    for (first, weights), ok in zip(windows, inside, strict=True):
        start = min(first, size - width)
        starts.append(start if ok else OUTSIDE)
        row = [0.0] * (first - start) + weights
        packed.extend(row + [0.0] * (width - len(row)))
    return Taps(size, width, starts, packed)
