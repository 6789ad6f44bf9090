"""Grids folded over y, on devices that pretend to allow only a few workgroups along one axis.

A real fold needs more than 65,535 workgroups, which takes long on a software adapter; the arithmetic is the same.
"""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from onegpu_web.device import Device
from onegpu_web.testing.cases import table
from onegpu_web.testing.runner import run_table


@pytest.mark.parametrize(
    ("name", "case", "variant", "limit"),
    [
        ("unary", "odd_size_offsets", "plain", 2),
        ("binary", "per_channel", "plain", 2),
        ("copy", "many_workgroups", "plain", 17),
        ("copy", "nhwc_to_nchw", "tiled", 3),
        ("reduce", "many_rows", "plain", 4),
        ("reduce", "many_rows", "tree", 27),
        ("reduce", "two_launches", "tree", 3),
        ("softmax", "characters", "rows", 6),
        ("normalization", "instance", "rows", 4),
        ("matmul", "batches", "plain", 4),
        ("matmul", "batches", "tiled", 4),
        ("matmul", "vector_matrix", "skinny", 3),
    ],
)
def test_a_folded_grid_gives_the_same(
    device: Device, monkeypatch: pytest.MonkeyPatch, name: str, case: str, variant: str, limit: int
) -> None:
    limits = dataclasses.replace(device.caps.limits, max_compute_workgroups_per_dimension=limit)
    monkeypatch.setattr(device, "caps", dataclasses.replace(device.caps, limits=limits))
    problem = next(c.problem for c in table(name).CASES if c.name == case)
    lowering = table(name).FAMILY.choose(problem, device.caps, variant).lower(problem, device.caps)
    assert any(launch.workgroups[1] > 1 for launch in lowering.launches)
    rows = asyncio.run(run_table(device, name, names=[case], variants=[variant]))
    assert [row["message"] for row in rows] == [""]
