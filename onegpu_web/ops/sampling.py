"""Lp pooling and the operators that undo or generalise pooling and resizing, on arrays and Tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.model import Attribute, Node
from .attributes import int64s, window_attributes
from .eager import Input, Output, run_nodes, sync


async def _run(op_type: str, inputs: dict[str, Input], attributes: dict[str, Attribute]) -> Output:
    names = tuple(name if value is not None else "" for name, value in inputs.items())
    return (await run_nodes([Node(op_type, names, ("y",), attributes=attributes)], inputs, ["y"]))[0]


async def lp_pool(
    x: Input,
    kernel_shape: Sequence[int],
    *,
    p: int = 2,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
) -> Output:
    """p-norms of windows. x: (N, C, ...). Raises: KernelShapeError. Source: ONNX LpPool-22."""
    attributes = window_attributes("lp_pool", kernel_shape, strides, pads, dilations, auto_pad)
    return await _run("LpPool", {"x": x}, attributes | {"ceil_mode": int(ceil_mode), "p": p})


async def global_lp_pool(x: Input, *, p: int = 2) -> Output:
    """The p-norm of each plane: (N, C, ...) -> (N, C, 1, ...). Source: ONNX GlobalLpPool-22."""
    return await _run("GlobalLpPool", {"x": x}, {"p": p})


async def max_unpool(
    x: Input,
    indices: Input,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
) -> Output:
    """x's elements at the places that max_pool's indices name, zeros elsewhere.

    x, indices (int64): (N, C, ...). Raises: KernelShapeError. Source: ONNX MaxUnpool-22.
    """
    attributes = window_attributes("max_unpool", kernel_shape, strides, pads, None, "NOTSET")
    del attributes["auto_pad"]
    shape = int64s("max_unpool", "output_shape", output_shape)
    return await _run("MaxUnpool", {"x": x, "indices": indices, "output_shape": shape}, attributes)


async def col2im(
    x: Input,
    image_shape: Sequence[int],
    block_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
) -> Output:
    """Blocks added back into the image they were taken from: (N, C * taps, blocks) -> (N, C, *image_shape).

    Raises: KernelShapeError. Source: ONNX Col2Im-18.
    """
    attributes = window_attributes("col2im", None, strides, pads, dilations, "NOTSET")
    del attributes["auto_pad"]
    shapes = {
        name: int64s("col2im", name, value)
        for name, value in (("image_shape", image_shape), ("block_shape", block_shape))
    }
    return await _run("Col2Im", {"x": x, **shapes}, attributes)


async def grid_sample(
    x: Input,
    grid: Input,
    *,
    mode: str = "linear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Output:
    """x (N, C, H, W) or (N, C, D, H, W) read at the places of a grid (N, ..., 2 or 3) in -1 to 1, x first.

    mode: nearest, linear, cubic; padding_mode: zeros, border, reflection. Raises: KernelShapeError.
    Source: ONNX GridSample-22.
    """
    attributes: dict[str, Attribute] = {"mode": mode, "padding_mode": padding_mode, "align_corners": int(align_corners)}
    return await _run("GridSample", {"x": x, "grid": grid}, attributes)


lp_pool_sync = sync(lp_pool)
global_lp_pool_sync = sync(global_lp_pool)
max_unpool_sync = sync(max_unpool)
col2im_sync = sync(col2im)
grid_sample_sync = sync(grid_sample)
