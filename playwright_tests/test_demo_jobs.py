"""The demo page with all that is behind it: Pyodide, the package, the models and a GPU.

Each job also runs on the desktop device: text, names and boxes must be the same.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pictures import character_error_rate, printed_page
from PIL import Image
from playwright.sync_api import Browser, Page, Route, expect

from onegpu_web.device import Device, request_device_sync, wait
from onegpu_web.fetch import path
from onegpu_web.jobs import Classify, FindFaces, ReadText, load_picture

from .browser import Faults
from .scripted_page import picture_file

# SwiftShader on two busy cores: starting Python takes up to 10 s, a model up to a minute.
START_MS = 300_000
LARGEST_ERROR_RATE = 0.02
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


@pytest.fixture(scope="module")
def page(browser: Browser, site: str, all_faults: Faults) -> Iterator[Page]:
    """One page for all jobs, opened at the coffee."""
    page = all_faults.watch(browser.new_page(viewport={"width": 1280, "height": 800}))
    page.goto(f"{site}/#classify")
    yield page
    page.close()


@pytest.fixture(scope="module")
def desktop() -> Iterator[Device]:
    device = request_device_sync(limits={})
    yield device
    device.destroy()


def await_answer(page: Page) -> None:
    expect(page.locator("#answer")).to_have_attribute("aria-busy", "false", timeout=START_MS)
    expect(page.get_by_role("alert")).to_be_hidden()


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Intersection over union of two boxes (x0, y0, x1, y1)."""
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - width * height
    return width * height / union


def polygons(page: Page) -> np.ndarray:
    """The corners of the boxes on the picture, (n, 4, 2) in its pixels."""
    drawn = page.locator("#overlay polygon").evaluate_all("all => all.map((e) => e.getAttribute('points'))")
    return np.array([list(map(float, re.split("[ ,]", points))) for points in drawn]).reshape(-1, 4, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "file", "words"),
    [
        ("Coffee", "coffee.png", ["espresso"]),
        ("Cat", "chelsea.png", ["cat", "tabby"]),
        ("Rocket", "rocket.jpg", ["missile", "space shuttle"]),
    ],
)
def test_names_what_is_shown_as_the_desktop_does(
    page: Page, desktop: Device, sample: str, file: str, words: list[str]
) -> None:
    page.get_by_role("radio", name="What is it").check()
    page.get_by_role("button", name=sample).click()
    await_answer(page)
    expect(page.locator("#canvas")).to_have_attribute("aria-label", re.compile(f"^{sample},"))
    expect(page.locator("#status")).to_contain_text("on the GPU")
    labels = page.locator(".guesses .label").all_inner_texts()
    assert len(labels) == 5
    assert any(re.search(rf"\b{word}\b", label) for word in words for label in labels), labels
    assert sample != "Coffee" or labels[0] == "espresso"
    job = wait(Classify.create(path("efficientnet_lite0.onnx"), path("imagenet_labels.json"), device=desktop))
    assert labels == [guess["label"] for guess in wait(job.run(load_picture(path(file))))["top"]]
    job.destroy()


@pytest.mark.slow
def test_the_astronaut_has_one_face_as_on_the_desktop(page: Page, desktop: Device) -> None:
    page.get_by_role("radio", name="Find faces").check()
    page.get_by_role("button", name="Astronaut").click()
    await_answer(page)
    expect(page.locator("#status")).to_contain_text("1 face found")
    expect(page.locator("#overlay path")).to_have_count(6)
    (corners,) = polygons(page)
    box = (*corners[0], *corners[2])
    assert overlap(box, ASTRONAUT_FACE) > 0.6
    job = wait(FindFaces.create(path("blazeface_back.onnx"), device=desktop))
    (face,) = wait(job.run(load_picture(path("astronaut.png"))))["faces"]
    job.destroy()
    np.testing.assert_allclose(box, face["box"], rtol=0, atol=1)


@pytest.mark.slow
def test_a_printed_page_is_read_as_on_the_desktop(page: Page, desktop: Device) -> None:
    """Twelve lines of many sizes, dark on light and light on dark, one turned by 3 degrees."""
    picture, texts = printed_page(5, lines=12, width=640)
    page.get_by_role("radio", name="Find faces").check()  # a quick job, while the picture is opened
    page.locator("#file").set_input_files(png_file(picture))
    page.get_by_role("radio", name="Read text").check()
    await_answer(page)
    read = page.locator(".lines .text").all_inner_texts()
    assert character_error_rate(read, texts) <= LARGEST_ERROR_RATE, read
    models = path("pp_ocrv6_det_tiny.onnx"), path("pp_ocrv6_rec_tiny.onnx")
    job = wait(ReadText.create(*models, device=desktop))
    lines: list[dict[str, Any]] = wait(job.run(picture))["lines"]
    job.destroy()
    assert read == [line["text"] for line in lines]
    np.testing.assert_allclose(polygons(page), [line["box"] for line in lines], rtol=0, atol=1)


def png_file(picture: np.ndarray) -> dict[str, Any]:
    """A picture as Playwright's set_input_files takes it."""
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "png")
    return {"name": "page.png", "mimeType": "image/png", "buffer": data.getvalue()}


@pytest.mark.slow
def test_after_a_lost_device_a_new_attempt_works(new_page: Callable[[str], Page], site: str) -> None:
    def keep_devices(route: Route) -> None:
        original = route.fetch()
        route.fulfill(response=original, body=KEEP_DEVICES + original.text())

    page = new_page("about:blank")
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
