"""Plans: recorded, checked and folded without a GPU."""

from __future__ import annotations

import dataclasses
import json
import struct
from typing import Any

import pytest

from onegpu_web.caps import Caps, Limits
from onegpu_web.device import wire
from onegpu_web.errors import KernelShapeError
from onegpu_web.plan import Launch, Plan, Recorder, Role, fold_grid, grid, pack_params, separate
from onegpu_web.shader import Shader

SHADER = Shader("add", "text", (64, 1, 1), 0)


class Foreign:
    """A device's buffer, as far as a plan cares."""

    size_bytes = 64


def launch(**changes: Any) -> Launch:
    plain = Launch(SHADER, ("x", "w"), ("y",), pack_params(1), (1, 1, 1), "add it")
    return dataclasses.replace(plain, **changes)


def record(**changes: Any) -> Plan:
    recorder = Recorder()
    x, w, y = (recorder.buffer(16, role) for role in (Role.INPUT, Role.SCRATCH, Role.OUTPUT))
    recorder.launch(launch(**changes), {"x": x, "w": w, "y": y})
    return recorder.finish()


def test_names_become_slots_in_the_order_of_the_bindings() -> None:
    (dispatch,) = record().dispatches
    assert (dispatch.reads, dispatch.writes, dispatch.label) == ((0, 1), (2,), "add it")


def test_buffers_are_padded_and_transfers_are_not() -> None:
    recorder = Recorder()
    recorder.buffer(5, Role.INPUT)
    recorder.buffer(18, Role.OUTPUT)
    plan = recorder.finish()
    assert [buffer.size_bytes for buffer in plan.buffers] == [16, 20]
    assert [(t.slot, t.size_bytes) for t in (*plan.uploads, *plan.readbacks)] == [(0, 5), (1, 18)]


def test_absent_operands_share_one_stand_in() -> None:
    recorder = Recorder()
    y = recorder.buffer(16, Role.OUTPUT)
    recorder.launch(launch(), {"x": None, "y": y})
    plan = recorder.finish()
    assert plan.dispatches[0].reads == (1, 1)
    assert plan.buffers[1].size_bytes == 16


def test_a_device_buffer_has_one_slot() -> None:
    recorder, foreign = Recorder(), Foreign()
    y = recorder.buffer(16, Role.OUTPUT)
    for _ in range(2):
        recorder.launch(launch(), {"x": foreign, "w": foreign, "y": y})
    plan = recorder.finish()
    assert [dispatch.reads for dispatch in plan.dispatches] == [(1, 1), (1, 1)]
    assert dict(plan.externals) == {1: foreign}
    assert plan.buffers[1].role is Role.EXTERNAL


def test_setup_dispatches_are_apart() -> None:
    recorder = Recorder()
    x, y = recorder.buffer(16, Role.INPUT), recorder.buffer(16, Role.CONSTANT)
    recorder.setup = True
    recorder.launch(launch(label="once"), {"x": x, "y": y})
    recorder.setup = False
    recorder.launch(launch(label="always"), {"x": x, "y": y})
    plan = recorder.finish()
    assert [d.label for d in plan.setup] == ["once"]
    assert [d.label for d in plan.dispatches] == ["always"]


@pytest.mark.parametrize("operand", ["plan", "device"])
def test_one_buffer_may_not_be_read_and_written(operand: str) -> None:
    recorder = Recorder()
    both = recorder.buffer(64, Role.SCRATCH) if operand == "plan" else Foreign()
    recorder.launch(launch(), {"x": both, "y": both})
    with pytest.raises(KernelShapeError, match="add it: a dispatch must bind no buffer both for reading and for writ"):
        recorder.finish()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"writes": ("y", "y")}, "bind no buffer twice for writing"),
        ({"reads": ("x",) * 8}, "bind no more storage buffers than the limit"),
        ({"shader": Shader("s", "", (64, 1, 1), 16_388)}, "fit the workgroup memory"),
        ({"shader": Shader("s", "", (16, 17, 1), 0)}, "fit the invocations"),
        ({"shader": Shader("s", "", (0, 1, 1), 0)}, "fit the invocations"),
        ({"workgroups": (65_536, 1, 1)}, "fit the grid"),
        ({"workgroups": (1, 1, 0)}, "fit the grid"),
        ({"params": b""}, "have params"),
        ({"params": bytes(20)}, "have params"),
    ],
)
def test_the_check_names_the_broken_rule(changes: dict[str, Any], rule: str) -> None:
    with pytest.raises(KernelShapeError, match=f"add it: a dispatch must {rule}"):
        record(**changes)


