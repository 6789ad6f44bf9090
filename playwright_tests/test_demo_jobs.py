"""The demo page with all that is behind it: Pyodide, the package, the models and a GPU."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from .browser import Faults
from .scripted_page import picture_file

# SwiftShader on two busy cores: starting Python takes up to 10 s, a model up to a minute.
START_MS = 300_000
# By hand: hairline to chin, cheek to cheek.
ASTRONAUT_FACE = (176, 68, 270, 182)
# Put before the worker's own program, so that a test can take a device away.
KEEP_DEVICES = """
self.devices = [];
const requestDevice = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (...options) {
  self.devices.push(await requestDevice.apply(this, options));
  return self.devices.at(-1);
};
"""


@pytest.fixture
def page(browser: Browser, faults: Faults) -> Iterator[Page]:
    page = faults.watch(browser.new_page(viewport={"width": 1280, "height": 800}))
    yield page
    page.close()


def await_answer(page: Page) -> None:
    expect(page.locator("#answer")).to_have_attribute("aria-busy", "false", timeout=START_MS)
    expect(page.get_by_role("alert")).to_be_hidden()


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Intersection over union of two boxes (x0, y0, x1, y1)."""
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - width * height
    return width * height / union


@pytest.mark.slow
def test_coffee_is_an_espresso(page: Page, site: str) -> None:
    page.goto(f"{site}/#classify")
    await_answer(page)
    expect(page.locator(".guesses li")).to_have_count(5)
    expect(page.locator(".guesses .label").first).to_have_text("espresso")
    expect(page.locator("#status")).to_contain_text("on the GPU")


@pytest.mark.slow
def test_the_astronaut_has_one_face(page: Page, site: str) -> None:
    page.goto(f"{site}/#faces")
    await_answer(page)
    expect(page.locator("#status")).to_contain_text("1 face found")
    corners = page.locator("#overlay polygon").get_attribute("points")
    assert corners is not None
    x0, y0, _, _, x1, y1, _, _ = map(float, re.split("[ ,]", corners))
    assert overlap((x0, y0, x1, y1), ASTRONAUT_FACE) > 0.6
    expect(page.locator("#overlay path")).to_have_count(6)


@pytest.mark.slow
def test_the_menu_is_read(page: Page, site: str, site_folder: Path) -> None:
    page.goto(site)
    await_answer(page)
    drawing = ElementTree.parse(site_folder / "menu.svg").getroot()
    written = sorted(element.text or "" for element in drawing.iter("{http://www.w3.org/2000/svg}text"))
    read = sorted(page.locator(".lines .text").all_inner_texts())
    assert SequenceMatcher(None, "\n".join(written), "\n".join(read), autojunk=False).ratio() > 0.97, read


@pytest.mark.slow
def test_after_a_lost_device_a_new_attempt_works(page: Page, site: str) -> None:
    def keep_devices(route: Route) -> None:
        original = route.fetch()
        route.fulfill(response=original, body=KEEP_DEVICES + original.text())

    page.route("**/job_worker.js", keep_devices)
    page.goto(f"{site}/#faces")
    await_answer(page)
    (worker,) = (worker for worker in page.workers if worker.url.endswith("job_worker.js"))
    worker.evaluate("devices.at(-1).destroy()")
    page.locator("#file").set_input_files(picture_file((80, 60)))
    expect(page.get_by_role("alert")).to_contain_text("The graphics device went away", timeout=START_MS)
    page.get_by_role("button", name="Try again").click()
    await_answer(page)
    expect(page.locator("#status")).to_contain_text("No face found in this picture")
    assert worker.evaluate("devices.length") == 2
