"""Small plans for tests of devices: they need no kernel of the package."""

from __future__ import annotations

from array import array

from ..device import Buffer, Device, LoadedPlan
from ..plan import Launch, Recorder, Role, pack_params
from ..shader import Shader

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

COUNT_UP = """
@group(0) @binding(0) var<storage, read_write> counter: array<u32>;
@group(0) @binding(1) var<uniform> params: vec4<u32>;
@compute @workgroup_size(1)
fn main() { counter[0] += params.x; }
"""

COPY = """
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: vec4<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.x) { y[id.x] = x[id.x]; }
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


async def load_counter(
    device: Device, counter: Buffer, step: int, *, setup: int = 0, reads_back: bool = False
) -> LoadedPlan:
    """A loaded plan that adds `step` to the first u32 of `counter` in each run, and `setup` when it is loaded.

    reads_back: let it also double one float32, so that a run has an input and an output.
    """
    recorder = Recorder(device.caps)
    shader = Shader("count_up", COUNT_UP, (1, 1, 1), 0)
    for recorder.setup, amount in ((True, setup), (False, step)):
        recorder.launch(Launch(shader, (), ("counter",), pack_params(amount), (1, 1, 1)), {"counter": counter})
    if reads_back:
        x, y = recorder.buffer(4, Role.INPUT, "x"), recorder.buffer(4, Role.OUTPUT, "y")
        recorder.launch(scale_launch(1, 2.0), {"x": x, "y": y})
    return await device.load(recorder.finish())


def floats(*values: float) -> array[float]:
    """A float32 array."""
    return array("f", values)
