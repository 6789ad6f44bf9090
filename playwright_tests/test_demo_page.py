"""The demo page's own behaviour, with its worker replaced by a scripted one: no Python, no GPU."""

from __future__ import annotations

import functools
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Route, expect

from .browser import Faults
from .scripted_page import FAKE_WORKER, RESULTS, Demo, Handler, picture_file


@pytest.fixture(scope="module")
def scripted_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site")
    shutil.copytree(Path(__file__).parent.parent / "demo", root, dirs_exist_ok=True)
    (root / "pictures").mkdir()
    for name in ("astronaut.png", "coffee.png", "chelsea.png", "camera.png", "rocket.jpg"):
        Image.new("RGB", (96, 96), "teal").save(root / "pictures" / name)
    licence = {"kind": "model", "name": "a.onnx", "credit": "A model, its makers", "licence": "Apache-2.0"}
    licences = [licence | {"registry": "pypi", "package": "a-model", "version": "1.0"}]
    (root / "licences.json").write_text(json.dumps(licences))
    return root


@pytest.fixture(scope="module")
def server(scripted_site: Path) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(scripted_site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def demo(browser: Browser, server: ThreadingHTTPServer, faults: Faults) -> Iterator[Demo]:
    """The page; a test that makes it ask another origin for something fails, as one with errors in the console."""
    Handler.requests_seen = []
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    url = f"http://127.0.0.1:{server.server_port}/"
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = faults.watch(context.new_page())
    yield Demo(page, url, Handler.requests_seen)
    context.close()
    assert [address for address in asked if not address.startswith((url, "blob:", "data:"))] == []


def canvas_label(name: str, width: int, height: int) -> str:
    return f"{name}, {width} \N{MULTIPLICATION SIGN} {height} pixels"


def choose_job(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).check()


class TestFirstScreen:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["wide", "narrow"])
    def test_picture_jobs_and_samples_need_no_scrolling(self, demo: Demo, size: tuple[int, int], scheme: Any) -> None:
        demo.page.set_viewport_size({"width": size[0], "height": size[1]})
        demo.page.emulate_media(color_scheme=scheme)
        page = demo.open()
        expect(page.locator(".lines li")).to_have_count(2)
        for part in ("#jobs", "#canvas", ".own", "#status"):
            box = page.locator(part).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size[0]
            assert box["y"] + box["height"] <= size[1], part
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]

    def test_text_has_contrast_in_both_schemes(self, demo: Demo) -> None:
        page = demo.open()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for part in ("#status", "#status small", ".lines .score", ".privacy", "#jobs label:has(:checked)"):
                expect(page.locator(part).first).to_be_visible()
                assert page.locator(part).first.evaluate(CONTRAST) >= 4.5, (scheme, part)

    def test_says_that_pictures_stay_and_names_licences(self, demo: Demo) -> None:
        page = demo.open()
        expect(page.get_by_text("nothing is uploaded")).to_be_visible()
        expect(page.locator("#licences li")).to_have_text("A model, its makers, Apache-2.0 (PyPI a-model 1.0)")


# The contrast ratio of WCAG 2.2 between an element's text and the nearest opaque ground below it.
CONTRAST = """(element) => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ink = light(rgb(getComputedStyle(element).color));
  let ground = element;
  while (rgb(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
  const paper = light(rgb(getComputedStyle(ground).backgroundColor));
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}"""


