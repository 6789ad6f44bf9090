"""What goes wrong on a browser's device, and waiting with and without JSPI."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .browser import Faults, Python
from .test_device import PREPARE

UNCAPTURED = """
device._js.gpu.createBuffer(js.JSON.parse('{"size": 16, "usage": 65535}'))
await asyncio.sleep(0.2)
call = {"run": lambda: plan.run([x], [y]), "read": lambda: device.read(buffer, y),
        "write": lambda: later(device.write, buffer, x), "create_buffer": lambda: later(device.create_buffer, 16),
        "load": lambda: load_scale(device, 2, 2.0)}[name]
error = await expect_error(DeviceError, "", call())
"""
WITH_PLAN = """
plan, buffer, x, y = await load_scale(device, 2, 2.0), device.create_buffer(16), floats(1, 2), floats(0, 0)
"""


@pytest.mark.parametrize("name", ["run", "read", "write", "create_buffer", "load"])
def test_an_uncaptured_error_is_raised_by_the_next_call(python: Python, faults: Faults, name: str) -> None:
    told = python(
        PREPARE
        + WITH_PLAN
        + UNCAPTURED
        + """
await call()
await plan.run([x], [y])
expect(list(y), [2.0, 4.0])
device.destroy()
return str(error)
""",
        name=name,
    )
    (seen,) = faults.take()
    assert "BufferUsage" in told
    assert told.strip() in seen


def test_an_error_of_a_run_is_raised_by_it_or_the_next_and_leaves_no_buffer(python: Python, faults: Faults) -> None:
    raised, buffers = python(
        PREPARE
        + WITH_PLAN
        + """
await plan.run([x], [y])
buffers = [device.live_buffers()]
plan._js.buffers[0].destroy()
raised = []
for _ in range(4):
    try:
        await plan.run([x], [y])
    except DeviceError as error:
        raised.append(str(error))
    await asyncio.sleep(0.2)
buffers.append(device.live_buffers())
device.destroy()
return raised, buffers
"""
    )
    assert len(raised) >= 3, "all runs but perhaps the first, whose error may come after its end"
    assert all("destroyed" in error for error in raised)
    assert buffers[1] <= buffers[0]
    assert faults.take()


def test_a_buffer_that_cannot_be_made_is_an_error_of_the_next_call(python: Python) -> None:
    told = python(
        PREPARE
        + """
device._js.createBuffer(1 << 40, "huge")
await asyncio.sleep(0.2)
error = await expect_error(DeviceError, "", later(device.create_buffer, 16))
device.destroy()
return str(error)
"""
    )
    assert "create_buffer of 1099511627776 bytes" in told


@pytest.mark.parametrize("during", [False, True])
def test_a_device_that_the_browser_takes_away_is_lost(python: Python, during: bool) -> None:
    python(
        PREPARE
        + WITH_PLAN
        + """
runs = asyncio.gather(*(plan.run([x], [y]) for _ in range(3 if during else 0)), return_exceptions=True)
await asyncio.sleep(0)
device._js.gpu.destroy()
expect([type(error) for error in await runs], [DeviceLostError] * (3 if during else 0))
if not during:
    await asyncio.sleep(0.1)
await expect_error(DeviceLostError, "request a new one", plan.run([x], [y]))
await expect_error(DeviceLostError, "request a new one", later(device.write, buffer, x))
await expect_error(DeviceLostError, "request a new one", load_scale(device, 2, 2.0))
plan.destroy()
expect(device.live_buffers(), 1, "live buffers")
fresh = await request_device(limits={})
again = await load_scale(fresh, 2, 2.0)
await again.run([x], [y])
expect(list(y), [2.0, 4.0])
fresh.destroy()
""",
        during=during,
    )


WITHOUT_GPU = (
    PREPARE
    + """
from pyodide.code import run_js
run_js(break_gpu)
try:
    return str(await expect_error(DeviceError, "", request_device()))
finally:
    run_js("delete navigator.gpu; delete navigator.gpu?.requestAdapter")
    device.destroy()
