"""The commands about devices and single models: info, run."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..device import Device, request_device
from ..jobs import Picture, load_picture
from .jobs import count
from .model_input import Preparation, model_input

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_info_parser(commands: Subparsers) -> None:
    """`onegpu-web info [--json]`."""
    parser = commands.add_parser(
        "info",
        help="say which GPU is used and what it can do",
        description="Shows the adapter that this machine's jobs run on, its features and its limits.",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(run=run_info)


def add_run_parser(commands: Subparsers) -> None:
    """`onegpu-web run MODEL IMAGE [--size HxW] [--mean M] [--std S] [--top N] [--json]`."""
    parser = commands.add_parser(
        "run",
        help="run any image model on a picture",
        description="Runs an ONNX model with one 4-D float input (NCHW or NHWC, told from its shape) on a picture, "
        "and prints the shape and the largest values of each output. The picture is resized to the input, "
        "without keeping its proportions, and fed as (x - mean) / std.",
    )
    parser.add_argument("model", metavar="MODEL", help="an .onnx file")
    parser.add_argument("image", metavar="IMAGE", help="a picture file")
    parser.add_argument("--size", type=_size, metavar="HxW", help="input size where the model leaves it open (640x480)")
    parser.add_argument("--mean", type=_channels, default=(0.0,), metavar="M", help="one value or R,G,B (default 0)")
    parser.add_argument("--std", type=_deviations, default=(255.0,), metavar="S", help="one or R,G,B (default 255)")
    parser.add_argument("--top", type=count, default=5, metavar="N", help="how many values of an output (default 5)")
    parser.add_argument("--json", action="store_true", help="print it as JSON, times included")
    parser.set_defaults(run=run_model)


def run_info(args: argparse.Namespace) -> int:
    """Print the adapter, its features and its limits."""
    device = asyncio.run(request_device())
    try:
        facts = _facts(device)
    finally:
        device.destroy()
    if args.json:
        print(json.dumps(facts, indent=2))
        return 0
    for name, value in facts["adapter"].items():
        print(f"{name:<13} {value}")
    print(f"{'features':<13} {', '.join(facts['features']) or 'none'}")
    refused = [name for name in facts["offered"] if name not in facts["features"]]
    print(f"{'not enabled':<13} {', '.join(refused) or 'none'}")
    print("limits")
    for name, limit in facts["limits"].items():
        print(f"  {name:<42} {limit:>14,}")
    return 0


def run_model(args: argparse.Namespace) -> int:
    """Run args.model on args.image and print what comes out."""
    preparation = Preparation(size=args.size, mean=args.mean, std=args.std)
    report = asyncio.run(_run(args.model, load_picture(args.image), preparation, args.top))
    if args.json:
        print(json.dumps(_finite(report), indent=2, allow_nan=False))
        return 0
    print("input   " + _port_line(report["input"]))
    for output in report["outputs"]:
        print(
            f"output  {_port_line(output)}  min {output['min']:.6g}  max {output['max']:.6g}  mean {output['mean']:.6g}"
        )
        for entry in output["top"]:
            print(f"        {entry['index']!s:<20} {entry['value']:.6g}")
    print("ms      " + ", ".join(f"{stage} {value:.1f}" for stage, value in report["ms"].items()))
    return 0


async def _run(model: str, picture: Picture, preparation: Preparation, top: int) -> dict[str, Any]:
    from ..graph.session import InferenceSession

    start = time.perf_counter()
    session = await InferenceSession.create(model)
    try:
        loaded = time.perf_counter()
        port = session.get_inputs()
        feed = model_input(picture, port, preparation)
        prepared = time.perf_counter()
        outputs = await session.run(None, {port[0].name: feed})
        done = time.perf_counter()
        ms = {"load": loaded - start, "prepare": prepared - loaded, "model": done - prepared}
        report_ms = {stage: round(seconds * 1e3, 3) for stage, seconds in ms.items()}
        if session.gpu_ms is not None:
            report_ms["gpu"] = round(session.gpu_ms, 3)
        names = [output.name for output in session.get_outputs()]
    finally:
        session.destroy()
    return {
        "input": {"name": port[0].name, "shape": list(feed.shape), "dtype": str(feed.dtype)},
        "outputs": [summary(name, array, top) for name, array in zip(names, outputs, strict=True)],
        "ms": report_ms,
    }


def summary(name: str, array: NDArray[Any], top: int) -> dict[str, Any]:
    """Shape, dtype, least, largest and mean value of an output, and its `top` largest values with their places.

    Least, largest and mean of no values are NaN.
    """
    values = array.astype(np.float64).ravel()
    largest = np.argsort(-values, kind="stable")[:top]
    places = (
        np.stack(np.unravel_index(largest, array.shape), axis=1) if array.ndim else np.empty((largest.size, 0), int)
    )
    return {
        "name": name,
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "min": float(values.min()) if values.size else math.nan,
        "max": float(values.max()) if values.size else math.nan,
        "mean": float(values.mean()) if values.size else math.nan,
        "top": [
            {"index": place.tolist(), "value": float(values[index])}
            for place, index in zip(places, largest, strict=True)
        ],
    }


def _finite(report: Any) -> Any:
    """`report` with None for NaN and the infinities, which JSON has no words for."""
    if isinstance(report, dict):
        return {name: _finite(value) for name, value in report.items()}
    if isinstance(report, list):
        return [_finite(value) for value in report]
    return None if isinstance(report, float) and not math.isfinite(report) else report


def _facts(device: Device) -> dict[str, Any]:
    info = device.info
    return {
        "adapter": {
            "vendor": info.vendor,
            "architecture": info.architecture,
            "device": info.device,
            "description": info.description,
            "backend": info.backend,
        },
        "features": sorted(device.features),
        "offered": sorted(info.offered),
        "limits": dict(sorted(device.limits.items())),
    }


def _port_line(port: dict[str, Any]) -> str:
    return f"{port['name']}  {port['dtype']} {' x '.join(map(str, port['shape'])) or 'scalar'}"


def _size(text: str) -> tuple[int, int]:
    height, _, width = text.lower().partition("x")
    try:
        size = int(height), int(width or height)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be HEIGHTxWIDTH or one number, got {text}") from None
    if min(size) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return size


def _channels(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(value) for value in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers, got {text}") from None
    if len(values) not in (1, 3):
        raise argparse.ArgumentTypeError(f"must be one number or three, got {text}")
    return values


def _deviations(text: str) -> tuple[float, ...]:
    values = _channels(text)
    if 0.0 in values:
        raise argparse.ArgumentTypeError(f"must not be 0, got {text}")
    return values