def test_the_check_knows_the_device() -> None:
    plan = record(shader=Shader("s", "", (16, 16, 1), 16_384))
    plan.check(Caps())
    with pytest.raises(KernelShapeError, match="workgroup memory"):
        plan.check(Caps(Limits(max_compute_workgroup_storage_size=8_192)))


def test_buffers_fit_the_device() -> None:
    recorder = Recorder()
    recorder.buffer(134_217_732, Role.SCRATCH, "big")
    with pytest.raises(KernelShapeError, match="big: a buffer must be at most 134,217,728 bytes"):
        recorder.finish()


def test_params_are_scalars_of_four_bytes() -> None:
    packed = pack_params(1, -1, 0.5, 0xFFFFFFFF, 7)
    assert packed == struct.pack("<IifII", 1, -1, 0.5, 0xFFFFFFFF, 7).ljust(32, b"\0")
    assert len(pack_params()) == 16


@pytest.mark.parametrize("workgroups", [0, 1, 65_535, 65_536, 65_535 * 3 + 1, 65_535**2])
def test_a_folded_grid_has_every_workgroup_and_fits(workgroups: int) -> None:
    x, y, z = fold_grid(workgroups, Limits())
    assert x * y >= max(1, workgroups)
    assert x * (y - 1) < max(1, workgroups)
    assert 1 <= x <= 65_535
    assert 1 <= y <= 65_535
    assert z == 1


def test_a_grid_that_cannot_be_folded_is_refused() -> None:
    with pytest.raises(KernelShapeError, match="at most 4,294,836,225 workgroups"):
        fold_grid(65_535**2 + 1, Limits())


def test_a_grid_gives_each_item_a_thread() -> None:
    assert grid(1, 64, Limits()) == (1, 1, 1)
    assert grid(65, 64, Limits()) == (2, 1, 1)


def test_separate_names_both_operands() -> None:
    recorder = Recorder()
    a, b, c = (recorder.buffer(16) for _ in range(3))
    separate("conv", {"x": a, "w": a, "bias": None}, {"y": b, "scratch": c})
    with pytest.raises(KernelShapeError, match="conv: w and y must be separate buffers"):
        separate("conv", {"x": a, "w": b}, {"y": b})
    with pytest.raises(KernelShapeError, match=r"conv: (y and scratch|scratch and y) must be separate buffers"):
        separate("conv", {"x": a}, {"y": b, "scratch": b})
    foreign = Foreign()
    with pytest.raises(KernelShapeError, match="conv: x and y"):
        separate("conv", {"x": foreign}, {"y": foreign})


def test_a_plan_crosses_as_numbers_with_each_shader_once() -> None:
    recorder, foreign = Recorder(), Foreign()
    x, y = recorder.buffer(5, Role.INPUT, "x"), recorder.buffer(6, Role.OUTPUT, "y")
    tables = [recorder.constant(b"12345"), recorder.constant(b"6789")]
    for value in (1, 2):
        recorder.launch(launch(params=pack_params(value), label=""), {"x": x, "w": foreign, "y": y})
    text, params, constants = wire.encode(recorder.finish(), 256)
    crossed = json.loads(text)
    assert crossed["shaders"] == [{"name": "add", "text": "text", "reads": 2, "writes": 1}]
    assert [buffer["external"] for buffer in crossed["buffers"]] == [-1, -1, -1, -1, 0]
    assert crossed["constants"] == [[tables[0].slot, 0, 8], [tables[1].slot, 8, 4]]
    assert constants == b"12345\0\0\x006789"
    assert (crossed["uploads"], crossed["readbacks"]) == ([[0, 5]], [[1, 6]])
    assert crossed["dispatches"][1] == {
        "shader": 0,
        "slots": [0, 4, 1],
        "params": [256, 16],
        "workgroups": [1, 1, 1],
        "label": "add",
    }
    assert params == pack_params(1).ljust(256, b"\0") + pack_params(2)
