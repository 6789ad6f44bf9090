"""Every case of every table in Chromium, by every variant that supports it, against float64."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Playwright

from onegpu_web.testing.cases import TABLES

from .browser import Faults, Python, launch

RUN_TABLE = """
    from onegpu_web.device import request_device
    from onegpu_web.testing.runner import run_table

    device = await request_device(limits={})
    try:
        rows = await run_table(device, table)
        return {
            "failed": [f"{r['case']} [{r['variant']}]: {r['error']} {r['message']}" for r in rows if not r["ok"]],
            "count": len(rows),
            "messages": device.messages,
        }
    finally:
        device.destroy()
"""


@pytest.mark.parametrize("table", TABLES)
def test_cases_agree_with_float64(python: Python, table: str) -> None:
    outcome = python(RUN_TABLE, table=table)
    assert outcome["count"] > 0
    assert not outcome["failed"], f"{len(outcome['failed'])} of {outcome['count']}:\n" + "\n".join(outcome["failed"])
    assert not outcome["messages"]


@pytest.fixture(scope="module")
def zeroing_python(playwright: Playwright, site: str, all_faults: Faults) -> Iterator[Python]:
    """Pyodide in a Chromium that zeroes workgroup memory, as those of people do."""
    browser = launch(playwright.chromium)
    yield Python(all_faults.watch(browser.new_page()), f"{site}/harness/host.html")
    browser.close()


@pytest.mark.parametrize("table", ["reduce", "softmax"])
def test_cases_agree_where_workgroup_memory_is_zeroed(zeroing_python: Python, table: str) -> None:
    outcome = zeroing_python(RUN_TABLE, table=table)
    assert outcome["count"] > 0
    assert not outcome["failed"]
    assert not outcome["messages"]
