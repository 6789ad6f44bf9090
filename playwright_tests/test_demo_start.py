"""The demo's real worker: what it says when a file, WebGPU or the adapter is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from .browser import Faults

# Put before the worker's own program, to take something away from it.
WITHOUT_WEBGPU = "Object.defineProperty(WorkerNavigator.prototype, 'gpu', { value: undefined });\n"
WITHOUT_ADAPTER = "GPU.prototype.requestAdapter = async () => null;\n"
START_MS = 60_000


@pytest.fixture
def page(browser: Browser, faults: Faults) -> Iterator[Page]:
    page = faults.watch(browser.new_page(viewport={"width": 1280, "height": 800}))
    yield page
    page.close()


def requested(page: Page) -> list[str]:
    """The paths that the page and its worker ask for from now on."""
    paths: list[str] = []
    page.context.on("request", lambda request: paths.append(re.sub(r"^\w+://[^/]+", "", request.url)))
    return paths


@pytest.mark.parametrize(
    ("prelude", "words"),
    [(WITHOUT_WEBGPU, "This browser has no WebGPU"), (WITHOUT_ADAPTER, "offers no graphics adapter")],
    ids=["no-webgpu", "no-adapter"],
)
def test_without_a_gpu_nothing_large_is_fetched(page: Page, site: str, prelude: str, words: str) -> None:
    def take_away(route: Route) -> None:
        original = route.fetch()
        route.fulfill(response=original, body=prelude + original.text())

    page.route("**/job_worker.js", take_away)
    paths = requested(page)
    page.goto(site)
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    assert "/job_worker.js" in paths
    assert [path for path in paths if path.startswith(("/pyodide/", "/models/"))] == []


@pytest.mark.parametrize(
    "path",
    ["pyodide/pyodide.asm.wasm", "pyodide/pyodide.mjs", "pyodide/python_stdlib.zip", "models/pp_ocrv6_det_tiny.onnx"],
)
def test_a_file_that_is_missing_is_named(page: Page, site: str, faults: Faults, path: str) -> None:
    page.route(f"**/{path}", lambda route: route.fulfill(status=404))
    page.goto(site)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("A file did not arrive", timeout=START_MS)
    expect(alert).to_contain_text(path)
    expect(page.locator("#answer")).to_have_attribute("aria-busy", "false")
    faults.take()  # Chromium and Pyodide complain too


def test_a_damaged_wheel_is_refused(page: Page, site: str, faults: Faults) -> None:
    def damage(route: Route) -> None:
        original = route.fetch()
        body = bytearray(original.body())
        body[1000] ^= 1
        route.fulfill(response=original, body=bytes(body))

    page.route("**/numpy-*.whl", damage)
    page.goto(site)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("A file did not arrive", timeout=START_MS)
    expect(alert).to_contain_text("numpy")
    faults.take()  # Chromium and Pyodide complain too
