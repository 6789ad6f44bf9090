"""Whole models on real input, and what a session costs, in Chromium."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from model_runs import TOLERANCES, model_runs, scaled_error, small_model
from onnx_models import values

from onegpu_web.testing.packing import pack, unpack

from .browser import Python
from .crossings import COUNTER

RUN_MODEL = (
    COUNTER
    + """
from onegpu_web import InferenceSession
from onegpu_web.device import request_device
from onegpu_web.testing.packing import pack, unpack

feeds = {name: unpack(text) for name, text in feeds.items()}
device = await request_device(limits={})
session = await InferenceSession.create(f"/models/{name}.onnx", device=device)
outputs = await session.run(None, feeds)
for compiled in session._plans.values():
    watch_plan(compiled.loaded)
device._js = counts.between(device._js)
own = device.counters
counts.take()
await session.run(None, feeds)
taken = list(counts.take())
own = {key: count - own[key] for key, count in device.counters.items()}
session.destroy()
left, messages = device.live_buffers(), device.messages
device.destroy()
return {"outputs": list(map(pack, outputs)), "taken": taken, "own": own, "left": left, "messages": messages}
"""
)


@pytest.fixture(scope="module")
def ran(start_python: Callable[..., Python]) -> Callable[[str], dict[str, Any]]:
    """What a model gave and cost in the page; each runs once."""

    @cache
    def run(name: str) -> dict[str, Any]:
        feeds = {key: pack(array) for key, array in model_runs()[name].feeds.items()}
        return start_python()(RUN_MODEL, name=name, feeds=feeds)

    return run


@pytest.mark.parametrize("name", TOLERANCES)
def test_agrees_with_onnxruntime(ran: Callable[[str], dict[str, Any]], name: str) -> None:
    outcome = ran(name)
    outputs = [unpack(text) for text in outcome["outputs"]]
    error = scaled_error(outputs, model_runs()[name].outputs)
    print(f"{name}: scaled error {error:.2e}")
    assert error <= TOLERANCES[name]
    assert {output.dtype for output in outputs} == {np.dtype(np.float32)}
    assert outcome["messages"] == []
    assert outcome["left"] == 0


@pytest.mark.parametrize("name", TOLERANCES)
def test_a_warm_run_is_one_call_one_submit_one_readback(ran: Callable[[str], dict[str, Any]], name: str) -> None:
    outcome = ran(name)
    assert outcome["taken"] == [1, 1, 1, 1]
    assert outcome["own"] == {"calls": 1, "submits": 1, "readbacks": 1}


COUNT_LEAKS = """
import base64
import pyodide_js
from onegpu_web.device import request_device
from onegpu_web.testing.packing import unpack
from onegpu_web.testing.session_scenarios import runs_leave_nothing_behind

module = pyodide_js._module
module.enable_pyproxy_allocation_tracing()

def count():
    return f"{module._hiwire_num_refs()} JS references, {module.pyproxy_alloc_map.size} proxies"

device = await request_device(limits={})
await runs_leave_nothing_behind(device, base64.b64decode(model), {"x": unpack(x)}, count)
left = device.live_buffers()
device.destroy()
module.disable_pyproxy_allocation_tracing()
return left
"""


def test_300_runs_leave_nothing_behind(python: Python) -> None:
    model = base64.b64encode(small_model()).decode()
    assert python(COUNT_LEAKS, model=model, x=pack(values(1, 4, 6, 5))) == 0
