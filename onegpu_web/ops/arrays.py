"""Reductions and movements on arrays and Tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..graph.model import ELEMENT_TYPES, Attribute, Node
from .eager import Input, Output, run_nodes, sync


async def _one(op_type: str, inputs: dict[str, Input], attributes: dict[str, Attribute]) -> Output:
    names = tuple(name if value is not None else "" for name, value in inputs.items())
    return (await run_nodes([Node(op_type, names, ("y",), attributes=attributes)], inputs, ["y"]))[0]


def _ints(values: Sequence[int] | None) -> Input:
    return None if values is None else np.asarray(values, np.int64)


async def softmax(x: Input, *, axis: int = -1) -> Output:
    """exp(x) over its sum along an axis. Source: ONNX Softmax-13."""
    return await _one("Softmax", {"x": x}, {"axis": axis})


async def reduce_mean(x: Input, axes: Sequence[int] | None = None, *, keepdims: bool = True) -> Output:
    """Means over axes (None: all). Source: ONNX ReduceMean-18."""
    return await _one("ReduceMean", {"x": x, "axes": _ints(axes)}, {"keepdims": int(keepdims)})


async def concat(xs: Sequence[Input], *, axis: int) -> Output:
    """The arrays one after another along an axis. Source: ONNX Concat-13."""
    return await _one("Concat", {f"x{i}": x for i, x in enumerate(xs)}, {"axis": axis})


async def transpose(x: Input, *, perm: Sequence[int] | None = None) -> Output:
    """Axes in another order (None: reversed). Source: ONNX Transpose-21."""
    return await _one("Transpose", {"x": x}, {} if perm is None else {"perm": [int(axis) for axis in perm]})


async def pad(
    x: Input,
    pads: Sequence[int],
    *,
    mode: str = "constant",
    constant_value: float = 0.0,
    axes: Sequence[int] | None = None,
) -> Output:
    """x with borders; pads: begins, then ends, negative ones cut. mode: constant, edge, reflect, wrap.

    Source: ONNX Pad-21.
    """
    value = np.asarray(constant_value, str(getattr(x, "dtype", np.float32))) if mode == "constant" else None
    return await _one("Pad", {"x": x, "pads": _ints(pads), "value": value, "axes": _ints(axes)}, {"mode": mode})


async def slice_(
    x: Input,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
) -> Output:
    """x[starts:ends:steps] along axes. Source: ONNX Slice-13."""
    inputs = {"x": x, "starts": _ints(starts), "ends": _ints(ends), "axes": _ints(axes), "steps": _ints(steps)}
    return await _one("Slice", inputs, {})


async def cast(x: Input, dtype: str) -> Output:
    """x with another element type, by numpy's name. Source: ONNX Cast-21."""
    return await _one("Cast", {"x": x}, {"to": ELEMENT_TYPES.index(np.dtype(dtype).name)})


async def batch_normalization(
    x: Input, scale: Input, bias: Input, mean: Input, var: Input, *, epsilon: float = 1e-5
) -> Output:
    """(x - mean) / sqrt(var + epsilon) * scale + bias by channel. Source: ONNX BatchNormalization-15, inference."""
    inputs = {"x": x, "scale": scale, "bias": bias, "mean": mean, "var": var}
    return await _one("BatchNormalization", inputs, {"epsilon": epsilon})


softmax_sync = sync(softmax)
reduce_mean_sync = sync(reduce_mean)
concat_sync = sync(concat)
transpose_sync = sync(transpose)
pad_sync = sync(pad)
slice_sync = sync(slice_)
cast_sync = sync(cast)
batch_normalization_sync = sync(batch_normalization)
