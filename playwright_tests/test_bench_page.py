"""The benchmark page: rows of a model's layers, checked and timed in Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, Route


def test_rows_and_sum_of_a_model(new_page: Callable[[str], Page], site: str) -> None:
    page = new_page(f"{site}/bench.html")
    bodies: list[str] = []

    def take(route: Route) -> None:
        bodies.append(route.request.post_data or "")
        route.fulfill(status=204)

    page.route("**/report", take)
    page.goto(f"{site}/bench.html?model=mobilenetv3_large&variant=depthwise&most_extent=5&report")
    page.get_by_text("Done", exact=True).wait_for(timeout=120_000)
    assert page.locator("#rows tr").count() == 12
    assert page.locator("#rows tr.wrong").count() == 0
    assert "ms for all its convolutions" in page.locator("#sums li").inner_text()
    report = json.loads(bodies[-1])
    assert report["done"]
    (of_model,) = report["reports"]
    assert of_model["ok"]
    assert of_model["clock"] == "gpu"
    assert sum(row["count"] for row in of_model["rows"]) == 15
    assert all(row["median_ms"] > 0 and row["error"] < 1e-6 for row in of_model["rows"])
