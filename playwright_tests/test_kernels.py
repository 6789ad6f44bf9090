"""Every case of every table in Chromium, by every variant that supports it, against float64."""

from __future__ import annotations

import pytest

from onegpu_web.testing.cases import TABLES

from .browser import Python

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
