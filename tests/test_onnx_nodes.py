"""The onnx package's own suites, run by sessions on the desktop device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from onegpu_web import InferenceSession
from onegpu_web.device import Device
from onegpu_web.errors import UnsupportedError
from onegpu_web.graph.host import HOST_OPS
from onegpu_web.graph.operators import HANDLERS

# Why a test of an operator that is there does not run.
REFUSED = {
    "float64": "WGSL has no float64",
    "float16": "half needs shader-f16 and comes with the kernels that have it",
    "bfloat16": "WGSL has no bfloat16",
}


def _cases() -> list[Any]:
    cases = [case for kind in ("node", "pytorch-converted", "pytorch-operator") for case in load_model_tests(kind=kind)]
    return [case for case in cases if _operators(case) <= set(HANDLERS) and not _operators(case) <= set(HOST_OPS)]


def _model(case: Any) -> onnx.ModelProto:
    return case.model if case.model is not None else onnx.load(Path(case.model_dir) / "model.onnx")


def _operators(case: Any) -> set[str]:
    return {node.op_type if not node.domain else f"{node.domain}.{node.op_type}" for node in _model(case).graph.node}


def _arrays(case: Any) -> list[tuple[list[Any], list[Any]]]:
    if case.data_sets is not None:
        return [([np.asarray(a) for a in inputs], [np.asarray(a) for a in outputs]) for inputs, outputs in case.data_sets]
    found = []
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        sides = [sorted(folder.glob(f"{side}_*.pb"), key=lambda p: int(p.stem.split("_")[1])) for side in ("input", "output")]
        found.append(tuple([numpy_helper.to_array(onnx.load_tensor(path)) for path in side] for side in sides))
    return found


def _wide_types(case: Any) -> set[str]:
    graph = _model(case).graph
    names = {onnx.TensorProto.DataType.Name(v.type.tensor_type.elem_type).lower() for v in [*graph.input, *graph.output]}
    return {"float64" if name == "double" else name for name in names}


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_suite_case_agrees(device: Device, case: Any) -> None:
    model = _model(case)
    for inputs, outputs in _arrays(case):
        session = InferenceSession.create_sync(model.SerializeToString(), device=device)
        try:
            names = [info.name for info in session.get_inputs()]
            results = session.run_sync(None, dict(zip(names, inputs, strict=False)))
        except UnsupportedError as error:
            reasons = [REFUSED[name] for name in _wide_types(case) if name in REFUSED]
            if not reasons:
                raise
            pytest.skip(f"{reasons[0]}: {error}")
        finally:
            session.destroy()
        for got, want in zip(results, outputs, strict=True):
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=max(case.rtol, 1e-3), atol=max(case.atol, 1e-5))
