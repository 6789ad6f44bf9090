"""64-bit integers are exact or refused in Chromium too."""

from __future__ import annotations

from .browser import Python

RUN = """
from onegpu_web.device import request_device
from onegpu_web.testing.session_scenarios import integers_are_exact_or_refused

device = await request_device(limits={})
await integers_are_exact_or_refused(device)
left = device.live_buffers()
device.destroy()
return left
"""


def test_integers_are_exact_or_refused(python: Python) -> None:
    assert python(RUN) == 0
