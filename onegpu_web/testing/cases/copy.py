"""Cases of strided copies: Transpose, Slice, Expand, Tile, DepthToSpace, SpaceToDepth."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT8, INT32, UINT8
from ...kernels import copy
from ...problems.movement import (
    CopyProblem,
    depth_to_space,
    expand,
    slice_axes,
    space_to_depth,
    tile,
    transpose,
)
from ..reference import movement as reference
from ..reference.operands import bits
from .case import Arrays, Case

FAMILY = copy.FAMILY


def arrays(problem: CopyProblem, rng: np.random.Generator) -> Arrays:
    """x, flat, of any bits."""
    reach = sum(max(0, (size - 1) * stride) for size, stride in zip(problem.shape, problem.x_strides, strict=True))
    return {"x": bits(rng, (reach + 1,), problem.x_offset, problem.dtype.name)}


def expected(problem: CopyProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y, the same bits."""
    return {"y": reference.copy(problem, arrays["x"])}


def _case(name: str, problem: CopyProblem, **fields: Any) -> Case:
    return Case(name, dataclasses.replace(problem, **fields), 0.0)


CASES = [
    _case("nchw_to_nhwc", transpose((2, 5, 9, 7), (0, 2, 3, 1))),
    _case("nhwc_to_nchw", transpose((2, 9, 7, 40), (0, 3, 1, 2))),
    _case("matrix", transpose((70, 45), (1, 0))),
    _case("matrix_offsets", transpose((33, 31), (1, 0)), x_offset=3, y_offset=5),
    _case("heads", transpose((2, 6, 4, 8), (0, 2, 1, 3))),
    _case("heads_odd", transpose((2, 6, 4, 7), (0, 2, 1, 3))),
    _case("reverse_five_axes", transpose((2, 3, 4, 5, 3), (4, 3, 2, 1, 0))),
    _case("same_order", transpose((4, 8), (0, 1))),
    _case("slice_steps", slice_axes((9, 11), [(1, 4, 2), (10, 5, -2)])),
    _case("slice_rows_of_four", slice_axes((6, 8, 8), [(2, 3, 1), (0, 8, 1), (4, 4, 1)])),
    _case("slice_backwards", slice_axes((5, 4), [(4, 5, -1), (3, 4, -1)])),
    _case("slice_nothing", slice_axes((5, 4), [(0, 0, 1), (0, 4, 1)])),
    _case("expand", expand((3, 1, 5), (2, 3, 4, 5))),
    _case("expand_scalar", expand((), (7, 3))),
    _case("tile", tile((2, 3, 4), (2, 1, 3))),
    _case("depth_to_space_dcr", depth_to_space((2, 12, 3, 5), 2)),
    _case("depth_to_space_crd", depth_to_space((1, 18, 4, 3), 3, "CRD")),
    _case("space_to_depth", space_to_depth((2, 3, 6, 4), 2)),
    _case("integers", transpose((3, 5, 4), (2, 0, 1), INT32)),
    _case("half", transpose((6, 10), (1, 0), FLOAT16)),
    _case("half_rows_of_four", transpose((4, 6, 8), (1, 0, 2), FLOAT16)),
    _case("bytes", transpose((3, 5, 6), (2, 0, 1), UINT8), x_offset=3, y_offset=5),
    _case("bytes_of_blocks", depth_to_space((2, 12, 3, 5), 2, dtype=INT8), y_offset=2),
    _case("bytes_of_pixels", space_to_depth((1, 3, 6, 4), 2, dtype=UINT8), x_offset=1),
    _case("bytes_four_at_a_time", transpose((4, 6, 8), (1, 0, 2), INT8), x_offset=4, y_offset=8),
    _case("many_workgroups", slice_axes((260, 260), [(0, 257, 1), (1, 257, 1)])),
]
