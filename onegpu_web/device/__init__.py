"""Devices: `request_device` gives the one for where Python runs."""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from ..errors import DeviceError
from .base import WAITING, Buffer, Device, DeviceInfo, LoadedPlan

__all__ = [
    "Buffer",
    "Device",
    "DeviceInfo",
    "LoadedPlan",
    "request_device",
    "request_device_sync",
    "wait",
]

T = TypeVar("T")


async def request_device(
    *,
    power_preference: str = "high-performance",
    features: Sequence[str] | None = None,
    limits: Mapping[str, int] | None = None,
) -> Device:
    """A GPU device: the browser's under Pyodide, wgpu-py's elsewhere.

    power_preference: `high-performance` or `low-power`. features: WebGPU feature names that must be
    there; None for all useful ones that the adapter has. limits: in snake_case, over the defaults that
    every browser grants; None for the adapter's own.
    Raises: DeviceError where there is no WebGPU, no adapter, or a feature or limit is not to be had.
    """
    if sys.platform == "emscripten":
        from . import browser

        return await browser.request(power_preference, features, limits)
    return request_device_sync(power_preference=power_preference, features=features, limits=limits)


def request_device_sync(
    *,
    power_preference: str = "high-performance",
    features: Sequence[str] | None = None,
    limits: Mapping[str, int] | None = None,
) -> Device:
    """The same, waiting; in a browser only where Pyodide can suspend (JSPI)."""
    if sys.platform == "emscripten":
        return wait(request_device(power_preference=power_preference, features=features, limits=limits))
    from . import native

    return native.request(power_preference, features, limits)


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine of this package, waiting for it.

    On the desktop they block instead of suspending while WAITING is set. In a browser it takes JSPI and
    an entry point that may suspend; else DeviceError says to await.
    """
    if sys.platform == "emscripten":
        from . import browser

        result: T = browser.wait(coroutine)
        return result
    token = WAITING.set(True)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        WAITING.reset(token)
    coroutine.close()
    raise DeviceError("wait: the coroutine suspended; await it instead")
