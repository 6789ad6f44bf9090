"""Every case of every table in Chromium, by every variant that supports it, against float64."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Playwright

from onegpu_web.testing.cases import TABLES, table

from .browser import Faults, Python, launch

RUN_TABLE = """
    from onegpu_web.device import request_device
    from onegpu_web.testing.runner import LEFT_OUT, run_table

    device = await request_device(limits={})
    try:
        rows = await run_table(device, table)
        return {
            "failed": [f"{r['case']} [{r['variant']}]: {r['error']} {r['message']}" for r in rows if not r["ok"]],
            "count": len(rows),
            "cases": sorted({r["case"] for r in rows}),
            "left_out": sorted({r["case"] for r in rows if r["message"].startswith(LEFT_OUT)}),
            "half": "shader-f16" in device.features,
            "messages": device.messages,
        }
    finally:
        device.destroy()
"""


@pytest.mark.parametrize("name", TABLES)
def test_cases_agree_with_float64(python: Python, name: str) -> None:
    outcome = python(RUN_TABLE, table=name)
    cases = table(name).CASES
    halves = {case.name for case in cases if "float16" in str(case.problem)}
    assert set(outcome["cases"]) == {case.name for case in cases}
    assert set(outcome["left_out"]) <= (set() if outcome["half"] else halves)
    assert not outcome["failed"], f"{len(outcome['failed'])} of {outcome['count']}:\n" + "\n".join(outcome["failed"])
    assert not outcome["messages"]


@pytest.fixture(scope="module")
def zeroing_python(playwright: Playwright, site: str, all_faults: Faults) -> Iterator[Python]:
    """Pyodide in a Chromium that zeroes workgroup memory, as those of people do."""
    browser = launch(playwright.chromium)
    yield Python(all_faults.watch(browser.new_page()), f"{site}/harness/host.html")
    browser.close()


@pytest.mark.parametrize("name", ["reduce", "softmax"])
def test_cases_agree_where_workgroup_memory_is_zeroed(zeroing_python: Python, name: str) -> None:
    outcome = zeroing_python(RUN_TABLE, table=name)
    assert outcome["count"] > 0
    assert not outcome["failed"]
    assert not outcome["messages"]
