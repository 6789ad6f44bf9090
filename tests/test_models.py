"""Whole models on real input, and what a session costs, on the desktop device."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from model_runs import TOLERANCES, float64_outputs, model_runs, scaled_error, small_model
from onnx_models import values

from onegpu_web import InferenceSession
from onegpu_web.device import Device
from onegpu_web.fetch import path
from onegpu_web.testing.session_scenarios import runs_leave_nothing_behind

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module", params=TOLERANCES)
def model(request: pytest.FixtureRequest, device: Device) -> Iterator[tuple[str, InferenceSession]]:
    session = InferenceSession.create_sync(path(f"{request.param}.onnx"), device=device)
    yield request.param, session
    session.destroy()


def test_agrees_with_onnxruntime(model: tuple[str, InferenceSession]) -> None:
    name, session = model
    run = model_runs()[name]
    outputs = session.run_sync(None, run.feeds)
    error = scaled_error(outputs, run.outputs)
    print(f"{name}: scaled error {error:.2e}")
    assert error <= TOLERANCES[name]
    assert {output.dtype for output in outputs} == {np.dtype(np.float32)}


def test_the_detector_is_nearer_to_float64_than_onnxruntime(device: Device) -> None:
    name = "pp_ocrv6_det_tiny"
    run, session = model_runs()[name], InferenceSession.create_sync(path(f"{name}.onnx"), device=device)
    exact = float64_outputs(name, run)
    error = scaled_error(session.run_sync(None, run.feeds), exact)
    session.destroy()
    print(f"{name}: scaled error against float64 {error:.2e}, onnxruntime's {scaled_error(run.outputs, exact):.2e}")
    assert error <= min(2e-5, scaled_error(run.outputs, exact))


def test_a_warm_run_is_one_submit_and_one_readback(
    model: tuple[str, InferenceSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, session = model
    feeds = model_runs()[name].feeds
    session.run_sync(None, feeds)
    raw = session.device._raw
    staging = raw.create_buffer(size=4, usage="MAP_READ|COPY_DST")
    calls: list[str] = []
    for owner, methods in (
        (type(raw.queue), ("write_buffer", "submit", "read_buffer")),
        (type(staging), ("map_sync", "map_async")),
    ):
        for method in methods:
            monkeypatch.setattr(owner, method, _noted(getattr(owner, method), calls))
    session.run_sync(None, feeds)
    assert calls == ["write_buffer", "submit", "map_sync"]


def _noted(original: Callable[..., Any], calls: list[str]) -> Callable[..., Any]:
    """`original`, its name noted in `calls`, save where wgpu-py itself calls it: its map_sync submits once more."""

    def noted(*args: Any, **options: Any) -> Any:
        if "wgpu" not in sys._getframe(1).f_globals["__name__"]:
            calls.append(original.__name__)
        return original(*args, **options)

    return noted


def test_300_runs_leave_nothing_behind(device: Device) -> None:
    asyncio.run(runs_leave_nothing_behind(device, small_model(), {"x": values(1, 4, 6, 5)}))


def test_a_session_gives_all_buffers_back(device: Device) -> None:
    before = device.live_buffers()
    session = InferenceSession.create_sync(small_model(), device=device)
    (y,) = session.run_sync(None, {"x": values(1, 4, 6, 5)})
    assert np.isfinite(y).all()
    assert device.live_buffers() > before
    session.destroy()
    assert device.live_buffers() == before
