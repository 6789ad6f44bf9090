"""Times convolutions layer by layer: `python -m onegpu_web.bench layers MODEL --batch N [--half] [--variant NAME]`.

Every distinct convolution of a model is checked against the plain variant on the same GPU, warmed up and
timed over many dispatches in one pass, which is how a model runs them: each waits for the one before.
`bench_layers` is the same in a page, under Pyodide.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .device import Buffer, Device, LoadedPlan, request_device
from .dtypes import FLOAT16, FLOAT32
from .errors import OnegpuError
from .kernels.conv import CONV, CONV_TRANSPOSE
from .kernels.conv.families import ConvFamily
from .kernels.conv.tiles import TILES
from .plan import Operand, Recorder, Role
from .problems.conv import Convolution, ConvProblem
from .problems.conv_transpose import ConvTransposeProblem
from .testing.items import Item, model_items
from .testing.layers import MODELS

Row = dict[str, Any]
Report = dict[str, Any]

_PASS_MS = 2.0  # wanted GPU time of one timed pass
_PASSES = 9
_WARM_MS = 500.0  # of work before the clock counts
_HEAT_MS = 12.0
_GROUP_BYTES = 4 << 30
_MOST_DISPATCHES = 600
_CHECKED_ELEMENTS = 4 << 20  # compared of each end of a large output
_TOLERANCES = {FLOAT32: 1e-5, FLOAT16: 2e-3}
_FLOPS_PER_MS_TO_TFLOPS = 1e-9


def family_of(problem: Convolution) -> ConvFamily:
    """The family that runs the problem."""
    return CONV_TRANSPOSE if isinstance(problem, ConvTransposeProblem) else CONV


def candidates(problem: Convolution, device: Device) -> list[str]:
    """Every variant that supports the problem, products with each of their tiles; without plain."""
    names = [v.name for v in family_of(problem).variants if v.supports(problem, device.caps) is None]
    made = []
    for name in names:
        tiled = name in ("implicit_gemm", "pointwise", "split_k")
        if name != "plain" and not (name == "implicit_gemm" and "pointwise" in names):
            made += [f"{name}@{tile}" for tile in TILES] if tiled else [name]
    return made


async def bench_layers(
    device: Device,
    model: str,
    *,
    batch: int = 1,
    half: bool = False,
    variant: str | None = None,
    most_extent: int | None = None,
    progress: Callable[[Row], object] | None = None,
) -> Report:
    """Check and time every distinct convolution of a model.

    model: resnet50, mobilenetv3_large, dbnet_r18 or the path of an .onnx file. variant: None for the
    preferred one, `all` for every candidate, else a name; layers that it does not support are left out.
    Returns: adapter, rows and their sum over the model (the fastest row of each layer).
    """
    rows: list[Row] = []
    items = model_items(model, batch, FLOAT16 if half else FLOAT32, most_extent)
    for group in _groups(items):
        for row in await _bench_group(device, group, variant):
            rows.append({"model": model, "batch": batch, "half": half} | row)
            if progress is not None:
                progress(rows[-1])
    best: dict[str, float] = {}
    for row in rows:
        cost = row["count"] * row["median_ms"]
        best[row["layer"]] = min(cost, best.get(row["layer"], cost))
    return {
        "model": model,
        "batch": batch,
        "half": half,
        "variant": variant,
        "adapter": device.info.description or device.info.device,
        "vendor": device.info.vendor,
        "backend": device.info.backend,
        "clock": "gpu" if "timestamp-query" in device.features else "wall",
        "sum_ms": sum(best.values()),
        "ok": all(row["ok"] for row in rows),
        "rows": rows,
    }


async def bench_json(options: str, on_row: Callable[[str], object]) -> str:
    """`bench_layers` for a page: its keyword arguments and `model` as JSON in, rows and the report as JSON out."""
    given = json.loads(options)
    device = await request_device()
    try:
        report = await bench_layers(
            device,
            given["model"],
            batch=given["batch"],
            half=given["half"],
            variant=given["variant"],
            most_extent=given["most_extent"],
            progress=lambda row: on_row(json.dumps(row)),
        )
    finally:
        device.destroy()
    return json.dumps(report)


class Operands:
    """A problem's buffers with random contents, y twice: for a variant and for plain."""

    def __init__(self, device: Device, problem: Convolution) -> None:
        rng = np.random.default_rng(0)
        self.device, self.problem = device, problem
        self.reads: dict[str, Operand | None] = {}
        self.buffers: list[Buffer] = []
        self.expected: list[np.ndarray[Any, Any]] | None = None
        for role, shape, is_written in problem.operands():
            count = getattr(problem, f"{role}_offset") + int(np.prod(shape, dtype=np.int64))
            buffer = self._create(count, role)
            if is_written:
                self.y, self.count = buffer, count
                continue
            scale = float(np.prod(shape[1:], dtype=np.int64)) ** -0.5 if role == "w" else 1.0
            values = rng.standard_normal(count, dtype=np.float32) * np.float32(scale)
            device.write(buffer, values.astype(problem.dtype.name))
            self.reads[role] = buffer

    def _create(self, count: int, label: str) -> Buffer:
        self.buffers.append(self.device.create_buffer(count * self.problem.dtype.size_bytes, label))
        return self.buffers[-1]

    async def load(self, variant: str | None, dispatches: int, *, waits: bool = True) -> LoadedPlan:
        """A plan of so many dispatches, each waiting for the one before; `waits`: with a readback to wait for."""
        recorder = Recorder(self.device.caps)
        for _ in range(dispatches):
            family_of(self.problem).record(recorder, self.problem, self.reads, {"y": self.y}, variant=variant)
        if waits:
            recorder.buffer(16, Role.OUTPUT, "end")
        return await self.device.load(recorder.finish())

    async def output(self, variant: str | None) -> list[np.ndarray[Any, Any]]:
        """What a variant computes: all of y, or both ends of a large one."""
        loaded = await self.load(variant, 1)
        try:
            await loaded.run([], [bytearray(16)])
        finally:
            loaded.destroy()
        size = self.problem.dtype.size_bytes
        pieces = [(0, self.count)]
        if self.count > 2 * _CHECKED_ELEMENTS:
            last = (self.count - _CHECKED_ELEMENTS) // 4 * 4
            pieces = [(0, _CHECKED_ELEMENTS), (last, self.count - last)]
        found = []
        for first, count in pieces:
            found.append(np.empty(count, self.problem.dtype.name))
            await self.device.read(self.y, found[-1], first * size)
        return found

    async def error(self, variant: str | None) -> float:
        """Scaled difference of a variant from plain."""
        if self.expected is None:
            self.expected = await self.output("plain")
        found = await self.output(variant)
        pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(found, self.expected, strict=True)]
        largest = max(float(np.abs(b).max()) for _, b in pairs)
        return max(float(np.abs(a - b).max()) for a, b in pairs) / (largest or 1.0)

    def destroy(self) -> None:
        """Free the buffers."""
        for buffer in self.buffers:
            buffer.destroy()


