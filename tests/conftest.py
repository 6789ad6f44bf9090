"""Fixtures of the desktop tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from onegpu_web.device import Device, request_device_sync


@pytest.fixture(scope="session")
def device() -> Iterator[Device]:
    """A device with the limits that every browser grants and all useful features of the adapter."""
    made = request_device_sync(limits={})
    yield made
    made.destroy()
