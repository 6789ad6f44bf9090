"""What callers of `ops` give as plain Python, as ONNX attributes and constants; errors name operation and argument."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np

from ..errors import KernelShapeError
from ..graph.model import Array, Attribute


def integers(op: str, name: str, values: Sequence[int]) -> list[int]:
    """The integers of a list, numpy's included. Raises: KernelShapeError."""
    try:
        return [index(value) for value in values]
    except TypeError as error:
        raise KernelShapeError(f"{op}: {name} must be a list of integers, got {values!r}") from error


def int64s(op: str, name: str, values: Sequence[int] | None) -> Array | None:
    """The integers of a list as an input that shapes hang on; None stays None. Raises: KernelShapeError."""
    return None if values is None else constant(op, name, integers(op, name, values), "int64")


def float32s(op: str, name: str, values: Sequence[float] | None) -> Array | None:
    """The numbers of a list as an input that shapes hang on; None stays None. Raises: KernelShapeError."""
    return None if values is None else constant(op, name, values, "float32")


def constant(op: str, name: str, value: object, dtype: str) -> Array:
    """A number or a list of them as an array of `dtype`. Raises: KernelShapeError where it does not fit."""
    try:
        array: Array = np.asarray(value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise KernelShapeError(f"{op}: {name} must fit {dtype}, got {value!r}") from error
    return array


def element_type(x: object) -> str:
    """numpy's name for the type of an input's elements; what is no array is refused later."""
    return str(getattr(x, "dtype", "float32"))


def window_attributes(
    op: str,
    kernel_shape: Sequence[int] | None,
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
    auto_pad: str,
) -> dict[str, Attribute]:
    """ONNX attributes of a window; those that are None are left to ONNX's defaults. Raises: KernelShapeError."""
    given = {"kernel_shape": kernel_shape, "strides": strides, "pads": pads, "dilations": dilations}
    found: dict[str, Attribute] = {n: integers(op, n, value) for n, value in given.items() if value is not None}
    return found | {"auto_pad": auto_pad}
