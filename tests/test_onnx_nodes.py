"""The onnx package's own suites, run by sessions on the desktop device."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_suite import SuiteCase, assert_outputs, refusal, supported_cases

from onegpu_web import InferenceSession
from onegpu_web.device import Device
from onegpu_web.errors import FeedError, KernelShapeError, UnsupportedError


@pytest.mark.parametrize("case", supported_cases(), ids=lambda case: case.name)
def test_suite_case_agrees(device: Device, case: SuiteCase) -> None:
    model = case.model.SerializeToString()
    for inputs, outputs in case.data_sets:
        if refusal(case):
            with pytest.raises((UnsupportedError, KernelShapeError, FeedError)):
                _run(model, device, inputs)
        else:
            assert_outputs(case, _run(model, device, inputs), outputs)


def _run(model: bytes, device: Device, inputs: list[np.ndarray]) -> list[np.ndarray]:
    session = InferenceSession.create_sync(model, device=device)
    try:
        names = [info.name for info in session.get_inputs()]
        return session.run_sync(None, dict(zip(names, inputs, strict=False)))
    finally:
        session.destroy()
