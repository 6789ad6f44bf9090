"""Reading text: decoding, order, and whole printed pages."""

from __future__ import annotations

import asyncio
import json
import random
import string
import tracemalloc
from typing import Any

import numpy as np
import pytest
from oracle import OracleSession
from pictures import FONTS, character_error_rate, character_errors, printed_page
from PIL import Image, ImageDraw, ImageFont

from onegpu_web.device import Device
from onegpu_web.errors import ModelError, PictureError
from onegpu_web.fetch import path
from onegpu_web.jobs import Picture, ReadText
from onegpu_web.jobs.detect_text import TextBox, detector_input
from onegpu_web.jobs.read import reading_order
from onegpu_web.jobs.recognize_text import characters, decode
from onegpu_web.jobs.rectangles import Rectangle

# The bar for a picture; each of the pages below stays under 0.6 % on onnxruntime.
LARGEST_ERROR_RATE = 0.02


@pytest.fixture(scope="module")
def oracle() -> ReadText:
    return ReadText(OracleSession(path("pp_ocrv6_det_tiny.onnx")), OracleSession(path("pp_ocrv6_rec_tiny.onnx")))


def _texts(job: ReadText, picture: Picture) -> list[str]:
    return [line["text"] for line in asyncio.run(job.run(picture))["lines"]]


def _page(texts: list[str], size: int, *, font: str = "DejaVuSans", width: int = 1000, ink: int = 0) -> Picture:
    """One font, one size, dark on light or (ink 255) light on dark."""
    page = Image.new("RGB", (width, round(len(texts) * size * 1.5) + 60), (255 - ink,) * 3)
    for number, text in enumerate(texts):
        place = (30, 30 + number * size * 1.5)
        ImageDraw.Draw(page).text(place, text, font=ImageFont.truetype(FONTS / f"{font}.ttf", size), fill=(ink,) * 3)
    return np.asarray(page)


@pytest.mark.parametrize("seed", range(6))
def test_reads_printed_pages(oracle: ReadText, seed: int) -> None:
    picture, texts = printed_page(seed, lines=12 + seed, width=(1000, 800, 1400)[seed % 3], bold=seed == 3)
    assert character_error_rate(_texts(oracle, picture), texts) <= LARGEST_ERROR_RATE


@pytest.mark.parametrize(
    ("font", "size", "ink"),
    [("DejaVuSans", 14, 0), ("DejaVuSans-Bold", 36, 255), ("DejaVuSansMono", 24, 0), ("DejaVuSans", 20, 255)],
)
def test_reads_other_fonts_and_sizes(oracle: ReadText, font: str, size: int, ink: int) -> None:
    texts = printed_page(7, lines=14)[1]
    read = _texts(oracle, _page(texts, size, font=font, width=1300, ink=ink))
    assert character_error_rate(read, texts) <= LARGEST_ERROR_RATE


def test_reads_words_that_no_language_has(oracle: ReadText) -> None:
    rng = random.Random(3)
    letters = string.ascii_lowercase.replace("l", "") + string.digits.replace("0", "")
    texts = [" ".join("".join(rng.choices(letters, k=rng.randint(3, 8))) for _ in range(5)) for _ in range(12)]
    assert character_error_rate(_texts(oracle, _page(texts, 24)), texts) <= LARGEST_ERROR_RATE


def test_a_box_lies_around_its_line(oracle: ReadText) -> None:
    picture = np.asarray(Image.new("RGB", (600, 200), "white")).copy()
    picture[60:100, 100:500] = _page(["Hello, wide world of boxes"], 28, width=600)[20:60, 20:420]
    (line,) = asyncio.run(oracle.run(picture))["lines"]
    dark_y, dark_x = np.nonzero(picture.min(axis=2) < 128)
    (x0, y0), _, (x1, y1), _ = line["box"]
    assert line["text"] == "Hello, wide world of boxes"
    assert (x0, y0) == pytest.approx((dark_x.min() - 8, dark_y.min() - 8), abs=11)
    assert (x1, y1) == pytest.approx((dark_x.max() + 8, dark_y.max() + 8), abs=11)


@pytest.mark.parametrize("turn", [Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270])
def test_reads_lines_that_stand_on_end(oracle: ReadText, turn: Image.Transpose) -> None:
    text = "Chapter 12: Measuring what matters"
    picture = np.asarray(Image.fromarray(_page([text], 24, width=600)).transpose(turn))
    assert character_errors("\n".join(_texts(oracle, picture)), text) <= 1


def test_two_columns_stay_apart_and_in_rows(oracle: ReadText) -> None:
    left = _page(["first row", "second row"], 24, width=400)
    right = _page(["beside it", "and below"], 24, width=400)
    assert _texts(oracle, np.hstack((left, right))) == ["first row", "beside it", "second row", "and below"]


def test_a_tight_crop_of_one_line_is_read(oracle: ReadText) -> None:
    picture = _page(["The quick brown fox"], 24, width=330)[28:62, 26:290]
    assert _texts(oracle, picture) == ["The quick brown fox"]


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 500, 3), (500, 1, 3), (31, 33, 3)])
@pytest.mark.parametrize("value", [0, 255])
def test_pictures_without_text_have_no_lines(oracle: ReadText, shape: tuple[int, ...], value: int) -> None:
    result = asyncio.run(oracle.run(np.full(shape, value, np.uint8)))
    assert result["lines"] == []


def test_twelve_thousand_by_nine_thousand_pixels_are_read_in_little_memory(oracle: ReadText) -> None:
    tile = _page(["Large print", "and more of it"], 48, width=480)
    picture = np.asarray(Image.fromarray(tile).resize((12_000, 9_000), Image.Resampling.BILINEAR))
    tracemalloc.start()
    try:
        read = _texts(oracle, picture)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == ["Large print", "and more of it"]
    assert peak_bytes < 300_000_000


