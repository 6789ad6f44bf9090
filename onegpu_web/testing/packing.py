"""Arrays as text, to cross between a test and the page that it drives."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np


def pack(array: np.ndarray[Any, Any]) -> str:
    """An array, with its type and shape, as base64 of NumPy's own format."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode()


def unpack(text: str) -> np.ndarray[Any, Any]:
    """The array that `pack` made into text."""
    loaded: np.ndarray[Any, Any] = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    return loaded