class TestResults:
    def test_read_shows_lines_boxes_and_times(self, demo: Demo) -> None:
        page = demo.open()
        expect(page.locator("#status")).to_have_text("2 lines read in 30 ms, 13 ms of it on the GPU")
        expect(page.locator(".lines .text")).to_have_text(["Espresso", "2.40"])
        expect(page.locator("#overlay polygon").first).to_have_attribute("points", "10,10 60,10 60,30 10,30")
        expect(page.locator("#times dt")).to_have_text(["Find the text", "Read the lines", "GPU time"])

    def test_boxes_lie_where_the_picture_is(self, demo: Demo) -> None:
        page = demo.open()
        page.locator("#file").set_input_files(picture_file((200, 100)))
        expect(page.locator("#canvas")).to_have_attribute("width", "200")
        expect(page.locator(".lines li")).to_have_count(2)
        canvas = page.locator("#canvas").bounding_box()
        polygon = page.locator("#overlay polygon").first.evaluate("(e) => e.getBoundingClientRect().toJSON()")
        assert canvas is not None
        scale = canvas["width"] / 200
        assert polygon["x"] - canvas["x"] == pytest.approx(10 * scale, abs=3)
        assert polygon["y"] - canvas["y"] == pytest.approx(10 * scale, abs=3)
        assert polygon["width"] == pytest.approx(50 * scale, abs=6)

    def test_pointing_at_a_line_lights_its_box_and_back(self, demo: Demo) -> None:
        page = demo.open()
        lit = page.locator("#overlay g.lit polygon")
        page.locator(".lines li").nth(1).hover()
        expect(lit).to_have_count(1)
        expect(lit).to_have_attribute("points", "10,50 90,50 90,70 10,70")
        page.mouse.move(1, 1)
        expect(lit).to_have_count(0)
        page.locator("#overlay polygon[points^='10,10']").hover()
        expect(page.locator(".lines li.lit .text")).to_have_text("Espresso")

    def test_arrow_keys_go_from_line_to_line(self, demo: Demo) -> None:
        page = demo.open()
        page.get_by_role("button", name="Copy text").focus()
        page.keyboard.press("Tab")
        expect(page.locator(".lines li").nth(0)).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".lines li").nth(1)).to_be_focused()
        expect(page.locator("#overlay g.lit polygon")).to_have_attribute("points", "10,50 90,50 90,70 10,70")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".lines li").nth(1)).to_be_focused()

    def test_text_can_be_selected(self, demo: Demo) -> None:
        page = demo.open()
        page.locator(".lines .text").first.dblclick(position={"x": 12, "y": 10})
        assert page.evaluate("getSelection().toString().trim()") == "Espresso"

    def test_copy_takes_all_lines(self, demo: Demo) -> None:
        demo.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = demo.open()
        page.get_by_role("button", name="Copy text").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == "Espresso\n2.40"

    def test_classify_shows_five_names_with_bars(self, demo: Demo) -> None:
        page = demo.open()
        choose_job(page, "What is it")
        expect(page.locator(".guesses .label")).to_have_text(["espresso", "cup", "eggnog", "bowl", "hat"])
        expect(page.locator(".guesses .score")).to_have_text(["90 %", "5 %", "2 %", "1 %", "under 1 %"])
        shares = page.locator(".guesses .bar").evaluate_all(
            "(all) => all.map((e) => e.style.getPropertyValue('--share'))"
        )
        assert shares == ["0.9", "0.05", "0.02", "0.01", "0.001"]

    def test_faces_show_a_box_and_points(self, demo: Demo) -> None:
        page = demo.open()
        choose_job(page, "Find faces")
        expect(page.locator("#status")).to_contain_text("1 face found")
        expect(page.locator("#overlay polygon")).to_have_attribute("points", "10,20 60,20 60,80 10,80")
        expect(page.locator("#overlay path")).to_have_count(3)

    def test_nothing_found_offers_a_picture_that_has_something(self, demo: Demo) -> None:
        page = demo.open({"result": {"lines": [], "ms": {"find text": 3.0}}}, {})
        page.get_by_role("button", name="Coffee").click()
        expect(page.locator(".lines li")).to_have_count(2)
        page.get_by_role("button", name="Menu").click()
        expect(page.locator("#status")).to_contain_text("No text found in this picture")
        expect(page.get_by_role("button", name="Try “Menu”")).to_be_visible()


