"""Devices: `request_device` gives the one for where Python runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from .base import Buffer, Device, DeviceInfo, LoadedPlan

__all__ = ["Buffer", "Device", "DeviceInfo", "LoadedPlan", "request_device", "request_device_sync"]


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
        from . import browser

        return browser.wait(browser.request(power_preference, features, limits))
    from . import native

    return native.request(power_preference, features, limits)
