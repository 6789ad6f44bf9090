"""ONNX operators that undo or generalise pooling and resizing: MaxUnpool, Col2Im, GridSample."""

from __future__ import annotations

from ...errors import ModelError
from ...kernels import col2im as col2im_kernels
from ...kernels import grid_sample as grid_sample_kernels
from ...kernels import max_unpool as max_unpool_kernels
from ...problems.col2im import Col2ImProblem
from ...problems.grid_sample import GridSampleProblem
from ...problems.max_unpool import MaxUnpoolProblem
from ..lowering import Lowered, NodeView, Step


def max_unpool(node: NodeView) -> list[Lowered]:
    """MaxUnpool-22: x, indices (int64), and output_shape where it is given."""
    x, indices, kernel_shape = node.required(0), node.required(1), node.node.get_ints("kernel_shape") or ()
    if indices.shape != x.shape:
        raise ModelError(f"{node.node.label}: I must be of X's shape {x.shape}, got {indices.shape}")
    problem = MaxUnpoolProblem(
        x.shape,
        kernel_shape,
        strides=node.node.get_ints("strides") or (),
        pads=node.node.get_ints("pads") or (),
        wanted_shape=_sizes(node, 2),
        dtype=x.stored,
    )
    y = node.output(0, problem.output_shape, x.dtype)
    return [Step(max_unpool_kernels.FAMILY, problem, {"x": x.name, "indices": indices.name}, {"y": y})]


def col2im(node: NodeView) -> list[Lowered]:
    """Col2Im-18: x (N, C * taps, blocks), image_shape, block_shape."""
    x = node.required(0)
    problem = Col2ImProblem(
        x.shape,
        _sizes(node, 1),
        _sizes(node, 2),
        strides=node.node.get_ints("strides") or (),
        pads=node.node.get_ints("pads") or (),
        dilations=node.node.get_ints("dilations") or (),
        dtype=x.stored,
    )
    y = node.output(0, problem.output_shape, x.dtype)
    return [Step(col2im_kernels.FAMILY, problem, {"x": x.name}, {"y": y})]


def grid_sample(node: NodeView) -> list[Lowered]:
    """GridSample-22; opset 16 says bilinear and bicubic for linear and cubic."""
    x, grid = node.required(0), node.required(1)
    mode = node.node.get_str("mode", "linear")
    problem = GridSampleProblem(
        x.shape,
        grid.shape,
        mode={"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode),
        padding_mode=node.node.get_str("padding_mode", "zeros"),
        align_corners=node.node.get_int("align_corners", 0) != 0,
        dtype=x.stored,
        grid_dtype=grid.stored,
    )
    y = node.output(0, problem.output_shape, x.dtype)
    return [Step(grid_sample_kernels.FAMILY, problem, {"x": x.name, "grid": grid.name}, {"y": y})]


def _sizes(node: NodeView, index: int) -> tuple[int, ...]:
    """Input `index` as sizes; () where it is left out."""
    known = node.known(index)
    return () if known is None else tuple(int(size) for size in known.reshape(-1))


HANDLERS = {"MaxUnpool": max_unpool, "Col2Im": col2im, "GridSample": grid_sample}
