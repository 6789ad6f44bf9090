"""The onnx package's own suites, run by sessions on the desktop device."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_suite import SuiteCase, suite

from onegpu_web import InferenceSession
from onegpu_web.device import Device
from onegpu_web.errors import FeedError, KernelShapeError, UnsupportedError
from onegpu_web.graph.host import HOST_OPS
from onegpu_web.graph.operators import HANDLERS

# Element types that kernels or the host compute with; a case of any other must be refused.
TYPES = {"FLOAT", "FLOAT16", "INT32", "INT64", "UINT32", "INT8", "UINT8", "BOOL"}
# Cases that must be refused too, by the start of their names, and why.
REFUSED = {
    "test_training_dropout": "training",
    "test_reduce_log_sum_exp_empty_set_expanded": "float64 in between",
    "test_batchnorm_example_training_mode": "training",
    "test_batchnorm_epsilon_training_mode": "training",
    "test_PReLU_1d_multiparam": "opset 6's slope by channel, which opset 7 does not broadcast",
    "test_PReLU_2d_multiparam": "opset 6's slope by channel, which opset 7 does not broadcast",
    "test_PReLU_3d_multiparam": "opset 6's slope by channel, which opset 7 does not broadcast",
}
RTOL, ATOL = 1e-3, 1e-5  # where a case asks for less than the package's own defaults


def _cases() -> list[SuiteCase]:
    found = [case for kind in ("node", "pytorch-converted", "pytorch-operator") for case in suite(kind)]
    return [case for case in found if case.operators <= set(HANDLERS) and not case.operators <= set(HOST_OPS)]


def _refused(case: SuiteCase) -> bool:
    graph = case.model.graph
    values = [*graph.input, *graph.output]
    names = {onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type) for value in values}
    return not names <= TYPES or any(case.name.startswith(name) for name in REFUSED)


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_suite_case_agrees(device: Device, case: SuiteCase) -> None:
    model = case.model.SerializeToString()
    for inputs, outputs in case.data_sets:
        if _refused(case):
            with pytest.raises((UnsupportedError, KernelShapeError, FeedError)):
                _run(model, device, inputs)
            continue
        for got, want in zip(_run(model, device, inputs), outputs, strict=True):
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=max(case.case.rtol, RTOL), atol=max(case.case.atol, ATOL))


def _run(model: bytes, device: Device, inputs: list[np.ndarray]) -> list[np.ndarray]:
    session = InferenceSession.create_sync(model, device=device)
    try:
        names = [info.name for info in session.get_inputs()]
        return session.run_sync(None, dict(zip(names, inputs, strict=False)))
    finally:
        session.destroy()
