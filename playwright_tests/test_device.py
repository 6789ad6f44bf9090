"""The browser backend: the scenarios of every device, and what is a browser's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onegpu_web.testing.device_scenarios import SCENARIOS

from .browser import Python
from .crossings import COUNTER

PREPARE = """
import asyncio, gc, js
from onegpu_web.device import request_device, request_device_sync
from onegpu_web.errors import DeviceError, DeviceLostError, FeedError
from onegpu_web.testing.device_plans import floats, load_scale
from onegpu_web.testing.device_scenarios import SCENARIOS
from onegpu_web.testing.expectations import census, expect, expect_error, expect_steady, later

device = await request_device(limits={})
"""

RUN_SCENARIOS = (
    PREPARE
    + """
from pyodide.ffi import can_run_sync
for name in names:
    await SCENARIOS[name](device)
messages = device.messages
device.destroy()
return {"messages": messages, "can_run_sync": can_run_sync(), "in_worker": not hasattr(js, "document")}
"""
)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(python: Python, name: str) -> None:
    assert python(RUN_SCENARIOS, names=[name])["messages"] == []


@pytest.mark.parametrize(("where", "jspi"), [("worker", False), ("page", True), ("page", False)])
def test_all_scenarios_elsewhere(start_python: Callable[..., Python], where: str, jspi: bool) -> None:
    outcome = start_python(where, jspi)(RUN_SCENARIOS, names=list(SCENARIOS))
    assert outcome == {"messages": [], "can_run_sync": jspi, "in_worker": where == "worker"}


COUNT_CROSSINGS = (
    PREPARE
    + COUNTER
    + """
device._js = counts.between(device._js)
plan = await load_scale(device, 1000, *[1.5] * dispatches)
watch_plan(plan)
own, taken = [], []
for _ in range(3):
    counts.take()
    before = device.counters
    counts.take()
    await plan.run([bytes(4000)], [bytearray(4000)])
    taken.append(list(counts.take()))
    own.append({name: count - before[name] for name, count in device.counters.items()})
plan.destroy()
device.destroy()
return {"taken": taken, "own": own}
"""
)


@pytest.mark.parametrize("dispatches", [1, 60])
def test_a_run_is_one_call_one_submit_one_readback(start_python: Callable[..., Python], dispatches: int) -> None:
    outcome = start_python("page")(COUNT_CROSSINGS, dispatches=dispatches)
    assert outcome["taken"] == [[1, 1, 1, 1]] * 3
    assert outcome["own"] == [{"calls": 1, "submits": 1, "readbacks": 1}] * 3


COUNT_LEAKS = (
    PREPARE
    + """
import pyodide_js

module = pyodide_js._module
module.enable_pyproxy_allocation_tracing()
plan, x, y = await load_scale(device, 100, 2.0, 3.0), bytearray(400), bytearray(400)
buffer = device.create_buffer(400)

async def act():
    for _ in range(300):
        if what == "run":
            await plan.run([x], [y])
        elif what == "run_sync":
            plan.run_sync([x], [y])
        elif what == "read":
            device.write(buffer, x)
            await device.read(buffer, y)
        else:
            await expect_error(FeedError, "", plan.run([x], [y, y]))
            device._js.free(device._js.createBuffer(400, "freed"))

def count():
    proxies, references = module.pyproxy_alloc_map.size, module._hiwire_num_refs()
    return f"{census(device, x, y, plan, buffer)}, {references} JS references, {proxies} proxies"

await expect_steady(act, count)
plan.destroy()
buffer.destroy()
left = count()
device.destroy()
module.disable_pyproxy_allocation_tracing()
return left
"""
)


@pytest.mark.parametrize("what", ["run", "run_sync", "read", "fail"])
def test_300_times_leave_nothing_behind(python: Python, what: str) -> None:
    after = python(COUNT_LEAKS, what=what)
    assert after.startswith("0 buffers")
