"""Operands of cases: flat arrays that start with the elements before an offset."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def normal(rng: np.random.Generator, shape: tuple[int, ...], offset: int, dtype: str, *, odd: bool = False) -> Array:
    """Random elements of `shape` behind `offset` others; `odd` puts NaN and infinities among them."""
    count = offset + math.prod(shape)
    if np.dtype(dtype).kind != "f":
        low = -9 if np.dtype(dtype).kind == "i" else 0
        return rng.integers(low, 10, count).astype(dtype)
    made = (2 * rng.standard_normal(count)).astype(dtype)
    if odd and count - offset >= 6:
        at = offset + rng.choice(count - offset, 6, replace=False)
        made[at] = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 100.0], dtype)
    return made


def bits(rng: np.random.Generator, shape: tuple[int, ...], offset: int, dtype: str) -> Array:
    """Any bit patterns, NaN payloads among them."""
    count = (offset + math.prod(shape)) * np.dtype(dtype).itemsize
    return rng.integers(0, 256, count, np.uint8).view(dtype)


def take(array: Array, shape: tuple[int, ...], offset: int) -> Array:
    """The operand without what lies before it, in its shape."""
    return array[offset : offset + math.prod(shape)].reshape(shape)
