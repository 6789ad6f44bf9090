"""Right values for what users and probes reported: one small test each."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from test_session import make

from onegpu_web import InferenceSession


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (-10, -20, -1, [0]),
        (-10, -(2**63), -2, [0]),
        (9, -9, -2, [4, 2, 0]),
        (2, -(2**31), -1, [2, 1, 0]),
        (-9, 9, 2, [0, 2, 4]),
        (9, 12, 1, []),
        (-10, 2, -1, []),
    ],
)
def test_slice_clamps_as_onnx_does(start: int, end: int, step: int, expected: list[int]) -> None:
    bounds = {name: np.array([value], np.int64) for name, value in (("s", start), ("e", end), ("a", 0), ("t", step))}
    model = make([helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])], {"x": [5]}, ["y"], bounds)
    session = InferenceSession.create_sync(model)
    assert session.run_sync(None, {"x": np.arange(5, dtype=np.float32)})[0].tolist() == expected
    session.destroy()
