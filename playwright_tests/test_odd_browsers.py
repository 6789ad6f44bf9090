"""Browsers that lack a part of WebGPU or throw odd things, and losses while shaders compile."""

from __future__ import annotations

import pytest

from .browser import Faults, Python
from .test_device import PREPARE
from .test_device_errors import WITHOUT_GPU


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("async () => { throw new TypeError('odd'); }", "requestAdapter failed: odd"),
        ("() => { throw new TypeError('odd'); }", "requestAdapter failed: odd"),
        ("async () => { throw 'a word'; }", "requestAdapter failed: a word"),
        ("async () => { throw undefined; }", "requestAdapter failed: undefined"),
        ("7", "requestAdapter failed"),
        ("async () => ({ get info() { throw new Error('hidden'); } })", "description failed: hidden"),
        ("async () => ({ requestDevice: async () => { throw null; } })", "requestDevice failed: null"),
    ],
)
def test_what_the_browser_throws_is_a_device_error(python: Python, answer: str, words: str) -> None:
    assert words in python(WITHOUT_GPU, break_gpu=f"navigator.gpu.requestAdapter = {answer}")
    python(PREPARE + "device.destroy()")


WITHOUT_WORDS = (
    PREPARE
    + """
from pyodide.code import run_js
device.destroy()
hide = run_js('''(value) => {
  const kept = Object.getOwnPropertyDescriptor(GPUAdapter.prototype, "info");
  Object.defineProperty(GPUAdapter.prototype, "info", { value: eval(`(${value})`), configurable: true });
  return () => Object.defineProperty(GPUAdapter.prototype, "info", kept);
}''')
restore = hide(info)
try:
    device = await request_device(limits={})
finally:
    restore()
plan, y = await load_scale(device, 2, 2.0), floats(0, 0)
await plan.run([floats(1, 2)], [y])
device.destroy()
return [device.info.vendor, device.info.architecture, device.info.device, device.info.description, list(y)]
"""
)


@pytest.mark.parametrize("info", ["undefined", "null", "{}", "{ vendor: '', architecture: undefined, device: null }"])
def test_an_adapter_without_words_works(python: Python, info: str) -> None:
    assert python(WITHOUT_WORDS, info=info) == ["", "", "", "", [2.0, 4.0]]


WITHOUT_COMPILATION_INFO = (
    PREPARE
    + """
from onegpu_web.errors import ShaderError
from onegpu_web.testing import device_plans
from pyodide.code import run_js
restore = run_js('''(() => {
  const kept = GPUShaderModule.prototype.getCompilationInfo;
  delete GPUShaderModule.prototype.getCompilationInfo;
  return () => (GPUShaderModule.prototype.getCompilationInfo = kept);
})()''')
try:
    plan, y = await load_scale(device, 2, 2.0), floats(0, 0)
    await plan.run([floats(1, 2)], [y])
    expect(list(y), [2.0, 4.0])
    device_plans.SCALE += "wrong"
    try:
        await expect_error(ShaderError, "wrong", load_scale(device, 2, 2.0))
    finally:
        device_plans.SCALE = device_plans.SCALE.removesuffix("wrong")
finally:
    restore()
device.destroy()
"""
)


def test_shaders_compile_where_compilers_say_nothing(python: Python, faults: Faults) -> None:
    python(WITHOUT_COMPILATION_INFO)
    faults.take()  # the browser's own words about the wrong text


LOST_WHILE_COMPILING = (
    PREPARE
    + """
import time
from pyodide.code import run_js
restore = run_js('''(() => {
  const kept = GPUDevice.prototype.createComputePipelineAsync;
  GPUDevice.prototype.createComputePipelineAsync = () => new Promise(() => {});
  return () => (GPUDevice.prototype.createComputePipelineAsync = kept);
})()''')
try:
    loads = asyncio.gather(*(load_scale(device, 2, scale) for scale in (2.0, 3.0)), return_exceptions=True)
    await asyncio.sleep(0.1)
    began = time.monotonic()
    device.destroy() if ours else device._js.gpu.destroy()
    kinds = [type(error).__name__ for error in await asyncio.wait_for(loads, 5)]
    return [kinds, time.monotonic() - began]
finally:
    restore()
"""
)


@pytest.mark.parametrize("ours", [True, False])
def test_loads_tell_of_a_loss_before_their_pipelines_are_there(python: Python, ours: bool) -> None:
    kinds, seconds = python(LOST_WHILE_COMPILING, ours=ours)
    assert kinds == ["DeviceLostError"] * 2
    assert seconds < 1
