"""Finding faces: anchors, blending, and pictures."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest
from oracle import OracleSession

from onegpu_web.device import Device
from onegpu_web.errors import ModelError, PictureError
from onegpu_web.fetch import path
from onegpu_web.jobs import FindFaces, load_picture
from onegpu_web.jobs.faces import anchors, blend, decode_faces, face_input, overlap

# Drawn by hand on astronaut.png: from cheek to cheek and from the hair to the chin.
ASTRONAUT = (178.0, 78.0, 273.0, 178.0)


@pytest.fixture(scope="module")
def oracle() -> FindFaces:
    return FindFaces(OracleSession(path("blazeface_back.onnx")))


def _overlap(first: Any, second: Any) -> float:
    return float(overlap(np.array(first, np.float32), np.array([second], np.float32))[0])


def test_astronaut_has_one_face_where_it_is(oracle: FindFaces) -> None:
    (face,) = asyncio.run(oracle.run(load_picture(path("astronaut.png"))))["faces"]
    assert _overlap(face["box"], ASTRONAUT) >= 0.6
    assert face["score"] > 0.8
    right_eye, left_eye, nose, mouth, right_ear, left_ear = face["points"]
    # Read off the picture: pupils, tip of the nose, middle of the mouth.
    assert right_eye == pytest.approx([203, 101], abs=4)
    assert left_eye == pytest.approx([247, 103], abs=4)
    assert nose == pytest.approx([225, 126], abs=6)
    assert mouth == pytest.approx([222, 147], abs=6)
    assert right_ear[0] < right_eye[0] < left_eye[0] < left_ear[0]


@pytest.mark.parametrize("name", ["coffee.png", "rocket.jpg"])
def test_pictures_without_faces_have_none(oracle: FindFaces, name: str) -> None:
    assert asyncio.run(oracle.run(load_picture(path(name))))["faces"] == []


@pytest.mark.parametrize(("scale", "left", "top"), [(1, 300, 0), (1, 0, 200), (3, 0, 0), (2, 100, 400)])
def test_a_face_is_found_where_it_was_moved(oracle: FindFaces, scale: int, left: int, top: int) -> None:
    """Other proportions and sizes: the frame around the picture is undone rightly."""
    face = load_picture(path("astronaut.png")).repeat(scale, axis=0).repeat(scale, axis=1)
    picture = np.pad(face, ((top, 0), (left, 0), (0, 0)), mode="edge")
    (found,) = asyncio.run(oracle.run(picture))["faces"]
    moved = np.array(ASTRONAUT) * scale + [left, top, left, top]
    assert _overlap(found["box"], moved) >= 0.6


def test_two_faces_are_two(oracle: FindFaces) -> None:
    picture = load_picture(path("astronaut.png"))[:300, 80:380]
    faces = asyncio.run(oracle.run(np.hstack((picture, picture[:, ::-1]))))["faces"]
    assert len(faces) == 2
    assert _overlap(faces[0]["box"], faces[1]["box"]) == 0


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 400, 3), (9_000, 12_000, 3)])
def test_plain_pictures_of_any_size_have_no_faces(oracle: FindFaces, shape: tuple[int, ...]) -> None:
    result = asyncio.run(oracle.run(np.broadcast_to(np.uint8(90), shape)))
    assert result["faces"] == []
    assert json.loads(json.dumps(result)) == result
    assert set(result["ms"]) == {"prepare", "model", "finish"}


def test_input_is_the_picture_in_the_middle_of_a_square() -> None:
    feed, frame = face_input(np.full((64, 128, 3), 255, np.uint8))
    assert feed.shape == (1, 256, 256, 3)
    assert feed.dtype == np.float32
    assert (frame.scale, frame.left, frame.top) == (2, 0, 64)
    np.testing.assert_allclose(feed[0, 64:192], 1, atol=1e-6)
    assert (feed[0, :64] == -1).all()
    assert (feed[0, 192:] == -1).all()


def test_anchors_are_two_to_a_cell_then_six() -> None:
    places = anchors()
    assert places.shape == (896, 2)
    np.testing.assert_allclose(places[[0, 1, 2, 32]] * 16, [[0.5, 0.5], [0.5, 0.5], [1.5, 0.5], [0.5, 1.5]])
    np.testing.assert_allclose(places[[512, 517, 518, 560]] * 8, [[0.5, 0.5], [0.5, 0.5], [1.5, 0.5], [0.5, 1.5]])


def _outputs() -> list[np.ndarray]:
    """Nothing found, in the order of the model's outputs."""
    empty = [np.full((1, count, 1), -100, np.float32) for count in (512, 384)]
    return empty + [np.zeros((1, count, 16), np.float32) for count in (512, 384)]


