"""Pooling and resizing on arrays and Tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.model import Attribute, Node
from .attributes import float32s, int64s, integers, window_attributes
from .eager import Input, Output, run_nodes, sync


async def _pool(
    op_type: str, x: Input, attributes: dict[str, Attribute], outputs: tuple[str, ...] = ("y",)
) -> list[Output]:
    return await run_nodes([Node(op_type, ("x",), outputs, attributes=attributes)], {"x": x}, outputs)


async def max_pool(
    x: Input,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    storage_order: int = 0,
    return_indices: bool = False,
) -> Output:
    """Maxima of windows; with return_indices the pair (y, int64 indices into x flattened).

    x: (N, C, ...). Raises: KernelShapeError. Source: ONNX MaxPool-22.
    """
    attributes = window_attributes("max_pool", kernel_shape, strides, pads, dilations, auto_pad)
    attributes |= {"ceil_mode": int(ceil_mode), "storage_order": storage_order}
    results = await _pool("MaxPool", x, attributes, ("y", "indices") if return_indices else ("y",))
    return tuple(results) if return_indices else results[0]


async def average_pool(
    x: Input,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Output:
    """Means of windows. x: (N, C, ...). Raises: KernelShapeError. Source: ONNX AveragePool-22."""
    attributes = window_attributes("average_pool", kernel_shape, strides, pads, dilations, auto_pad)
    attributes |= {"ceil_mode": int(ceil_mode), "count_include_pad": int(count_include_pad)}
    return (await _pool("AveragePool", x, attributes))[0]


async def global_average_pool(x: Input) -> Output:
    """The mean of each plane: (N, C, ...) -> (N, C, 1, ...). Source: ONNX GlobalAveragePool-22."""
    return (await _pool("GlobalAveragePool", x, {}))[0]


async def global_max_pool(x: Input) -> Output:
    """The maximum of each plane: (N, C, ...) -> (N, C, 1, ...). Source: ONNX GlobalMaxPool-22."""
    return (await _pool("GlobalMaxPool", x, {}))[0]


async def resize(
    x: Input,
    *,
    scales: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    antialias: bool = False,
    exclude_outside: bool = False,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
    roi: Sequence[float] | None = None,
    extrapolation_value: float = 0.0,
) -> Output:
    """x at other sizes: `scales` or `sizes`, one number for each of x's axes (or of `axes`).

    mode: nearest, linear or cubic. Raises: KernelShapeError. Source: ONNX Resize-19.
    """
    attributes: dict[str, Attribute] = {
        "mode": mode,
        "coordinate_transformation_mode": coordinate_transformation_mode,
        "nearest_mode": nearest_mode,
        "cubic_coeff_a": cubic_coeff_a,
        "antialias": int(antialias),
        "exclude_outside": int(exclude_outside),
        "keep_aspect_ratio_policy": keep_aspect_ratio_policy,
        "extrapolation_value": extrapolation_value,
    }
    if axes is not None:
        attributes["axes"] = integers("resize", "axes", axes)
    inputs: dict[str, Input] = {
        "x": x,
        "roi": float32s("resize", "roi", roi),
        "scales": float32s("resize", "scales", scales),
        "sizes": int64s("resize", "sizes", sizes),
    }
    names = tuple(name if value is not None else "" for name, value in inputs.items())
    return (await run_nodes([Node("Resize", names, ("y",), attributes=attributes)], inputs, ["y"]))[0]


max_pool_sync = sync(max_pool)
average_pool_sync = sync(average_pool)
global_average_pool_sync = sync(global_average_pool)
global_max_pool_sync = sync(global_max_pool)
resize_sync = sync(resize)
