"""The wgpu-py backend: the scenarios of every device, and what is its own."""

from __future__ import annotations

import asyncio

import pytest

from onegpu_web.caps import Limits
from onegpu_web.device import Device, request_device_sync
from onegpu_web.errors import DeviceError, DeviceLostError
from onegpu_web.testing.device_scenarios import SCENARIOS, floats, load_scale

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(device: Device, name: str) -> None:
    asyncio.run(SCENARIOS[name](device))
    assert device.messages == []
