"""Runs case tables on a device and compares with the float64 references."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..caps import Caps
from ..device import Device
from ..errors import OnegpuError
from ..kernels.family import Family
from ..plan import Recorder, Role
from .cases import Case, table
from .cases.case import Arrays

Row = dict[str, Any]
LEFT_OUT = "left out"


async def run_table(
    device: Device,
    name: str,
    *,
    names: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
) -> list[Row]:
    """A row per case and variant of table `name`: case, variant, error (scaled), tolerance, ok, message.

    names, variants: run only these. Every run is made twice and must give the same bits. A case that no variant
    takes fails, and one that waits for a device with shader-f16 has a row, ok, whose message begins with LEFT_OUT.
    """
    module = table(name)
    rows = []
    for case in module.CASES:
        if names is not None and case.name not in names:
            continue
        rng = np.random.default_rng(zlib.crc32(case.name.encode()))
        arrays = module.arrays(case.problem, rng)
        expected = module.expected(case.problem, arrays)
        chosen = chosen_variants(module.FAMILY, case, device.caps, variants)
        if not chosen and variants is None:
            waits = _waits_for_half(module.FAMILY, case, device.caps)
            row = _failed(case, "", "no variant takes this case")
            rows.append(row | {"ok": True, "message": f"{LEFT_OUT}: it needs shader-f16"} if waits else row)
        for variant in chosen:
            rows.append(await run_case(device, module.FAMILY, case, variant, arrays, expected))
    return rows


def chosen_variants(family: Family[Any], case: Case, caps: Caps, only: Sequence[str] | None = None) -> list[str]:
    """The variants to run a case with: the case's own list, or all that support it."""
    if case.variants is not None:
        names = list(case.variants)
    else:
        names = [v.name for v in family.variants if v.supports(case.problem, caps) is None]
    return names if only is None else [name for name in names if name in only]


def _waits_for_half(family: Family[Any], case: Case, caps: Caps) -> bool:
    """Whether a variant takes the case on this device once it has half precision."""
    return bool(chosen_variants(family, case, replace(caps, features=caps.features | {"shader-f16"})))


def _failed(case: Case, variant: str, message: str) -> Row:
    row: Row = {"case": case.name, "variant": variant, "error": None, "tolerance": case.tolerance}
    return row | {"ok": False, "message": message}


async def run_case(
    device: Device, family: Family[Any], case: Case, variant: str, arrays: Arrays, expected: Arrays
) -> Row:
    """One case by one variant: its row."""
    row = _failed(case, variant, "")
    targets = {role: Target(device, case.problem, role, value) for role, value in expected.items()}
    try:
        first, second = await _run_twice(device, family, case, variant, arrays, targets)
    except OnegpuError as error:
        return row | {"ok": False, "message": f"{type(error).__name__}: {error}"}
    finally:
        for target in targets.values():
            target.buffer.destroy()
    row["error"] = max(scaled_error(targets[role].result(first[role]), value) for role, value in expected.items())
    for role, target in targets.items():
        if not target.is_clean(first[role]):
            return row | {"ok": False, "message": f"{role} was written outside of its range"}
        if first[role].tobytes() != second[role].tobytes():
            return row | {"ok": False, "message": f"two runs give different bits of {role}"}
    if not row["error"] <= case.tolerance:
        messages = (_describe(targets[r].result(first[r]), expected[r], r) for r in expected)
        return row | {"ok": False, "message": "; ".join(messages)}
    return row | {"ok": True, "message": ""}


class Target:
    """A GPU buffer for one result, with guard elements on both sides and poison everywhere before a run."""

    GUARD = 16
    POISON = 0xDE

    def __init__(self, device: Device, problem: Any, role: str, expected: np.ndarray[Any, Any]) -> None:
        dtype = np.dtype(problem.dtype.name) if expected.dtype == np.float64 else expected.dtype
        self.offset: int = getattr(problem, f"{role}_offset", 0)
        self.size = expected.size
        elements = self.offset + self.size + self.GUARD
        self.poison = np.full(-(-elements * dtype.itemsize // 4) * 4, self.POISON, np.uint8).view(dtype)
        self.buffer = device.create_buffer(self.poison.nbytes, role)

    def result(self, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The result's own elements."""
        return out[self.offset : self.offset + self.size]

    def is_clean(self, out: np.ndarray[Any, Any]) -> bool:
        """Whether everything around the result still holds poison."""
        around = np.concatenate([out[: self.offset], out[self.offset + self.size :]])
        return bool((around.view(np.uint8) == self.POISON).all())


async def _run_twice(
    device: Device, family: Family[Any], case: Case, variant: str, arrays: Arrays, targets: dict[str, Target]
) -> tuple[Arrays, Arrays]:
    """What the buffers of the results hold after each of two runs over fresh poison."""
    recorder = Recorder(device.caps)
    constant = {role for role in arrays if getattr(case.problem, f"{role}_constant", False)}
    reads = {
        role: recorder.constant(array.tobytes(), role)
        if role in constant
        else recorder.buffer(array.nbytes, Role.INPUT, role)
        for role, array in arrays.items()
    }
    writes = {role: target.buffer for role, target in targets.items()}
    family.record(recorder, case.problem, reads, writes, variant=variant)
    loaded = await device.load(recorder.finish())
    inputs = [
        np.ascontiguousarray(array).reshape(-1).view(np.uint8) for role, array in arrays.items() if role not in constant
    ]
    results: list[Arrays] = []
    try:
        for _ in range(2):
            for target in targets.values():
                device.write(target.buffer, target.poison)
            await loaded.run(inputs, [])
            results.append({role: np.empty_like(target.poison) for role, target in targets.items()})
            for role, target in targets.items():
                await device.read(target.buffer, results[-1][role])
    finally:
        loaded.destroy()
    return results[0], results[1]


def scaled_error(out: np.ndarray[Any, Any], ref: np.ndarray[Any, Any]) -> float:
    """max|out - ref| / max|ref|, both flat.

    0 or inf for references that are not float64: equal bits or not. NaN must stand where the
    reference has NaN and nowhere else; infinities likewise, with their sign. Otherwise inf.
    """
    out, ref = out.reshape(-1), ref.reshape(-1)
    if ref.dtype != np.float64:
        return 0.0 if out.tobytes() == ref.astype(out.dtype).tobytes() else np.inf
    wide = out.astype(np.float64)
    odd = ~np.isfinite(ref)
    if not np.array_equal(wide[odd], ref[odd], equal_nan=True) or not np.isfinite(wide[~odd]).all():
        return np.inf
    if odd.all():
        return 0.0
    scale = np.abs(ref[~odd]).max()
    return float(np.abs(wide[~odd] - ref[~odd]).max() / (scale if scale > 0 else 1.0))


def _describe(out: np.ndarray[Any, Any], ref: np.ndarray[Any, Any], role: str) -> str:
    """Where a result is furthest off."""
    with np.errstate(invalid="ignore"):
        off = np.abs(out.astype(np.float64).reshape(-1) - ref.astype(np.float64).reshape(-1))
    off[np.isnan(off)] = np.inf
    at = int(off.argmax()) if off.size else 0
    return (
        f"{role}[{at} of {off.size}] must be {ref.reshape(-1)[at]!r}, got {out.reshape(-1)[at]!r}" if off.size else role
    )
