"""What every session must do on every device; models come as bytes, since a page has no onnx package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import ops
from ..device import Device
from ..errors import UnsupportedError
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


async def integers_are_exact_or_refused(device: Device) -> None:
    """Results of int64 that fit 32 bits come out; a call with any that does not raises.

    Raises: AssertionError.
    """
    most, nan = 2**31 - 1, float("nan")
    cases: list[tuple[Callable[..., Any], list[Any], list[Any] | None]] = [
        (ops.add, [_whole([most, -5]), _whole([0, 7])], [most, 2]),
        (ops.add, [_whole([most, -5]), _whole([1, 7])], None),
        (ops.sub, [_whole([-most, 3]), _whole([1, 7])], [-most - 1, -4]),
        (ops.sub, [_whole([-most, 3]), _whole([2, 7])], None),
        (ops.mul, [_whole([30000, -3]), _whole([70000, 7])], [2100000000, -21]),
        (ops.mul, [_whole([70000, -3]), _whole([70000, 7])], None),
        (ops.pow_, [_whole([70000, 2]), _whole([1, 30])], [70000, 2**30]),
        (ops.pow_, [_whole([70000, 2]), _whole([3, 30])], None),
        (ops.neg, [_whole([-most - 1])], None),
        (ops.abs_, [_whole([-most, 4])], [most, 4]),
        (_to_int64, [_floats([2147483520, -1.75])], [2147483520, -1]),
        *((_to_int64, [_floats([1.0, number])], None) for number in (3e9, -1e20, np.inf, nan)),
    ]
    for call, operands, wanted in cases:
        tensors = [await ops.Tensor.from_numpy(operand, device) for operand in operands]
        got = None
        try:
            result = await call(*tensors)
            got = (await result.numpy()).tolist()
            result.destroy()
        except UnsupportedError:
            pass
        assert got == wanted, f"{call.__name__} of {operands}: {got}, not {wanted}"
        for tensor in tensors:
            tensor.destroy()


async def _to_int64(x: Any) -> Any:
    return await ops.cast(x, "int64")


def _whole(values: list[int]) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


def _floats(values: list[float]) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)