"""
)


@pytest.mark.parametrize(
    ("break_gpu", "words"),
    [
        ("Object.defineProperty(navigator, 'gpu', { value: undefined, configurable: true })", "no WebGPU"),
        ("navigator.gpu.requestAdapter = async () => null", "no GPU adapter"),
        ("navigator.gpu.requestAdapter = async () => { throw new TypeError('odd'); }", "odd"),
    ],
)
def test_no_gpu_is_a_device_error(python: Python, break_gpu: str, words: str) -> None:
    assert words in python(WITHOUT_GPU, break_gpu=break_gpu)
    python(PREPARE + "device.destroy()")


def test_compiler_warnings_are_kept(python: Python, faults: Faults) -> None:
    messages = python(
        PREPARE
        + """
from onegpu_web.testing import device_plans
device_plans.SCALE += "fn warned() { return; var x = 1; }"
try:
    for _ in range(2):
        (await load_scale(device, 2, 2.0)).destroy()
finally:
    device_plans.SCALE = device_plans.SCALE.removesuffix("fn warned() { return; var x = 1; }")
messages = device.messages
device.destroy()
return messages
"""
    )
    assert [("scale: warning" in message, "unreachable" in message) for message in messages] == [(True, True)]
    assert len(faults.take()) == 1


def test_a_shader_text_is_compiled_once(python: Python) -> None:
    counts = python(
        PREPARE
        + """
from pyodide.code import run_js
counts = run_js('''(() => {
  const counts = { modules: 0, pipelines: 0 };
  const { createShaderModule, createComputePipelineAsync } = GPUDevice.prototype;
  counts.restore = () => Object.assign(GPUDevice.prototype, { createShaderModule, createComputePipelineAsync });
  GPUDevice.prototype.createShaderModule = function (...args) {
    counts.modules++;
    return createShaderModule.apply(this, args);
  };
  GPUDevice.prototype.createComputePipelineAsync = function (...args) {
    counts.pipelines++;
    return createComputePipelineAsync.apply(this, args);
  };
  return counts;
})()''')
await asyncio.gather(*(load_scale(device, 2, 2.0, 3.0) for _ in range(3)))
await load_scale(device, 5, 4.0)
counts.restore()
device.destroy()
return [counts.modules, counts.pipelines]
"""
    )
    assert counts == [1, 1]


def test_numpy_arrays_of_any_type_and_shape_cross(python: Python) -> None:
    python(
        PREPARE
        + """
import numpy as np
buffer = device.create_buffer(64)
for shape in [(), (1,), (3, 5), (2, 1, 3), (0, 4)]:
    for dtype in ["float32", "float16", "int8", "uint8", "int32", "bool"]:
        data = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        out = np.ones_like(data)
        device.write(buffer, data)
        await device.read(buffer, out)
        expect((out.tobytes(), out.shape), (data.tobytes(), shape), f"{dtype} {shape}")
device.destroy()
"""
    )


SYNC = """
from onegpu_web.plan import Recorder, Role
from onegpu_web.testing.device_plans import scale_launch

device = request_device_sync(limits={})
recorder = Recorder(device.caps)
x, y = recorder.buffer(8, Role.INPUT, "x"), recorder.buffer(8, Role.OUTPUT, "y")
recorder.launch(scale_launch(2, 2.0), {"x": x, "y": y})
plan = device.load_sync(recorder.finish())
out = floats(0, 0)
plan.run_sync([floats(1, 2)], [out])
buffer, back = device.create_buffer(8), floats(0, 0)
device.write(buffer, out)
device.read_sync(buffer, back)
device.destroy()
return list(back)
"""


@pytest.mark.parametrize("where", ["worker", "page"])
def test_python_waits_where_webassembly_can_suspend(start_python: Callable[..., Python], where: str) -> None:
    assert start_python(where)(PREPARE + "device.destroy()" + SYNC) == [2.0, 4.0]


def test_python_is_told_to_await_where_it_cannot(start_python: Callable[..., Python]) -> None:
    python = start_python("worker", jspi=False)
    python(
        PREPARE
        + WITH_PLAN
        + """
import warnings
warnings.simplefilter("error")
for call, args in ((plan.run_sync, ([x], [y])), (device.read_sync, (buffer, y)), (request_device_sync, ())):
    await expect_error(DeviceError, "await the asynchronous function", later(call, *args))
    gc.collect()
await plan.run([x], [y])
expect(list(y), [2.0, 4.0])
device.destroy()
"""
    )