@pytest.mark.parametrize("picture", [None, np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3))])
def test_other_values_are_picture_errors_and_the_job_goes_on(oracle: ReadText, picture: Any) -> None:
    with pytest.raises(PictureError):
        asyncio.run(oracle.run(picture))
    assert _texts(oracle, _page(["Still here"], 32, width=400)) == ["Still here"]


def test_result_is_json_with_times_by_stage(oracle: ReadText) -> None:
    stages: list[tuple[str, int, int | None]] = []
    picture = _page(["One line", "Another line"], 32, width=400)
    result = asyncio.run(oracle.run(picture, progress=lambda *stage: stages.append(stage)))
    assert json.loads(json.dumps(result)) == result
    assert set(result) == {"lines", "ms"}
    assert set(result["ms"]) == {"prepare", "detect", "recognize", "finish"}
    assert all(value > 0 for value in result["ms"].values())
    for line in result["lines"]:
        assert set(line) == {"text", "score", "box"}
        assert 0.9 < line["score"] <= 1
        assert np.shape(line["box"]) == (4, 2)
    assert stages[0] == ("detect", 0, 1)
    assert stages[-1] == ("recognize", 2, 2)


def test_few_input_shapes_arise(oracle: ReadText) -> None:
    recognizer = oracle._recognizer
    assert isinstance(recognizer, OracleSession)
    recognizer.shapes.clear()
    for seed in range(3):
        asyncio.run(oracle.run(printed_page(seed, lines=20)[0]))
    lines = sum(shape[0] for shape in recognizer.shapes)
    assert lines >= 60
    assert len(recognizer.shapes) < 60
    assert {shape[0] for shape in recognizer.shapes} == {1, 4}
    assert len({shape[3] for shape in recognizer.shapes}) <= 8


@pytest.mark.parametrize(("height", "width"), [(1, 1), (24, 400), (900, 1000), (3000, 200), (200, 3000), (9000, 12000)])
def test_detector_input_is_a_bounded_multiple_of_32(height: int, width: int) -> None:
    feed, scale = detector_input(np.broadcast_to(np.uint8(9), (height, width, 3)))
    assert feed.shape[:2] == (1, 3)
    assert all(side % 32 == 0 and 32 <= side <= 1344 for side in feed.shape[2:])
    assert 0 < scale <= 2
    assert feed.flags.c_contiguous
    assert feed.dtype == np.float32


def _probabilities(classes: list[int], count: int = 4) -> np.ndarray:
    return np.eye(count, dtype=np.float32)[classes] * 0.7 + 0.1


@pytest.mark.parametrize(
    ("classes", "text"),
    [
        ([0, 1, 1, 0, 2], "ab"),
        ([1, 0, 1], "aa"),
        ([1, 1, 1], "a"),
        ([0, 0], ""),
        ([1, 2, 1, 3, 3], "aba "),
    ],
)
def test_ctc_merges_repeats_and_drops_blanks(classes: list[int], text: str) -> None:
    line = decode(_probabilities(classes), ["", "a", "b", " "])
    assert line.text == text
    assert line.score == pytest.approx(0.8 if text else 0.0)


def test_characters_are_blank_list_and_space() -> None:
    assert characters({"character": "a\nb"}, 4) == ["", "a", "b", " "]
    with pytest.raises(ModelError, match=r"2 \+ 2 classes, got 5"):
        characters({"character": "a\nb"}, 5)
    with pytest.raises(ModelError, match="metadata"):
        characters({}, 4)


def test_rows_go_down_and_boxes_in_a_row_go_right() -> None:
    def box(x: float, y: float, height: float = 20) -> TextBox:
        return TextBox(Rectangle(x, y, 50, height, 0), 1.0)

    ordered = reading_order([box(300, 104), box(10, 130), box(200, 95), box(10, 100), box(500, 126, 60)])
    assert [(entry.rectangle.x, entry.rectangle.y) for entry in ordered] == [
        (10, 100),
        (200, 95),
        (300, 104),
        (10, 130),
        (500, 126),
    ]


def test_a_page_scanned_askew_keeps_its_order(oracle: ReadText) -> None:
    texts = [
        "Tiny",
        "A long line that goes on and on across the page",
        "Short",
        "And one more rather long line of text",
    ] * 2
    leaning = Image.fromarray(_page(texts, 24)).rotate(-6, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    assert _texts(oracle, np.asarray(leaning)) == texts


@pytest.mark.gpu
@pytest.mark.slow
def test_the_gpu_reads_the_same(oracle: ReadText, device: Device) -> None:
    picture, texts = printed_page(0, lines=12, width=640)

    async def on_gpu() -> dict[str, Any]:
        job = await ReadText.create(path("pp_ocrv6_det_tiny.onnx"), path("pp_ocrv6_rec_tiny.onnx"), device=device)
        try:
            return await job.run(picture)
        finally:
            job.destroy()

    result, expected = asyncio.run(on_gpu()), asyncio.run(oracle.run(picture))
    assert [line["text"] for line in result["lines"]] == [line["text"] for line in expected["lines"]]
    assert character_error_rate([line["text"] for line in result["lines"]], texts) <= LARGEST_ERROR_RATE
    for line, oracle_line in zip(result["lines"], expected["lines"], strict=True):
        np.testing.assert_allclose(line["box"], oracle_line["box"], atol=1)
        assert line["score"] == pytest.approx(oracle_line["score"], abs=1e-3)
    assert result["ms"]["gpu"] > 0
