"""Checks of sizes that the problems of pooling and resizing share."""

from __future__ import annotations

import math

from ..dtypes import DType
from ..errors import KernelShapeError

MOST_ELEMENTS = 2**31 - 1  # kernels index with 32 bits and leave a bit for signed arithmetic


def integers(op: str, field: str, value: tuple[int, ...], count: int, least: int) -> None:
    """Raise unless `value` is a tuple of `count` integers of at least `least`."""
    fits = isinstance(value, tuple) and len(value) == count
    if not fits or any(isinstance(v, bool) or not isinstance(v, int) or v < least for v in value):
        raise KernelShapeError(f"{op}: {field} must be {count} integers of at least {least}, got {value!r}")
    if max(value, default=0) > MOST_ELEMENTS:
        raise KernelShapeError(f"{op}: {field} must be below 2**31 (32-bit indices), got {value!r}")


def operand(op: str, name: str, shape: tuple[int, ...], offset: int, rank: str = "") -> None:
    """Raise unless `shape` holds non-negative integers and lies, from element `offset` on, in 32-bit reach."""
    if not isinstance(shape, tuple) or any(isinstance(v, bool) or not isinstance(v, int) or v < 0 for v in shape):
        raise KernelShapeError(f"{op}: {name}_shape must be non-negative integers{rank}, got {shape!r}")
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
        raise KernelShapeError(f"{op}: {name}_offset must be a non-negative integer, got {offset!r}")
    if offset + math.prod(shape) > MOST_ELEMENTS:
        raise KernelShapeError(
            f"{op}: {name} must end before element {MOST_ELEMENTS:,}, got {math.prod(shape):,} from {offset:,}"
        )


def one_of(op: str, field: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        raise KernelShapeError(f"{op}: {field} must be one of {', '.join(map(str, choices))}, got {value!r}")


def element_type(op: str, dtype: DType, choices: tuple[DType, ...]) -> None:
    """Raise unless `dtype` is one of `choices`."""
    if dtype not in choices:
        raise KernelShapeError(f"{op}: dtype must be one of {', '.join(d.name for d in choices)}, got {dtype.name}")
