"""What every device must do, as asynchronous checks that run on the desktop and in a browser alike.

A scenario takes a device and raises AssertionError where the device does otherwise. `SCENARIOS` lists them by name.
"""

from __future__ import annotations

import asyncio
import gc
from array import array
from collections.abc import Awaitable, Callable

from ..caps import Limits
from ..device import Device, request_device
from ..errors import DeviceError, DeviceLostError, FeedError, KernelShapeError, ShaderError
from ..plan import Launch, Recorder, Role, pack_params
from ..shader import Shader
from .device_plans import COPY, SCALE, floats, load_counter, load_scale, scale_launch
from .expectations import census, expect, expect_error, expect_steady, later

Scenario = Callable[[Device], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(check: Scenario) -> Scenario:
    """Enter `check` in SCENARIOS."""
    SCENARIOS[check.__name__] = check
    return check


@scenario
async def a_plan_runs_again_and_again(device: Device) -> None:
    plan = await load_scale(device, 3, 2.0, 4.0)
    for first in (1.0, 5.0):
        out = floats(0, 0, 0)
        await plan.run([floats(first, 2, 3)], [out])
        expect(list(out), [8 * first, 16.0, 24.0])
    plan.destroy()


@scenario
async def buffers_hold_any_length_and_offset(device: Device) -> None:
    for length in (0, 1, 2, 3, 4, 5, 7, 64, 1021):
        for offset in (0, 4, 12):
            buffer = device.create_buffer(1040)
            device.write(buffer, b"\xff" * 1040)
            data = bytes(index % 251 + 1 for index in range(length))
            device.write(buffer, data, offset)
            out, around = bytearray(length), bytearray(1040)
            await device.read(buffer, out, offset)
            await device.read(buffer, around)
            buffer.destroy()
            expect(bytes(out), data, f"{length} bytes at {offset}")
            whole = b"\xff" * offset + data + bytes(-length % 4)
            expect(bytes(around), whole.ljust(1040, b"\xff"), f"all around {length} bytes at {offset}")


@scenario
async def new_buffers_are_zero(device: Device) -> None:
    out = bytearray(b"\xff" * 4000)
    await device.read(device.create_buffer(4000), out)
    expect(bytes(out), bytes(4000))


@scenario
async def ragged_inputs_and_outputs_cross_whole(device: Device) -> None:
    for length in (1, 2, 3, 4, 5, 63, 257):
        recorder = Recorder(device.caps)
        source, target = recorder.buffer(length, Role.INPUT, "x"), recorder.buffer(length, Role.OUTPUT, "y")
        words = -(-length // 4)
        launch = Launch(Shader("copy", COPY, (64, 1, 1), 0), ("x",), ("y",), pack_params(words), (2, 1, 1))
        recorder.launch(launch, {"x": source, "y": target})
        plan = await device.load(recorder.finish())
        data, out = bytes(range(1, length + 1)) if length < 255 else bytes(length), bytearray(b"\xff" * length)
        await plan.run([data], [out])
        plan.destroy()
        expect(bytes(out), data, f"{length} bytes")


@scenario
async def two_plans_keep_apart(device: Device) -> None:
    double, triple = await load_scale(device, 2, 2.0), await load_scale(device, 2, 3.0)
    for _ in range(2):
        first, second = floats(0, 0), floats(0, 0)
        await double.run([floats(1, 2)], [first])
        await triple.run([floats(1, 2)], [second])
        expect((list(first), list(second)), ([2.0, 4.0], [3.0, 6.0]))
    double.destroy()
    third = floats(0, 0)
    await triple.run([floats(5, 6)], [third])
    triple.destroy()
    expect(list(third), [15.0, 18.0])


@scenario
async def concurrent_runs_see_their_own_inputs(device: Device) -> None:
    plan = await load_scale(device, 1000, 2.0, 0.5, 3.0)
    outs = [array("f", bytes(4000)) for _ in range(8)]
    await asyncio.gather(*(plan.run([array("f", [index] * 1000)], [out]) for index, out in enumerate(outs)))
    plan.destroy()
    for index, out in enumerate(outs):
        expect(set(out), {3.0 * index}, f"run {index}")


@scenario
async def concurrent_loads_share_shaders(device: Device) -> None:
    plans = await asyncio.gather(*(load_scale(device, 2, factor) for factor in (2.0, 3.0, 4.0)))
    for factor, plan in zip((2.0, 3.0, 4.0), plans, strict=True):
        out = floats(0, 0)
        await plan.run([floats(1, 10)], [out])
        plan.destroy()
        expect(list(out), [factor, 10 * factor])


@scenario
async def wrong_arrays_are_feed_errors(device: Device) -> None:
    plan, good, out = await load_scale(device, 2, 2.0), floats(1, 2), floats(0, 0)
    strided = memoryview(bytearray(16))[::2]
    for words, inputs, outputs in (
        ("inputs must be 1 arrays, got 0", [], [out]),
        ("outputs must be 1 arrays, got 2", [good], [out, out]),
        ("inputs[0] must be 8 bytes, got 12", [floats(1, 2, 3)], [out]),
        ("outputs[0] must be 8 bytes, got 4", [good], [floats(0)]),
        ("inputs[0] must be C-contiguous", [strided], [out]),
        ("outputs[0] must be C-contiguous", [good], [strided]),
        ("outputs[0] must be writable", [good], [bytes(8)]),
        ("inputs[0] must have the buffer protocol, got list", [[1.0, 2.0]], [out]),
    ):
        await expect_error(FeedError, words, plan.run(inputs, outputs))
    await plan.run([good], [out])
    plan.destroy()
    expect(list(out), [2.0, 4.0])


@scenario
async def ranges_are_checked(device: Device) -> None:
    buffer = device.create_buffer(16)
    await expect_error(KernelShapeError, "got offset 2", device.read(buffer, bytearray(4), 2))
    await expect_error(KernelShapeError, "got offset 12 and 8", device.read(buffer, bytearray(8), 12))
    await expect_error(KernelShapeError, "got offset -4", device.read(buffer, bytearray(4), -4))
    await expect_error(KernelShapeError, "got offset 16", later(device.write, buffer, b"1", 16))
    await expect_error(FeedError, "writable", device.read(buffer, bytes(4)))
    limit = device.caps.limits.max_buffer_size
    await expect_error(KernelShapeError, "at most", later(device.create_buffer, limit + 4))
    await expect_error(KernelShapeError, "non-negative", later(device.create_buffer, -1))


@scenario
async def destroyed_things_are_refused(device: Device) -> None:
    plan, buffer = await load_scale(device, 2, 2.0), device.create_buffer(16)
    plan.destroy()
    plan.destroy()
    buffer.destroy()
    buffer.destroy()
    await expect_error(DeviceError, "plan was destroyed", plan.run([floats(1, 2)], [floats(0, 0)]))
    await expect_error(DeviceError, "live one", later(device.write, buffer, b"1234"))
    await expect_error(DeviceError, "live one", device.read(buffer, bytearray(4)))
    await expect_error(DeviceError, "live one", load_counter(device, buffer, 1))


@scenario
async def a_plan_destroyed_while_it_runs_says_so(device: Device) -> None:
    for _ in range(20):  # until a run is still going when its plan goes: on the desktop its first step may end it
        plan = await load_scale(device, 1_000_000, 2.0, 3.0, 4.0)
        run = asyncio.ensure_future(plan.run([bytes(4_000_000)], [bytearray(4_000_000)]))
        await asyncio.sleep(0)
        over = run.done()
        plan.destroy()
        if not over:
            await expect_error(DeviceError, "the plan was destroyed while it ran", run)
            break
        await run
    expect(over, False, "the run being over at once")
    await a_plan_runs_again_and_again(device)


@scenario
async def buffers_of_another_device_are_refused(device: Device) -> None:
    other = await request_device(limits={})
    buffer = other.create_buffer(16)
    await expect_error(DeviceError, "of this device", load_counter(device, buffer, 1))
    await expect_error(DeviceError, "of this device", device.read(buffer, bytearray(4)))
    other.destroy()


@scenario
async def a_buffer_destroyed_under_a_plan_is_a_device_error(device: Device) -> None:
    buffer = device.create_buffer(16)
    plan = await load_counter(device, buffer, 1, reads_back=True)
    buffer.destroy()
    await expect_error(DeviceError, "destroyed", plan.run([floats(1)], [floats(0)]))
    plan.destroy()
    await a_plan_runs_again_and_again(device)


@scenario
async def setup_runs_once_and_external_buffers_are_shared(device: Device) -> None:
    buffer = device.create_buffer(16)
    plans = [await load_counter(device, buffer, step, setup=100) for step in (1, 10)]
    for plan in plans * 3:
        await plan.run([], [])
    out = array("I", [0])
    await device.read(buffer, out)
    for plan in plans:
        plan.destroy()
    expect(out[0], 233)


@scenario
async def constants_are_there_in_every_run(device: Device) -> None:
    recorder = Recorder(device.caps)
    tables = [recorder.constant(floats(1, 2, 3).tobytes()), recorder.constant(floats(4, 5, 6).tobytes() + b"123")]
    for table in tables:
        target = recorder.buffer(12, Role.OUTPUT)
        recorder.launch(scale_launch(3, 2.0), {"x": table, "y": target})
    plan = await device.load(recorder.finish())
    for _ in range(2):
        first, second = floats(0, 0, 0), floats(0, 0, 0)
        await plan.run([], [first, second])
        expect((list(first), list(second)), ([2.0, 4.0, 6.0], [8.0, 10.0, 12.0]))
    plan.destroy()


@scenario
async def a_shader_error_shows_the_numbered_text(device: Device) -> None:
    before = device.live_buffers()
    text = SCALE.replace("params.factor *", "params.absent *")
    recorder = Recorder(device.caps)
    x, y = recorder.buffer(16, Role.INPUT), recorder.buffer(16, Role.OUTPUT)
    launch = Launch(Shader("broken", text, (64, 1, 1), 0), ("x",), ("y",), pack_params(4, 1.0), (1, 1, 1))
    recorder.launch(launch, {"x": x, "y": y})
    for _ in range(2):
        error = await expect_error(ShaderError, "absent", device.load(recorder.finish()))
        expect(
            "   8 |   if (id.x < params.count) { y[id.x] = params.absent * x[id.x]; }" in str(error), True, str(error)
        )
    expect(device.live_buffers(), before, "live buffers")
    await a_plan_runs_again_and_again(device)


@scenario
async def runs_are_timed_where_the_device_can(device: Device) -> None:
    plan = await load_scale(device, 1000, 2.0, 3.0)
    expect(plan.gpu_ms, None, "gpu_ms before a run")
    await plan.run([bytes(4000)], [bytearray(4000)])
    if "timestamp-query" in device.features:
        expect(plan.gpu_ms is not None and 0 <= plan.gpu_ms < 60_000, True, f"gpu_ms {plan.gpu_ms}")
        times = await plan.measure(3)
        expect([len(run) for run in times], [2, 2, 2], "measured dispatches")
        expect(all(0 <= ms < 60_000 for run in times for ms in run), True, f"times {times}")
    else:
        expect(plan.gpu_ms, None, "gpu_ms")
        await expect_error(DeviceError, "timestamp-query", plan.measure(1))
    plan.destroy()


@scenario
async def a_destroyed_device_is_lost_and_a_new_one_works(device: Device) -> None:
    lost = await request_device(limits={})
    plan, buffer = await load_scale(lost, 2, 2.0), lost.create_buffer(16)
    lost.destroy()
    await expect_error(DeviceLostError, "request a new one", plan.run([floats(1, 2)], [floats(0, 0)]))
    await expect_error(DeviceLostError, "request a new one", later(lost.write, buffer, b"1234"))
    await expect_error(DeviceLostError, "request a new one", lost.read(buffer, bytearray(4)))
    await expect_error(DeviceLostError, "request a new one", later(lost.create_buffer, 16))
    await expect_error(DeviceLostError, "request a new one", load_scale(lost, 2, 2.0))
    expect(lost.live_buffers(), 0, "live buffers")
    plan.destroy()
    buffer.destroy()
    lost.destroy()
    fresh = await request_device(limits={})
    await a_plan_runs_again_and_again(fresh)
    fresh.destroy()


@scenario
async def requests_are_checked(device: Device) -> None:
    await expect_error(DeviceError, "no-such-feature", request_device(features=["no-such-feature"]))
    await expect_error(DeviceError, "no_such_limit", request_device(limits={"no_such_limit": 1}))
    await expect_error(DeviceError, "max_buffer_size", request_device(limits={"max_buffer_size": 1 << 60}))
    plain = await request_device(features=[], limits={})
    expect((plain.features, Limits.of(plain.limits)), (frozenset(), Limits()), "features and limits")
    await a_plan_runs_again_and_again(plain)
    plain.destroy()
    wide = await request_device()
    expect(wide.caps.limits.max_buffer_size >= Limits().max_buffer_size, True, f"limits {wide.limits}")
    wide.destroy()


@scenario
async def runs_leave_nothing_behind(device: Device) -> None:
    plan, x, y = await load_scale(device, 100, 2.0, 3.0), bytearray(400), bytearray(400)

    async def run_300_times() -> None:
        for _ in range(300):
            await plan.run([x], [y])

    await expect_steady(run_300_times, lambda: census(device, x, y, plan))
    plan.destroy()


@scenario
async def what_nobody_holds_is_freed(device: Device) -> None:
    gc.collect()
    before = device.live_buffers()
    held, plan = device.create_buffer(16), await load_scale(device, 2, 2.0)
    await plan.run([floats(1, 2)], [floats(0, 0)])
    expect(device.live_buffers() > before, True, "a buffer and a plan are counted")
    del held, plan
    gc.collect()
    expect(device.live_buffers(), before, "live buffers")