def test_outputs_are_told_apart_by_their_shapes() -> None:
    outputs = _outputs()
    outputs[1][0, 1] = 2.0
    outputs[3][0, 1, :6] = [4, 8, 20, 10, 1, 2]
    for order in ([0, 1, 2, 3], [3, 1, 2, 0], [2, 3, 0, 1]):
        scores, geometry = decode_faces([outputs[index] for index in order])
        assert np.nonzero(scores > 0.5)[0].tolist() == [513]
        assert scores[513] == pytest.approx(1 / (1 + np.exp(-2.0)))
        np.testing.assert_allclose(geometry[513, :6], [10, 19, 30, 29, 17, 18])


def test_huge_logits_do_not_overflow() -> None:
    outputs = _outputs()
    outputs[0][0, :2, 0] = [1e30, -1e30]
    scores, _ = decode_faces(outputs)
    assert scores[:2].tolist() == pytest.approx([1, 0])


def test_outputs_of_another_model_are_a_model_error() -> None:
    with pytest.raises(ModelError, match="896 scores"):
        decode_faces([np.zeros((1, 1000), np.float32)])


def _geometry(*boxes: tuple[float, float, float, float]) -> np.ndarray:
    return np.array([[*box, *([0.0] * 12)] for box in boxes], np.float32)


def test_overlapping_boxes_become_their_weighted_mean() -> None:
    geometry = _geometry((0, 0, 10, 10), (2, 0, 12, 10), (50, 50, 60, 60), (0, 0, 10, 10))
    kept = blend(np.array([0.8, 1.0, 0.9, 0.1], np.float32), geometry)
    assert [score for score, _ in kept] == pytest.approx([1.0, 0.9])
    np.testing.assert_allclose(kept[0][1][:4], [2 / 1.8, 0, 10 + 2 / 1.8, 10], rtol=1e-6)
    np.testing.assert_allclose(kept[1][1][:4], [50, 50, 60, 60])


def test_boxes_without_area_are_kept_once_each() -> None:
    kept = blend(np.array([0.9, 0.8], np.float32), _geometry((5, 5, 5, 5), (5, 5, 5, 5)))
    assert len(kept) == 2


def test_overlap_is_intersection_over_union() -> None:
    assert _overlap((0, 0, 4, 4), (2, 2, 6, 6)) == pytest.approx(4 / 28)
    assert _overlap((0, 0, 4, 4), (4, 0, 8, 4)) == 0
    assert _overlap((0, 0, 4, 4), (0, 0, 4, 4)) == 1


def test_other_values_are_picture_errors(oracle: FindFaces) -> None:
    with pytest.raises(PictureError):
        asyncio.run(oracle.run(np.zeros((9, 9), np.uint8)))


@pytest.mark.gpu
def test_the_gpu_finds_the_same_faces(oracle: FindFaces, device: Device) -> None:
    names = ["astronaut.png", "camera.png", "chelsea.png", "coffee.png"]

    async def on_gpu() -> list[dict[str, Any]]:
        job = await FindFaces.create(path("blazeface_back.onnx"), device=device)
        try:
            return [await job.run(load_picture(path(name))) for name in names]
        finally:
            job.destroy()

    for name, result in zip(names, asyncio.run(on_gpu()), strict=True):
        expected = asyncio.run(oracle.run(load_picture(path(name))))
        assert len(result["faces"]) == len(expected["faces"])
        for got, wanted in zip(result["faces"], expected["faces"], strict=True):
            np.testing.assert_allclose(got["box"], wanted["box"], atol=0.1)
            np.testing.assert_allclose(got["points"], wanted["points"], atol=0.1)
            assert got["score"] == pytest.approx(wanted["score"], abs=1e-3)
        assert result["ms"]["gpu"] > 0
