"""Assertions that run wherever the package does, in a browser too, where there is no pytest."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable

from ..device import Device
from ..errors import OnegpuError


def expect(actual: object, wanted: object, what: str = "result") -> None:
    """Raise AssertionError unless the two are equal."""
    if actual != wanted:
        raise AssertionError(f"{what} must be {wanted!r}, got {actual!r}")


async def expect_error(kind: type[OnegpuError], words: str, awaitable: Awaitable[object]) -> OnegpuError:
    """The error of `kind`, with `words` in its message, that `awaitable` must raise."""
    try:
        await awaitable
    except kind as error:
        if words not in str(error):
            raise AssertionError(f"{words!r} must be in the message, got {error}") from error
        return error
    raise AssertionError(f"{kind.__name__} must be raised")


async def later(call: Callable[..., object], *args: object) -> object:
    """`call(*args)`, once it is awaited."""
    return call(*args)


def census(device: Device, *objects: object) -> str:
    """How much is alive: GPU buffers, objects that Python's collector knows, references to `objects`."""
    gc.collect()
    references = ", ".join(str(sys.getrefcount(each)) for each in objects)
    return f"{device.live_buffers()} buffers, {len(gc.get_objects())} objects, references: {references}"


async def expect_steady(act: Callable[[], Awaitable[None]], count: Callable[[], str], rounds: int = 5) -> None:
    """Raise AssertionError unless `act` leaves `count` as it was in one of the rounds.

    Threads and caches of others may move a count once; what leaks moves it in every round.
    """
    counts = []
    for _ in range(rounds):
        await act()
        await asyncio.sleep(0.01)
        counts.append(count())
        if counts[-1:] == counts[-2:-1]:
            return
    raise AssertionError("what is alive must not grow, got\n" + "\n".join(counts))
