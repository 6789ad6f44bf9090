"""Pad: a border around a tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..caps import Caps
from ..dtypes import FLOAT16
from ..plan import Launch, grid, pack_params
from ..problems.movement import PAD_MODES, PadProblem
from ..problems.strides import RANK, padded, row_major
from ..shader import build
from .copy import moved_regions, moved_type
from .family import Family, Lowering
from .unary import needs_half

_WORKGROUP = 256


@dataclass(frozen=True, slots=True)
class Plain:
    """A thread for each element of y."""

    name: str = "plain"

    def supports(self, problem: PadProblem, caps: Caps, /) -> str | None:
        rank = len(_axes(problem))
        if rank > RANK:
            return f"y must have at most {RANK} axes after collapsing, got {rank}"
        return needs_half(problem.dtype is FLOAT16, caps)

    def lower(self, problem: PadProblem, caps: Caps, /) -> Lowering:
        axes = _axes(problem)
        elements = math.prod(problem.output_shape)
        cropped = sum(
            -min(begin, 0) * stride for begin, stride in zip(problem.begins, row_major(problem.x_shape), strict=True)
        )
        params = pack_params(
            *padded([axis.shape for axis in axes], 1),
            *padded([axis.begin for axis in axes]),
            *padded([axis.size for axis in axes], 1),
            *padded([axis.stride for axis in axes]),
            elements,
            len(axes),
            problem.x_offset + cropped,
            problem.y_offset,
            problem.value_bits,
        )
        shader = build(
            "pad",
            constants={"MODE": PAD_MODES.index(problem.mode)},
            aliases={"E": moved_type(problem.dtype)},
            regions=moved_regions(problem.dtype) | ({"value": "pad_half"} if problem.dtype is FLOAT16 else {}),
        )
        return Lowering((Launch(shader, ("x",), ("y",), params, grid(elements, _WORKGROUP, caps.limits), "pad"),))


@dataclass(frozen=True, slots=True)
class _Axis:
    """One axis of the walk: y's size, the border before x's `size` elements, x's stride."""

    shape: int
    begin: int
    size: int
    stride: int


def _axes(problem: PadProblem) -> list[_Axis]:
    """The walk over y, neighbours without a border of their own merged."""
    axes: list[_Axis] = []
    items = zip(problem.output_shape, problem.begins, problem.cropped_shape, row_major(problem.x_shape), strict=True)
    for shape, begin, size, stride in items:
        axis = _Axis(shape, max(begin, 0), size, stride)
        if shape == size == 1:
            continue
        if axes and shape == size and axes[-1].stride == size * stride and problem.mode == "constant":
            # A border of whole rows is a border of their elements.
            last = axes[-1]
            axes[-1] = _Axis(last.shape * size, last.begin * size, last.size * size, stride)
        elif axes and shape == size and axes[-1].shape == axes[-1].size and axes[-1].stride == size * stride:
            axes[-1] = _Axis(axes[-1].shape * size, 0, axes[-1].size * size, stride)
        else:
            axes.append(axis)
    return axes or [_Axis(1, 0, 1, 0)]


FAMILY: Family[PadProblem] = Family("pad", (Plain(),))
