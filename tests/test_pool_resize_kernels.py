"""PoolKernels, ResizeKernels and ResizePlan: a caller's buffers, offsets and scratch."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from onegpu_web.caps import Caps, Limits
from onegpu_web.device import Device
from onegpu_web.dtypes import FLOAT16, UINT8
from onegpu_web.errors import KernelShapeError
from onegpu_web.kernels.pool_kernels import PoolKernels
from onegpu_web.kernels.resize_kernels import ResizeKernels
from onegpu_web.plan import Recorder, Role
from onegpu_web.problems.pool import GlobalPoolProblem, PoolProblem
from onegpu_web.problems.resize import ResizeProblem
from onegpu_web.testing.reference.resize import resize

CUT = GlobalPoolProblem("average", (3, 2, 130, 140))
MAX_CUT = GlobalPoolProblem("max", (3, 2, 130, 140), x_offset=3, y_offset=1)
CUBIC = ResizeProblem((3, 2, 20, 24), scales=(1, 1, 2, 2), mode="cubic")
SIZED = ResizeProblem((3, 2, 20, 24), sizes=(3, 2, 33, 17), mode="cubic", x_offset=5, y_offset=3)


def kernels_for(problem: Any, caps: Caps) -> Any:
    return ResizeKernels(caps) if isinstance(problem, ResizeProblem) else PoolKernels(caps)


def compute(device: Device, problem: Any, scratch_elements: int | None = None, scratch_offset: int = 0) -> Any:
    """y's elements, and how many launches made them."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(problem.x_offset + math.prod(problem.x_shape)).astype(np.float32)
    recorder = Recorder(device.caps)
    source = recorder.buffer(x.nbytes, Role.INPUT)
    size = problem.y_offset + math.prod(problem.output_shape)
    target = recorder.buffer(4 * size, Role.OUTPUT)
    scratch = None if scratch_elements is None else recorder.buffer(4 * scratch_elements)
    kernels_for(problem, device.caps).encode(
        recorder, problem, source, target, scratch=scratch, scratch_offset=scratch_offset
    )
    y = np.zeros(size, np.float32)
    loaded = device.load_sync(recorder.finish())
    try:
        loaded.run_sync([x], [y])
    finally:
        loaded.destroy()
    return y[problem.y_offset :], len(loaded.plan.dispatches)


@pytest.mark.parametrize("problem", [CUT, MAX_CUT, CUBIC, SIZED], ids=["average", "max", "cubic", "sizes"])
def test_less_scratch_runs_in_chunks_with_the_same_bits(device: Device, problem: Any) -> None:
    scratch = kernels_for(problem, device.caps).scratch(problem)
    assert 0 < scratch.image < scratch.batch
    whole, launches = compute(device, problem)
    for elements, offset in ((scratch.batch, 0), (scratch.image, 0), (scratch.image + 7, 7), (2 * scratch.image, 0)):
        chunked, more = compute(device, problem, elements, offset)
        assert chunked.tobytes() == whole.tobytes()
        assert (more > launches) == (elements - offset < scratch.batch)


@pytest.mark.parametrize("problem", [CUT, CUBIC], ids=["average", "cubic"])
def test_less_than_one_image_needs_is_an_error_that_says_how_much(problem: Any) -> None:
    kernels = kernels_for(problem, Caps())
    recorder = Recorder()
    x, y, small = recorder.buffer(4 * 200_000), recorder.buffer(4 * 200_000), recorder.buffer(16)
    with pytest.raises(KernelShapeError, match=f"scratch must hold {kernels.scratch(problem).image + 2:,} float32"):
        kernels.encode(recorder, problem, x, y, scratch=small, scratch_offset=2)
    assert not recorder.finish().dispatches


