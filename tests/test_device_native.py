"""The wgpu-py backend: the scenarios of every device, and what is its own."""

from __future__ import annotations

import asyncio

import pytest

from onegpu_web.caps import Limits
from onegpu_web.device import Device, request_device_sync
from onegpu_web.errors import DeviceError, DeviceLostError
from onegpu_web.testing.device_plans import floats, load_scale
from onegpu_web.testing.device_scenarios import SCENARIOS
from onegpu_web.testing.expectations import census, expect_steady

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(device: Device, name: str) -> None:
    asyncio.run(SCENARIOS[name](device))
    assert device.messages == []


def test_defaults_of_every_browser_are_what_an_empty_mapping_asks_for(device: Device) -> None:
    assert Limits.of(device.limits) == Limits() == device.caps.limits


def test_python_may_wait_without_an_event_loop(device: Device) -> None:
    plan, out = asyncio.run(load_scale(device, 2, 2.0)), floats(0, 0)
    for first in (1.0, 3.0):
        plan.run_sync([floats(first, 2)], [out])
        assert list(out) == [2 * first, 4.0]
    buffer, back = device.create_buffer(8), floats(0, 0)
    device.write(buffer, out)
    device.read_sync(buffer, back)
    assert back == out
    plan.destroy()


def test_300_waiting_runs_leave_nothing_behind(device: Device) -> None:
    plan, x, y = asyncio.run(load_scale(device, 100, 2.0, 3.0)), bytearray(400), bytearray(400)

    async def run_300_times() -> None:
        for _ in range(300):
            plan.run_sync([x], [y])

    asyncio.run(expect_steady(run_300_times, lambda: census(device, x, y, plan)))
    plan.destroy()


def test_a_device_that_the_driver_takes_away_is_lost() -> None:
    taken = request_device_sync(limits={})
    plan, buffer = asyncio.run(load_scale(taken, 2, 2.0)), taken.create_buffer(16)
    taken._raw.destroy()
    with pytest.raises(DeviceLostError, match="request a new one"):
        plan.run_sync([floats(1, 2)], [floats(0, 0)])
    with pytest.raises(DeviceLostError, match="request a new one"):
        taken.write(buffer, b"1234")
    plan.destroy()


def test_a_buffer_that_cannot_be_made_is_an_error(device: Device) -> None:
    before = device.live_buffers()
    with pytest.raises(DeviceError, match="create_buffer"):
        device._create(1 << 40, "huge")
    assert device.live_buffers() == before
