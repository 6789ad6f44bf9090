"""What every device must do, as asynchronous checks that run on the desktop and in a browser alike.

A scenario takes a device and raises AssertionError where the device does otherwise. `SCENARIOS` lists them by name.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Awaitable, Callable

from ..caps import Limits
from ..device import Device
from ..device.base import LoadedPlan
from ..errors import DeviceError, FeedError, KernelShapeError, OnegpuError, ShaderError
from ..plan import Launch, Recorder, Role, pack_params
from ..shader import Shader

Scenario = Callable[[Device], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}

SCALE = """
struct Params { count: u32, factor: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.count) { y[id.x] = params.factor * x[id.x]; }
}
"""


def scale_launch(count: int, factor: float) -> Launch:
    """y = factor * x over `count` float32."""
    shader = Shader("scale", SCALE, (64, 1, 1), 0)
    return Launch(shader, ("x",), ("y",), pack_params(count, factor), (-(-count // 64), 1, 1))


async def load_scale(device: Device, count: int, *factors: float) -> LoadedPlan:
    """A loaded plan that multiplies `count` float32 by each factor in turn, one dispatch a factor."""
    recorder = Recorder(device.caps)
    source = recorder.buffer(4 * count, Role.INPUT, "x")
    for index, factor in enumerate(factors):
        last = index == len(factors) - 1
        target = recorder.buffer(4 * count, Role.OUTPUT if last else Role.SCRATCH, f"y{index}")
        recorder.launch(scale_launch(count, factor), {"x": source, "y": target})
        source = target
    return await device.load(recorder.finish())


def floats(*values: float) -> array[float]:
    """A float32 array."""
    return array("f", values)


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


def scenario(check: Scenario) -> Scenario:
    """Enter `check` in SCENARIOS."""
    SCENARIOS[check.__name__] = check
    return check


@scenario
async def a_plan_runs(device: Device) -> None:
    plan = await load_scale(device, 3, 2.0, 4.0)
    out = floats(0, 0, 0)
    await plan.run([floats(1, 2, 3)], [out])
    plan.destroy()
    expect(list(out), [8.0, 16.0, 24.0])