def test_one_buffer_in_two_roles_is_refused() -> None:
    recorder = Recorder()
    x, y = recorder.buffer(1 << 20), recorder.buffer(1 << 20)
    with pytest.raises(KernelShapeError, match="resize: x and y must be separate buffers"):
        ResizeKernels().encode(recorder, CUBIC, x, x)
    with pytest.raises(KernelShapeError, match=r"resize: (y and scratch|scratch and y) must be separate"):
        ResizeKernels().encode(recorder, CUBIC, x, y, scratch=y)
    with pytest.raises(KernelShapeError, match=r"max_pool: (y and indices|indices and y) must be separate"):
        PoolKernels().encode(recorder, PoolProblem("max", (1, 1, 4), (2,), indices=True), x, y, y)


def test_buffers_must_hold_their_operands() -> None:
    recorder = Recorder()
    x, y = recorder.buffer(16), recorder.buffer(1 << 16)
    with pytest.raises(KernelShapeError, match="max_pool: x must hold 103 elements of float32"):
        PoolKernels().encode(recorder, PoolProblem("max", (1, 1, 100), (2,), x_offset=3), x, y)
    with pytest.raises(KernelShapeError, match="max_pool: indices must be left out"):
        PoolKernels().encode(recorder, PoolProblem("max", (1, 1, 4), (2,)), x, y, recorder.buffer(16))
    with pytest.raises(KernelShapeError, match="max_pool: indices must be given"):
        PoolKernels().encode(recorder, PoolProblem("max", (1, 1, 4), (2,), indices=True), x, y)
    assert not recorder.finish().dispatches


def test_describe_variant_and_scratch() -> None:
    half = Caps(features=frozenset({"shader-f16"}))
    assert PoolKernels(half).describe_variant(PoolProblem("max", (1, 2, 9, 9), (3, 3)), half=True) == "plain"
    assert PoolKernels().describe_variant(PoolProblem("max", (1, 2, 9, 9), (3, 3))) == "columns"
    assert PoolKernels().describe_variant(CUT) == "tree"
    assert PoolKernels(variant="plain").describe_variant(CUT) == "plain"
    assert ResizeKernels().describe_variant(CUBIC) == "separable"
    assert ResizeKernels(half).scratch(CUBIC, half=True).image == 2 * 20 * 48
    scratch = PoolKernels().scratch(PoolProblem("max", (1, 2, 9, 9), (3, 3)))
    assert (scratch.batch, scratch.image) == (0, 0)
    with pytest.raises(KernelShapeError, match="shader-f16"):
        ResizeKernels().describe_variant(CUBIC, half=True)


HALF = Caps(features=frozenset({"shader-f16"}))
HALVES = [
    PoolProblem("average", (1, 2, 9, 9), (3, 3), dtype=FLOAT16),
    GlobalPoolProblem("average", (1, 2, 9, 9), dtype=FLOAT16),
    ResizeProblem((1, 2, 20, 24), scales=(1, 1, 2, 2), mode="linear", dtype=FLOAT16),
]


@pytest.mark.parametrize("problem", HALVES, ids=lambda p: p.op)
@pytest.mark.parametrize(("own", "recorders"), [(Caps(), HALF), (HALF, Caps())], ids=["kernels", "recorder"])
def test_what_is_described_is_what_is_encoded(problem: Any, own: Caps, recorders: Caps) -> None:
    recorder = Recorder(recorders)
    x, y = recorder.buffer(1 << 16), recorder.buffer(1 << 16)
    kernels = kernels_for(problem, own)
    if own == HALF:
        assert kernels.describe_variant(problem)
    else:
        with pytest.raises(KernelShapeError, match="shader-f16"):
            kernels.describe_variant(problem)
    with pytest.raises(KernelShapeError, match="shader-f16"):
        kernels.encode(recorder, problem, x, y)
    if own == HALF and isinstance(problem, ResizeProblem):
        with pytest.raises(KernelShapeError, match="shader-f16"):
            kernels.plan(problem).encode(recorder, x, y)
    plan = recorder.finish()
    assert not plan.dispatches
    assert len(plan.buffers) == 2