def _groups(items: Sequence[Item]) -> list[list[Item]]:
    """Items whose buffers lie on the GPU together, to be timed in turn without a pause."""
    groups: list[list[Item]] = [[]]
    held = 0
    for item in items:
        size = sum(int(np.prod(shape, dtype=np.int64)) for _, shape, _ in item.problem.operands())
        held += size * item.problem.dtype.size_bytes
        if held > _GROUP_BYTES and groups[-1]:
            groups.append([])
            held = size * item.problem.dtype.size_bytes
        groups[-1].append(item)
    return groups


@dataclass(slots=True)
class Timer:
    """A loaded plan of `dispatches` dispatches of one layer, and what each pass of it took for one dispatch."""

    row: Row
    operands: Operands
    loaded: LoadedPlan
    dispatches: int
    times_ms: list[float]

    async def measure(self) -> None:
        """One pass."""
        start = time.perf_counter()
        await self.loaded.run([], [bytearray(16)])
        elapsed = (time.perf_counter() - start) * 1e3
        self.times_ms.append((elapsed if self.loaded.gpu_ms is None else self.loaded.gpu_ms) / self.dispatches)


async def _bench_group(device: Device, items: Sequence[Item], variant: str | None) -> list[Row]:
    """Check every row of the items, then time all of them in turn, without the host's work in between."""
    held: list[Operands] = []
    timers: list[Timer] = []
    try:
        for item in items:
            held.append(Operands(device, item.problem))
            for name in candidates(item.problem, device) if variant == "all" else [variant]:
                row = await _checked(device, item, held[-1], name)
                if row is not None:
                    timers.append(await _timer(row, held[-1], name))
        await _time_in_turn(device, timers)
    finally:
        for timer in timers:
            timer.loaded.destroy()
        for operands in held:
            operands.destroy()
    return [timer.row for timer in timers]


