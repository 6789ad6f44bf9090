"""Tensors: arrays that stay on the GPU between operations."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..device import Buffer, Device, request_device, wait
from ..errors import DeviceError, FeedError
from ..graph.compiled import to_storage
from ..graph.lowering import storage
from ..graph.model import Array

_default: list[Device] = []
_default_lock = threading.Lock()


async def default_device() -> Device:
    """The device that operations on numpy arrays share, requested when first needed."""
    with _default_lock:
        if _default:
            return _default[0]
    made = await request_device()
    with _default_lock:
        if not _default:
            _default.append(made)
        chosen = _default[0]
    if chosen is not made:  # another call was first
        made.destroy()
    return chosen


def forget_default_device() -> None:
    """Let the next operation request a new device, as after a loss."""
    with _default_lock:
        _default.clear()


class Tensor:
    """An array on a device: buffer, numpy's dtype name and shape. `destroy` frees it."""

    __slots__ = ("buffer", "dtype", "shape")

    def __init__(self, buffer: Buffer, dtype: str, shape: tuple[int, ...]) -> None:
        self.buffer = buffer
        self.dtype = dtype
        self.shape = shape

    @classmethod
    async def from_numpy(cls, array: Array, device: Device | None = None) -> Tensor:
        """A copy of `array` on a device (default: the shared one). int64 is held as int32, bool as uint32.

        Raises: UnsupportedError for types that the GPU lacks, FeedError for int64 beyond 32 bits and for what
        is no array.
        """
        if not isinstance(array, (np.ndarray, np.generic)):
            raise FeedError(f"tensor: array must be a numpy array, got {type(array).__name__}")
        device = device or await default_device()
        stored = to_storage("tensor", array)
        buffer = device.create_buffer(stored.nbytes, "tensor")
        if stored.nbytes:
            device.write(buffer, stored.reshape(-1).view(np.uint8))
        return cls(buffer, str(array.dtype), array.shape)

    @classmethod
    def from_numpy_sync(cls, array: Array, device: Device | None = None) -> Tensor:
        """`from_numpy`, waiting."""
        return wait(cls.from_numpy(array, device))

    async def numpy(self) -> Array:
        """A copy in host memory."""
        out = np.empty(self.shape, storage(self.dtype).name)
        if self.buffer.handle is None:
            raise DeviceError("numpy: the tensor was destroyed")
        if out.nbytes:
            await self.buffer.device.read(self.buffer, out.reshape(-1).view(np.uint8))
        result: np.ndarray[Any, Any] = out.astype(self.dtype, copy=False)
        return result

    def numpy_sync(self) -> Array:
        """`numpy`, waiting."""
        return wait(self.numpy())

    def destroy(self) -> None:
        """Free the GPU memory now."""
        self.buffer.destroy()

    def __repr__(self) -> str:
        return f"Tensor({self.dtype}, {self.shape})"