@pytest.mark.parametrize("problem", [CUT, CUBIC], ids=["average", "cubic"])
@pytest.mark.parametrize("role", ["x", "y", "scratch"])
def test_a_buffer_beyond_one_binding_is_refused_before_anything_is_recorded(problem: Any, role: str) -> None:
    recorder = Recorder(Caps(replace(Limits(), max_buffer_size=2**31)))
    sizes = {name: 2**27 + 4 if name == role else 2**20 for name in ("x", "y", "scratch")}
    operands = {name: recorder.buffer(size) for name, size in sizes.items()}
    with pytest.raises(KernelShapeError, match=f"{problem.op}: {role}: a buffer must be at most 134,217,728 bytes"):
        kernels_for(problem, Caps()).encode(recorder, problem, **operands)
    recorder.caps = Caps(replace(Limits(), max_buffer_size=2**31, max_storage_buffer_binding_size=2**31))
    plan = recorder.finish()
    assert not plan.dispatches
    assert len(plan.buffers) == 3


def test_a_batch_gives_the_bits_of_its_images(device: Device) -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((3, 2, 130, 140)).astype(np.float32)

    def run(problem: GlobalPoolProblem, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        recorder = Recorder(device.caps)
        source, target = recorder.buffer(data.nbytes, Role.INPUT), recorder.buffer(8 * len(data), Role.OUTPUT)
        PoolKernels(device.caps).encode(recorder, problem, source, target)
        y = np.zeros((len(data), 2), np.float32)
        loaded = device.load_sync(recorder.finish())
        try:
            loaded.run_sync([data], [y])
        finally:
            loaded.destroy()
        return y

    together = run(CUT, x)
    alone = [run(GlobalPoolProblem("average", (1, 2, 130, 140)), image[None]) for image in x]
    assert together.tobytes() == np.concatenate(alone).tobytes()


def test_a_resize_plan_is_made_once_and_encoded_many_times(device: Device) -> None:
    plan = ResizeKernels(device.caps).plan(SIZED)
    rng = np.random.default_rng(7)
    recorder = Recorder(device.caps)
    arrays, outs = [], []
    scratch = recorder.buffer(4 * plan.scratch_elements)
    for _ in range(3):
        arrays.append(rng.standard_normal(5 + math.prod(SIZED.x_shape)).astype(np.float32))
        outs.append(np.zeros(3 + math.prod(SIZED.output_shape), np.float32))
        x, y = recorder.buffer(arrays[-1].nbytes, Role.INPUT), recorder.buffer(outs[-1].nbytes, Role.OUTPUT)
        plan.encode(recorder, x, y, scratch)
    loaded = device.load_sync(recorder.finish())
    try:
        loaded.run_sync(arrays, outs)
    finally:
        loaded.destroy()
    for x_flat, y_flat in zip(arrays, outs, strict=True):
        want = resize(SIZED, x_flat[5:].reshape(SIZED.x_shape)).ravel()
        assert np.abs(y_flat[3:] - want).max() < 1e-5 * np.abs(want).max()
    with pytest.raises(KernelShapeError, match="scratch must hold"):
        plan.encode(recorder, x, y)


def test_equal_tables_share_one_buffer() -> None:
    recorder = Recorder()
    x, y, scratch = recorder.buffer(1 << 20), recorder.buffer(1 << 20), recorder.buffer(4 * 2 * 20 * 48)
    ResizeKernels().encode(recorder, CUBIC, x, y, scratch)  # three chunks
    plan = recorder.finish()
    assert len(plan.dispatches) == 6
    assert [buffer.slot for buffer in plan.buffers if buffer.role is Role.CONSTANT] == list(plan.constants)
    assert len(plan.constants) == 1


def test_resizing_the_batch_itself_takes_all_its_scratch() -> None:
    problem = ResizeProblem((8, 9, 30), sizes=(20, 30, 30), mode="cubic")
    scratch = ResizeKernels().scratch(problem)
    assert scratch.batch == scratch.image > 0


def test_packed_elements_need_no_half_feature() -> None:
    problem = ResizeProblem((1, 4, 4), sizes=(1, 8, 8), dtype=UINT8)
    assert ResizeKernels().describe_variant(problem) == "plain"