async def _time_in_turn(device: Device, timers: Sequence[Timer]) -> None:
    """Warm up, then time rounds over all timers, each pass right behind other work, and fill in their rows."""
    heater = await _heater(device)
    try:
        begin = time.perf_counter()
        while (time.perf_counter() - begin) * 1e3 < _WARM_MS:
            await heater.loaded.run([], [])
            await timers[0].measure()
        for _ in range(_PASSES + 1):
            for timer in timers:
                await heater.loaded.run([], [])  # queued: nothing waits between it and the timed pass
                await timer.measure()
    finally:
        heater.loaded.destroy()
        heater.operands.destroy()
    for timer in timers:
        row, times = timer.row, timer.times_ms[1:]
        row["median_ms"], row["min_ms"] = statistics.median(times), min(times)
        row["tflops"] = row["flops"] / row["median_ms"] * _FLOPS_PER_MS_TO_TFLOPS


async def _heater(device: Device) -> Timer:
    """Work of about _HEAT_MS that goes ahead of each timed pass.

    A GPU that waits for the host lowers its clock: times of one kernel on an H200 differed by up to four between
    sweeps that checked rows in between.
    """
    operands = Operands(device, ConvProblem((1, 64, 56, 56), (64, 64, 3, 3), pads=(1,) * 4))
    timed = await _timer({}, operands, "implicit_gemm", _HEAT_MS)
    timed.loaded.destroy()
    return replace(timed, loaded=await operands.load("implicit_gemm", timed.dispatches, waits=False))


async def _checked(device: Device, item: Item, operands: Operands, variant: str | None) -> Row | None:
    """A checked row; None where the variant does not support the problem."""
    problem, family = item.problem, family_of(item.problem)
    name = (variant or "").partition("@")[0]
    chosen = next((v for v in family.variants if v.name == name), None)
    if name and (chosen is None or chosen.supports(problem, device.caps) is not None):
        return None
    g = problem.geometry()
    volume = g.x_volume if problem.op == "conv_transpose" else g.y_volume
    launches = family.choose(problem, device.caps, variant).lower(problem, device.caps).launches
    error = await operands.error(variant)
    return {
        "layer": item.name,
        "count": item.count,
        "variant": variant or family.choose(problem, device.caps).name,
        "launches": [launch.label for launch in launches],
        "error": error,
        "ok": error <= _TOLERANCES[problem.dtype],
        "flops": 2 * g.n * g.group * g.m * g.c * g.k_volume * volume,
    }


async def _timer(row: Row, operands: Operands, variant: str | None, pass_ms: float = _PASS_MS) -> Timer:
    """A plan of so many dispatches that a pass takes about `pass_ms`."""
    trial = Timer(row, operands, await operands.load(variant, 3), 3, [])
    try:
        for _ in range(3):
            await trial.measure()
    finally:
        trial.loaded.destroy()
    dispatches = max(1, min(_MOST_DISPATCHES, int(pass_ms / max(min(trial.times_ms), 1e-6))))
    return Timer(row, operands, await operands.load(variant, dispatches), dispatches, [])


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m onegpu_web.bench", description=__doc__)
    parser.add_argument("what", choices=["layers"])
    parser.add_argument("model", nargs="+", help=f"{', '.join(MODELS)}, all, or .onnx files")
    parser.add_argument("--batch", type=int, nargs="+", default=[1])
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--variant", help="a name, name@tile, or all")
    parser.add_argument("--most-extent", type=int, help="limit height and width")
    parser.add_argument("--json", metavar="FILE", help="write the reports; - for standard output")
    args = parser.parse_args(argv)
    try:
        reports = asyncio.run(_run(args))
    except OnegpuError as error:
        print(error, file=sys.stderr)
        return 1
    if args.json == "-":
        print(json.dumps(reports))
    return 0 if all(report["ok"] for report in reports) else 1


async def _run(args: argparse.Namespace) -> list[Report]:
    device = await request_device()
    quiet = args.json == "-"
    reports = []
    for model in MODELS if args.model == ["all"] else args.model:
        for batch in args.batch:
            reports.append(
                await bench_layers(
                    device,
                    model,
                    batch=batch,
                    half=args.half,
                    variant=args.variant,
                    most_extent=args.most_extent,
                    progress=None if quiet else _print,
                )
            )
            if args.json and not quiet:  # after each model, so that a run cut short keeps what it has
                with open(args.json, "w", encoding="utf-8") as file:
                    json.dump(reports, file, indent=1)
            if not quiet:
                print(f"{model} batch {batch}: {reports[-1]['sum_ms']:.3f} ms over all layers", flush=True)
    device.destroy()
    return reports


def _print(row: Row) -> None:
    times = f"{row['median_ms'] * 1e3:9.1f} us (min {row['min_ms'] * 1e3:9.1f})"
    error = f"error {row['error']:.1e}{'' if row['ok'] else ' WRONG'}"
    launches = " + ".join(row["launches"])
    print(f"{row['count']:2} x {times} {row['tflops']:6.2f} TFLOP/s  {error}  {row['layer']}  {launches}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
