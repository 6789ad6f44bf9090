"""The commands that do a whole job on a picture: read, classify, faces."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import TYPE_CHECKING, Any

from ..fetch import path
from ..jobs import Classify, FindFaces, Picture, ReadText, load_picture
from .drawing import save_with_boxes

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_job_parsers(commands: Subparsers) -> None:
    """`onegpu-web read|classify|faces IMAGE [--json]`, with `--out FILE` for the two that find boxes."""
    read = commands.add_parser(
        "read",
        help="read the text in a picture",
        description="Reads the printed text in a picture, line by line from top to bottom.",
    )
    read.set_defaults(run=run_read)
    classify = commands.add_parser(
        "classify",
        help="say what a picture shows",
        description="Names what a picture shows, with the thousand classes of ImageNet.",
    )
    classify.add_argument("--top", type=count, default=5, metavar="N", help="how many names to give (default 5)")
    classify.set_defaults(run=run_classify)
    faces = commands.add_parser(
        "faces",
        help="find the faces in a picture",
        description="Finds the faces in a picture, each with a box and six points.",
    )
    faces.set_defaults(run=run_faces)
    for parser in (read, classify, faces):
        parser.add_argument("image", metavar="IMAGE", help="a picture file: PNG, JPEG, WebP or whatever Pillow reads")
        parser.add_argument("--json", action="store_true", help="print the whole result as JSON, times included")
    for parser in (read, faces):
        parser.add_argument("--out", metavar="FILE", help="save the picture with the boxes drawn on it")


def run_read(args: argparse.Namespace) -> int:
    """Print the lines of text in args.image."""
    picture = load_picture(args.image)
    result = asyncio.run(_read(picture))
    if args.out:
        save_with_boxes(picture, [line["box"] for line in result["lines"]], args.out)
    _print(args, result, [line["text"] for line in result["lines"]])
    return 0


def run_classify(args: argparse.Namespace) -> int:
    """Print what args.image shows, the likeliest first."""
    result = asyncio.run(_classify(load_picture(args.image), args.top))
    _print(args, result, [f"{entry['score']:7.2%}  {entry['label']}" for entry in result["top"]])
    return 0


def run_faces(args: argparse.Namespace) -> int:
    """Print the boxes of the faces in args.image."""
    picture = load_picture(args.image)
    result = asyncio.run(_faces(picture))
    if args.out:
        save_with_boxes(picture, [_corners(face["box"]) for face in result["faces"]], args.out)
    _print(args, result, [_face_line(face) for face in result["faces"]])
    return 0


async def _read(picture: Picture) -> dict[str, Any]:
    job = await ReadText.create(path("pp_ocrv6_det_tiny.onnx"), path("pp_ocrv6_rec_tiny.onnx"))
    try:
        return await job.run(picture)
    finally:
        job.destroy()


async def _classify(picture: Picture, top: int) -> dict[str, Any]:
    job = await Classify.create(path("efficientnet_lite0.onnx"), path("imagenet_labels.json"))
    try:
        return await job.run(picture, top=top)
    finally:
        job.destroy()


async def _faces(picture: Picture) -> dict[str, Any]:
    job = await FindFaces.create(path("blazeface_back.onnx"))
    try:
        return await job.run(picture)
    finally:
        job.destroy()


def _print(args: argparse.Namespace, result: dict[str, Any], lines: list[str]) -> None:
    print(json.dumps(result, ensure_ascii=False, indent=2) if args.json else "\n".join(lines))


def _face_line(face: dict[str, Any]) -> str:
    x0, y0, x1, y1 = face["box"]
    return f"{face['score']:7.2%}  left {x0:.0f}, top {y0:.0f}, right {x1:.0f}, bottom {y1:.0f}"


def _corners(box: list[float]) -> list[list[float]]:
    x0, y0, x1, y1 = box
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def count(text: str) -> int:
    """How many of something, from the command line."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text}") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return number
