"""Arrays above 2 GiB of wasm memory, and wasm memory that is used up."""

from __future__ import annotations

from .browser import Python

# Every array of some size that is made from here on lies above 2 GiB: low holes are filled by falling sizes.
RESERVE = """
import js
import numpy as np

def address(array):
    return np.frombuffer(array, np.uint8).__array_interface__["data"][0]

reserved = [np.zeros(100_000_000, np.uint8) for _ in range(22)]
for size in (20_000_000, 4_000_000, 1_000_000, 100_000, 10_000):
    while True:
        reserved.append(bytearray(size))
        if address(reserved[-1]) > 2**31:
            break
"""

ROUND_TRIP = (
    RESERVE
    + """
from onegpu_web import InferenceSession
from onegpu_web.device import request_device
from onegpu_web.testing.device_plans import load_scale
from onegpu_web.testing.expectations import expect

device = await request_device(limits={})
high = np.arange(250_001, dtype=np.float32) * np.float32(0.5)
out = np.zeros_like(high)
expect((address(high) > 2**31, address(out) > 2**31), (True, True), "above 2 GiB")
buffer = device.create_buffer(high.nbytes, "a label that is longer than what Pyodide copies character by character")
device.write(buffer, high)
await device.read(buffer, out)
expect(out.tobytes() == high.tobytes(), True, "bytes that went up and came back")
ragged, back = np.arange(200_003, dtype=np.uint8), np.zeros(200_003, np.uint8)
device.write(buffer, memoryview(ragged.tobytes()))
await device.read(buffer, back)
expect(back.tobytes() == ragged.tobytes(), True, "read-only bytes and a ragged tail")

plan = await load_scale(device, high.size, 2.0, 3.0)
out[:] = 0
await plan.run([high], [out])
expect(bool((out == high * 6).all()), True, "a run")
plan.run_sync([high], [out])

url = js.URL.new("/models/blazeface_back.onnx?" + "x" * 100, js.location.href).href
session = await InferenceSession.create(url, device=device)
feeds = {each.name: np.full(each.shape, 0.25, np.float32) for each in session.get_inputs()}
expect(min(address(array) for array in feeds.values()) > 2**31, True, "feeds above 2 GiB")
results = await session.run(None, feeds)
session.destroy()
device.destroy()
del reserved
return [[float(array.astype(np.float64).sum()), float(np.abs(array).max())] for array in results]
"""
)

LOW = """
import js, numpy as np
from onegpu_web import InferenceSession

session = await InferenceSession.create(js.URL.new("/models/blazeface_back.onnx", js.location.href).href)
results = await session.run(None, {each.name: np.full(each.shape, 0.25, np.float32) for each in session.get_inputs()})
session.destroy()
return [[float(array.astype(np.float64).sum()), float(np.abs(array).max())] for array in results]
"""

EXHAUSTED = """
import numpy as np
from onegpu_web import InferenceSession, errors
from onegpu_web.testing.expectations import expect, expect_error

import js
session = await InferenceSession.create(js.URL.new("/models/blazeface_back.onnx", js.location.href).href)
feeds = {each.name: np.full(each.shape, 0.25, np.float32) for each in session.get_inputs()}
before = await session.run(None, feeds)
held, size = [], 1 << 28
while size >= 1 << 12:
    try:
        held.append(np.zeros(size, np.uint8))
    except MemoryError:
        size >>= 1
error = await expect_error(errors.OutOfHostMemoryError, "run", session.run(None, feeds))
expect(isinstance(error, MemoryError), True, "a MemoryError as well")
held.clear()
after = await session.run(None, feeds)
session.destroy()
return [a.tobytes() == b.tobytes() for a, b in zip(before, after, strict=True)]
"""


def test_arrays_above_2_gib_cross_both_ways(python: Python) -> None:
    low = python(LOW)
    assert python(ROUND_TRIP) == low


def test_exhausted_wasm_memory_is_an_error_and_the_session_lives(python: Python) -> None:
    assert all(python(EXHAUSTED))