class TestChoosing:
    def test_each_job_brings_its_sample_until_a_picture_is_chosen(self, demo: Demo) -> None:
        page = demo.open()
        choose_job(page, "Find faces")
        expect(page.get_by_role("button", name="Astronaut")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Cat").click()
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("Cat", 96, 96))
        choose_job(page, "What is it")
        expect(page.locator(".guesses li")).to_have_count(5)
        expect(page.get_by_role("button", name="Cat")).to_have_attribute("aria-pressed", "true")

    def test_a_link_and_a_reload_keep_the_job(self, demo: Demo) -> None:
        demo.url += "#faces"
        page = demo.open()
        expect(page.locator("#status")).to_contain_text("1 face found")
        choose_job(page, "What is it")
        expect(page.locator(".guesses li")).to_have_count(5)
        page.reload()
        expect(page.get_by_role("radio", name="What is it")).to_be_checked()
        expect(page.locator(".guesses li")).to_have_count(5)
        assert demo.jobs_asked() == ["faces", "classify", "classify"]

    def test_jobs_are_one_tab_stop_with_arrow_keys(self, demo: Demo) -> None:
        page = demo.open()
        page.keyboard.press("Tab")
        expect(page.get_by_role("radio", name="Read text")).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("radio", name="What is it")).to_be_checked()
        expect(page.locator(".guesses li")).to_have_count(5)
        page.keyboard.press("Tab")
        expect(page.locator("#file")).to_be_focused()

    def test_results_are_kept_with_their_picture(self, demo: Demo) -> None:
        page = demo.open()
        expect(page.locator(".lines li")).to_have_count(2)
        choose_job(page, "What is it")
        expect(page.locator(".guesses li")).to_have_count(5)
        choose_job(page, "Read text")
        expect(page.locator(".lines li")).to_have_count(2)
        assert demo.jobs_asked() == ["read", "classify"]

    def test_the_latest_choice_wins(self, demo: Demo) -> None:
        with demo.page.expect_request("**/log?job=read*"):
            page = demo.open({"wait": 700}, {})
        choose_job(page, "What is it")
        expect(page.locator(".guesses li")).to_have_count(5)
        page.wait_for_timeout(900)
        expect(page.locator(".guesses li")).to_have_count(5)
        # The late answer was not thrown away.
        page.get_by_role("button", name="Menu").click()
        choose_job(page, "Read text")
        expect(page.locator(".lines li")).to_have_count(2)
        assert demo.jobs_asked().count("read") == 1

    @pytest.mark.parametrize("way", ["drop", "paste"])
    def test_a_picture_can_be_dropped_and_pasted(self, demo: Demo, way: str) -> None:
        page = demo.open()
        expect(page.locator(".lines li")).to_have_count(2)
        page.evaluate(
            """async ([way, bytes]) => {
              const data = new DataTransfer();
              data.items.add(new File([new Uint8Array(bytes)], "given.png", { type: "image/png" }));
              const options = { bubbles: true, cancelable: true };
              dispatchEvent(way === "drop" ? new DragEvent("drop", { ...options, dataTransfer: data })
                                           : new ClipboardEvent("paste", { ...options, clipboardData: data }));
            }""",
            [way, list(picture_file((30, 20))["buffer"])],
        )
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("given.png", 30, 20))
        expect(page.locator(".lines li")).to_have_count(2)
        assert demo.requests[-1]["width"] == "30"

    def test_pixels_are_rgba(self, demo: Demo) -> None:
        page = demo.open()
        page.locator("#file").set_input_files(picture_file((3, 2)))
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("own.png", 3, 2))
        expect(page.locator(".lines li")).to_have_count(2)
        assert demo.requests[-1] | {"pixel": "255,0,0,255", "bytes": "24"} == demo.requests[-1]

    def test_a_photo_is_turned_upright(self, demo: Demo) -> None:
        page = demo.open()
        exif = Image.Exif()
        exif[0x0112] = 6  # to be shown turned by 90 degrees
        page.locator("#file").set_input_files(picture_file((64, 32), name="photo.jpg", exif=exif))
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("photo.jpg", 32, 64))
        expect(page.locator(".lines li")).to_have_count(2)
        assert (demo.requests[-1]["width"], demo.requests[-1]["height"]) == ("32", "64")

    def test_a_picture_of_24_megapixels_is_made_smaller(self, demo: Demo) -> None:
        page = demo.open()
        page.locator("#file").set_input_files(picture_file((6000, 4000)))
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("own.png", 6000, 4000))
        expect(page.locator(".lines li")).to_have_count(2)
        width, height = int(demo.requests[-1]["width"]), int(demo.requests[-1]["height"])
        assert 15.9e6 < width * height <= 16e6
        assert width / height == pytest.approx(1.5, abs=1e-3)

    def test_a_picture_of_one_pixel_works(self, demo: Demo) -> None:
        page = demo.open()
        page.locator("#file").set_input_files(picture_file((1, 1)))
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("own.png", 1, 1))
        expect(page.locator(".lines li")).to_have_count(2)


