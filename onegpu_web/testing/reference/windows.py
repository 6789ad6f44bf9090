"""Windows along an axis as ONNX's texts define them, worked out anew: nothing of the package's own arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: input elements, taps, their steps, padding before and behind, and how many windows there are."""

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    out: int

    @property
    def span(self) -> int:
        """Elements from the first tap to the last."""
        return self.dilation * (self.kernel - 1) + 1


def axes_of(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
) -> list[Axis]:
    """The axes of Conv, MaxPool and their like; empty strides, dilations and pads are ONNX's defaults."""
    rank = len(sizes)
    strides, dilations, pads = strides or (1,) * rank, dilations or (1,) * rank, pads or (0,) * 2 * rank
    made = []
    for size, taps, stride, dilation, begin, end in zip(
        sizes, kernel, strides, dilations, pads[:rank], pads[rank:], strict=True
    ):
        span = dilation * (taps - 1) + 1
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            out = -(-size // stride)
            missing = max((out - 1) * stride + span - size, 0)
            half, rest = missing // 2, missing - missing // 2
            begin, end = (half, rest) if auto_pad == "SAME_UPPER" else (rest, half)
        else:
            if auto_pad == "VALID":
                begin = end = 0
            out = _count(size, span, stride, begin, end, ceil_mode and auto_pad == "NOTSET")
        made.append(Axis(size, taps, stride, dilation, begin, end, out))
    return made


def _count(size: int, span: int, stride: int, begin: int, end: int, ceil_mode: bool) -> int:
    """Windows, counted by where they start: those that lie within the padded axis.

    With ceil_mode one more where these leave elements over; then the last is left off if it starts in the padding
    behind.
    """
    padded = begin + size + end
    fitting = len(range(0, padded - span + 1, stride))
    if not ceil_mode or not fitting:
        return fitting
    starts = [i * stride for i in range(fitting)]
    if starts[-1] + span < padded:
        starts.append(starts[-1] + stride)
    return len(starts) - (starts[-1] >= begin + size)
