"""What every session must do on every device; models come as bytes, since a page has no onnx package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..device import Device
from ..graph.session import InferenceSession
from .expectations import census, expect_steady


async def runs_leave_nothing_behind(
    device: Device, model: bytes, feeds: Mapping[str, np.ndarray[Any, Any]], count_more: Callable[[], str] = str
) -> None:
    """Run a session 300 times, again and again, until what is alive stays as it was.

    count_more: what else is alive, in words.
    Raises: AssertionError where it never does.
    """
    session = await InferenceSession.create(model, device=device)
    arrays = tuple(feeds.values())

    async def run_300_times() -> None:
        for _ in range(300):
            await session.run(None, feeds)

    await expect_steady(run_300_times, lambda: f"{census(device, session, *arrays)} {count_more()}")
    session.destroy()
