"""Every case of every table, by every variant that supports it, against float64."""

from __future__ import annotations

import asyncio

import pytest

from onegpu_web.device import Device
from onegpu_web.testing.cases import TABLES, table
from onegpu_web.testing.runner import LEFT_OUT, run_table


@pytest.mark.parametrize("name", TABLES)
def test_cases_agree_with_float64(device: Device, name: str) -> None:
    rows = asyncio.run(run_table(device, name))
    assert {row["case"] for row in rows} == {case.name for case in table(name).CASES}
    left_out = [row["case"] for row in rows if row["message"].startswith(LEFT_OUT)]
    assert not left_out or "shader-f16" not in device.features
    failed = [f"{row['case']} [{row['variant']}]: {row['error']} {row['message']}" for row in rows if not row["ok"]]
    assert not failed, f"{len(failed)} of {len(rows)}:\n" + "\n".join(failed[:40])


@pytest.mark.parametrize("name", TABLES)
def test_every_variant_runs_some_case(device: Device, name: str) -> None:
    family, cases = table(name).FAMILY, table(name).CASES
    names = [case.name for case in cases]
    assert len(set(names)) == len(names)
    for variant in family.variants:
        runs = [
            c
            for c in cases
            if variant.supports(c.problem, device.caps) is None and variant.name in (c.variants or [variant.name])
        ]
        assert runs, f"no case runs variant {variant.name} of {name}"
