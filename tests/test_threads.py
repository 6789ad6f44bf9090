"""Threads and overlapping calls on one session, one device and `ops` get their own answers."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from test_session import RESIDUAL_BLOCK, floats

from onegpu_web import InferenceSession, ops
from onegpu_web.device import request_device_sync

pytestmark = pytest.mark.gpu


def in_threads(count: int, jobs: list[Any]) -> list[Any]:
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


@pytest.mark.parametrize("threads", [4, 8])
def test_one_session_from_many_threads(threads: int) -> None:
    session = InferenceSession.create_sync(RESIDUAL_BLOCK)
    try:
        # Two shapes, so that threads also make plans.
        feeds = [{"x": floats(1, 3, 8 + i % 2, 8)} for i in range(16)]
        alone = [session.run_sync(None, feed)[0] for feed in feeds]
        answers = in_threads(threads, [lambda i=i: session.run_sync(None, feeds[i % 16])[0] for i in range(160)])
        for i, answer in enumerate(answers):
            assert answer.tobytes() == alone[i % 16].tobytes(), f"run {i}"
    finally:
        session.destroy()


def test_sessions_of_one_device_come_and_go_beside_a_running_one() -> None:
    device = request_device_sync()
    session = InferenceSession.create_sync(RESIDUAL_BLOCK, device=device)
    feeds = {"x": floats(1, 3, 8, 8)}
    (alone,) = session.run_sync(None, feeds)

    def come_and_go() -> Any:
        other = InferenceSession.create_sync(RESIDUAL_BLOCK, device=device)
        try:
            return other.run_sync(None, feeds)[0]
        finally:
            other.destroy()

    jobs = [come_and_go if i % 4 == 0 else lambda: session.run_sync(None, feeds)[0] for i in range(60)]
    answers = in_threads(4, jobs)
    assert all(answer.tobytes() == alone.tobytes() for answer in answers)
    session.destroy()
    assert device.live_buffers() == 0
    device.destroy()


def test_operations_from_many_threads() -> None:
    w = floats(4, 3, 3, 3)
    xs = [floats(1, 3, 9, 9) for _ in range(8)]
    alone = [ops.conv_sync(x, w) for x in xs]
    answers = in_threads(4, [lambda i=i: ops.conv_sync(xs[i % 8], w) for i in range(80)])
    for i, answer in enumerate(answers):
        assert answer.tobytes() == alone[i % 8].tobytes(), f"call {i}"


def test_a_hundred_kinds_of_calls_at_once() -> None:
    x, w = np.full((1, 1, 1, 1), -1, np.float32), np.ones((1, 1, 1, 1), np.float32)
    slopes = [(i + 1) / 128 for i in range(100)]

    async def together() -> list[Any]:
        return await asyncio.gather(*(ops.conv(x, w, activation=("leaky_relu", slope)) for slope in slopes))

    assert [float(y[0, 0, 0, 0]) for y in asyncio.run(together())] == [-slope for slope in slopes]


def test_cancelled_runs_leave_no_buffer() -> None:
    session = InferenceSession.create_sync(RESIDUAL_BLOCK)
    feeds = {"x": floats(1, 3, 8, 8)}
    (alone,) = session.run_sync(None, feeds)
    before = session.device.live_buffers()

    async def cancel() -> None:
        for _ in range(20):
            task = asyncio.create_task(session.run(None, feeds))
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    asyncio.run(cancel())
    assert session.device.live_buffers() <= before
    assert session.run_sync(None, feeds)[0].tobytes() == alone.tobytes()
    session.destroy()