class TestProgress:
    def test_every_stage_is_shown_and_then_timed(self, demo: Demo) -> None:
        python = {"type": "progress", "stage": "python", "unit": "bytes", "total": 13.4e6, "text": ""}
        models = {"type": "progress", "stage": "models", "unit": "bytes", "total": 3.1e6, "text": ""}
        running = {"type": "progress", "stage": "run", "unit": "steps", "done": 5, "total": 12, "text": "recognize"}
        messages = [python | {"done": 5e6}, models | {"done": 3.1e6, "ms": 410}, running]
        page = demo.open({"messages": messages, "wait": 800})
        rows = page.locator("#stages li")
        expect(rows).to_have_text(
            ["Python (Pyodide)5.0 of 13.4 MB", "Models410 ms", "This pictureRead the lines, 5 of 12"],
            use_inner_text=False,
        )
        expect(page.locator("#status")).to_have_text("Reading the text…")
        expect(page.locator("#sweep")).to_be_visible()
        expect(page.locator("#times")).to_contain_text("Models, 3.1 MB")
        expect(page.locator("#stages")).to_be_hidden()
        expect(page.locator("#sweep")).to_be_hidden()

    def test_the_device_is_named(self, demo: Demo) -> None:
        device = {"type": "device", "name": "acme 9000", "software": False}
        page = demo.open({"messages": [device]})
        expect(page.locator("#device")).to_have_text("acme 9000")

    def test_a_software_device_is_told(self, demo: Demo) -> None:
        page = demo.open({"messages": [{"type": "device", "name": "google swiftshader", "software": True}]})
        expect(page.locator("#device")).to_contain_text("computes on the processor")

    def test_nothing_moves_where_motion_is_unwanted(self, demo: Demo) -> None:
        demo.page.emulate_media(reduced_motion="reduce")
        page = demo.open({"wait": 5000})
        expect(page.locator("#sweep")).to_be_visible()
        assert page.evaluate("document.getAnimations().length") == 0


FAILURES = {
    "no-webgpu": "This browser has no WebGPU",
    "no-adapter": "offers no graphics adapter",
    "device-lost": "The graphics device went away",
    "download": "A file did not arrive",
    "internal": "Something went wrong inside",
    "picture": "This picture cannot be used",
}


class TestFailures:
    @pytest.mark.parametrize("kind", FAILURES)
    def test_each_kind_has_a_sentence_and_a_way_on(self, demo: Demo, kind: str) -> None:
        page = demo.open({"error": {"kind": kind, "message": "The particulars."}}, {})
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text(FAILURES[kind])
        expect(alert).to_contain_text("The particulars.")
        expect(page.locator("#answer")).to_have_attribute("aria-busy", "false")
        if kind == "picture":
            with page.expect_file_chooser():
                alert.get_by_role("button", name="Choose a picture").click()
            return
        alert.get_by_role("button", name="Try again").click()
        expect(page.locator(".lines li")).to_have_count(2)
        expect(alert).to_be_hidden()

    def test_a_broken_worker_is_replaced(self, demo: Demo) -> None:
        page = demo.open({"error": {"kind": "download", "restart": True}})
        expect(page.get_by_role("alert")).to_be_visible()
        demo.set_worker(FAKE_WORKER % (json.dumps([{}]), json.dumps(RESULTS)))
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".lines li")).to_have_count(2)

    def test_a_worker_that_does_not_load_is_told(self, demo: Demo) -> None:
        demo.set_worker("", status=404)
        demo.page.goto(demo.url)
        expect(demo.page.get_by_role("alert")).to_contain_text("A file did not arrive")
        expect(demo.page.get_by_role("button", name="Try again")).to_be_visible()

    def test_a_worker_that_throws_is_told(self, demo: Demo) -> None:
        demo.set_worker("self.onmessage = () => { throw new Error('nuts') }")
        demo.page.goto(demo.url)
        expect(demo.page.get_by_role("alert")).to_contain_text("nuts")

    @pytest.mark.parametrize("content", [b"hello", b"", picture_file((64, 64))["buffer"][:60]])
    def test_a_file_that_is_no_picture_leaves_the_old_result(self, demo: Demo, content: bytes) -> None:
        page = demo.open()
        expect(page.locator(".lines li")).to_have_count(2)
        page.locator("#file").set_input_files({"name": "notes.png", "mimeType": "image/png", "buffer": content})
        expect(page.get_by_role("alert")).to_contain_text("notes.png could not be opened")
        expect(page.locator(".lines li")).to_have_count(2)
        page.locator("#file").set_input_files(picture_file((20, 20)))
        expect(page.get_by_role("alert")).to_be_hidden()
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("own.png", 20, 20))

    def test_a_sample_that_does_not_load_can_be_retried(self, demo: Demo, faults: Faults) -> None:
        page = demo.open()
        expect(page.locator(".lines li")).to_have_count(2)

        def missing(route: Route) -> None:
            route.fulfill(status=404)

        page.route("**/pictures/chelsea.png", missing)
        page.get_by_role("button", name="Cat").click()
        expect(page.get_by_role("alert")).to_contain_text("/pictures/chelsea.png could not be loaded (HTTP 404)")
        page.unroute("**/pictures/chelsea.png")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#canvas")).to_have_attribute("aria-label", canvas_label("Cat", 96, 96))
        assert any("404" in fault for fault in faults.take())
