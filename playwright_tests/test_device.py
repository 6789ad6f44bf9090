"""The browser backend in a worker and in the page, with and without JSPI."""

from __future__ import annotations

import pytest

from onegpu_web.testing.device_scenarios import SCENARIOS

from .browser import Faults, Python

SCENARIO = """
    import asyncio, gc
    from onegpu_web.device import request_device
    from onegpu_web.testing.device_scenarios import SCENARIOS

    device = await request_device(limits={})
    await SCENARIOS[name](device)
    messages = device.messages
    device.destroy()
    return messages
"""


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(python: Python, faults: Faults, name: str) -> None:
    assert python(SCENARIO, name=name) == []
    print(faults.seen)
