"""Naming what a picture shows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import OracleSession

from onegpu_web.device import Device
from onegpu_web.errors import FeedError, ModelError, PictureError
from onegpu_web.fetch import path
from onegpu_web.jobs import Classify, load_picture
from onegpu_web.jobs.classify import classifier_input, probabilities

# Picture, and words of which the five names must hold one.
SHOWN = [
    ("coffee.png", ["espresso"]),
    ("chelsea.png", ["tabby", "tiger cat", "Egyptian cat"]),
    ("rocket.jpg", ["missile", "space shuttle"]),
    ("camera.png", ["tripod"]),
]


def _labels() -> list[str]:
    labels: list[str] = json.loads(path("imagenet_labels.json").read_text(encoding="utf-8"))
    return labels


@pytest.fixture(scope="module")
def oracle() -> Classify:
    return Classify(OracleSession(path("efficientnet_lite0.onnx")), _labels())


@pytest.mark.parametrize(("name", "words"), SHOWN)
def test_names_what_is_shown(oracle: Classify, name: str, words: list[str]) -> None:
    result = asyncio.run(oracle.run(load_picture(path(name))))
    labels = [entry["label"] for entry in result["top"]]
    assert len(labels) == 5
    assert any(word in label for word in words for label in labels), labels


def test_coffee_is_espresso_first(oracle: Classify) -> None:
    top = asyncio.run(oracle.run(load_picture(path("coffee.png"))))["top"]
    assert top[0]["label"] == "espresso"
    assert top[0]["score"] > 0.9


def test_scores_fall_and_are_part_of_one(oracle: Classify) -> None:
    result = asyncio.run(oracle.run(load_picture(path("rocket.jpg")), top=1000))
    scores = [entry["score"] for entry in result["top"]]
    assert scores == sorted(scores, reverse=True)
    assert sum(scores) == pytest.approx(1, abs=0.01)
    assert json.loads(json.dumps(result)) == result
    assert set(result["ms"]) == {"prepare", "model", "finish"}


def test_input_is_the_middle_of_the_picture() -> None:
    """A picture of 256 x 400 keeps its scale: its middle 224 x 224 is fed as it is."""
    picture = np.random.default_rng(0).integers(0, 256, (256, 400, 3), np.uint8)
    feed = classifier_input(picture)
    assert feed.shape == (1, 3, 224, 224)
    assert feed.dtype == np.float32
    middle = picture[16:240, 88:312].astype(np.float32)
    np.testing.assert_allclose(feed[0].transpose(1, 2, 0), (middle - 127) / 128, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 300, 3), (300, 1, 3), (9_000, 12_000, 3)])
def test_any_size_gives_five_names(oracle: Classify, shape: tuple[int, ...]) -> None:
    picture = np.broadcast_to(np.array([200, 30, 30], np.uint8), shape)
    assert len(asyncio.run(oracle.run(picture))["top"]) == 5


def test_logits_become_probabilities_and_probabilities_stay() -> None:
    logits = np.array([1000.0, 999.0, -1000.0], np.float32)
    np.testing.assert_allclose(probabilities(logits), [0.731059, 0.268941, 0], atol=1e-6)
    done = np.array([0.25, 0.75, 0], np.float32)
    np.testing.assert_array_equal(probabilities(done), done)


def test_labels_that_do_not_fit_are_a_model_error() -> None:
    job = Classify(OracleSession(path("efficientnet_lite0.onnx")), ["one", "two"])
    with pytest.raises(ModelError, match=r"\(1, 2\) scores, got \(1, 1000\)"):
        asyncio.run(job.run(np.zeros((9, 9, 3), np.uint8)))


def test_other_values_are_picture_errors(oracle: Classify) -> None:
    with pytest.raises(PictureError):
        asyncio.run(oracle.run(np.zeros((9, 9, 3), np.float32)))  # type: ignore[arg-type]


@pytest.mark.gpu
def test_the_gpu_gives_the_same_names(oracle: Classify, device: Device) -> None:
    async def on_gpu() -> list[dict[str, Any]]:
        model, labels = path("efficientnet_lite0.onnx"), path("imagenet_labels.json")
        job = await Classify.create(model, labels, device=device)
        try:
            return [await job.run(load_picture(path(name))) for name, _ in SHOWN]
        finally:
            job.destroy()

    for (name, _), result in zip(SHOWN, asyncio.run(on_gpu()), strict=True):
        expected = asyncio.run(oracle.run(load_picture(path(name))))
        assert [entry["label"] for entry in result["top"]] == [entry["label"] for entry in expected["top"]]
        for got, wanted in zip(result["top"], expected["top"], strict=True):
            assert got["score"] == pytest.approx(wanted["score"], abs=1e-4)
        assert result["ms"]["gpu"] > 0


@pytest.mark.parametrize("content", [None, b"\xff\xaf", b"[1", b'{"a": 1}', b"[1, 2]"])
def test_labels_must_be_a_json_list_of_names(tmp_path: Path, content: bytes | None) -> None:
    labels = tmp_path / "labels.json"
    if content is not None:
        labels.write_bytes(content)
    with pytest.raises(ModelError, match="classify: labels must be a JSON list of names"):
        asyncio.run(Classify.create(path("efficientnet_lite0.onnx"), labels))


@pytest.mark.parametrize("top", [0, -1, 1e9, None, "a", True])
def test_top_must_be_a_positive_integer(oracle: Classify, top: Any) -> None:
    with pytest.raises(FeedError, match="classify: top must be a positive integer"):
        asyncio.run(oracle.run(np.zeros((4, 4, 3), np.uint8), top=top))
