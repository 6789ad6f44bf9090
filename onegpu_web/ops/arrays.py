"""Reductions and movements on arrays and Tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import KernelShapeError
from ..graph.model import ELEMENT_TYPES, Attribute, Node
from .attributes import constant, element_type, int64s, integers
from .eager import Input, Output, run_nodes, sync


async def _one(op_type: str, inputs: dict[str, Input], attributes: dict[str, Attribute]) -> Output:
    names = tuple(name if value is not None else "" for name, value in inputs.items())
    return (await run_nodes([Node(op_type, names, ("y",), attributes=attributes)], inputs, ["y"]))[0]


async def softmax(x: Input, *, axis: int = -1) -> Output:
    """exp(x) over its sum along an axis. Source: ONNX Softmax-13."""
    return await _one("Softmax", {"x": x}, {"axis": axis})


async def reduce_mean(x: Input, axes: Sequence[int] | None = None, *, keepdims: bool = True) -> Output:
    """Means over axes (None: all). Source: ONNX ReduceMean-18."""
    return await _one("ReduceMean", {"x": x, "axes": int64s("reduce_mean", "axes", axes)}, {"keepdims": int(keepdims)})


async def concat(xs: Sequence[Input], *, axis: int) -> Output:
    """The arrays one after another along an axis. Source: ONNX Concat-13."""
    return await _one("Concat", {f"x{i}": x for i, x in enumerate(xs)}, {"axis": axis})


async def transpose(x: Input, *, perm: Sequence[int] | None = None) -> Output:
    """Axes in another order (None: reversed). Source: ONNX Transpose-21."""
    return await _one("Transpose", {"x": x}, {} if perm is None else {"perm": integers("transpose", "perm", perm)})


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
    value = constant("pad", "constant_value", constant_value, element_type(x)) if mode == "constant" else None
    places = {"pads": int64s("pad", "pads", pads), "value": value, "axes": int64s("pad", "axes", axes)}
    return await _one("Pad", {"x": x, **places}, {"mode": mode})


async def slice_(
    x: Input,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
) -> Output:
    """x[starts:ends:steps] along axes. Source: ONNX Slice-13."""
    given = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    places = {name: int64s("slice", name, values) for name, values in given.items()}
    return await _one("Slice", {"x": x, **places}, {})


async def cast(x: Input, dtype: str) -> Output:
    """x with another element type, by numpy's name. Raises: KernelShapeError. Source: ONNX Cast-21."""
    try:
        to = ELEMENT_TYPES.index(np.dtype(dtype).name)
    except (TypeError, ValueError) as error:
        raise KernelShapeError(f"cast: dtype must be a name of numpy's that ONNX has too, got {dtype!r}") from error
    return await _one("Cast", {"x": x}, {"to": to})


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
