"""The onnx package's own test suites, as (name, model, data sets)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper, version_converter
from onnx.backend.test.loader import load_model_tests

Arrays = list[np.ndarray]


@dataclass(frozen=True, slots=True)
class SuiteCase:
    """One test of the package; rtol and atol are its own."""

    name: str
    case: Any

    @property
    def model(self) -> onnx.ModelProto:
        """The model; the converted suites are of opset 6 and come as 7, where broadcasting has no attributes."""
        model = self.case.model or onnx.load(Path(self.case.model_dir) / "model.onnx")
        old = [domain for domain in model.opset_import if domain.domain == "" and domain.version < 7]
        return version_converter.convert_version(model, 7) if old else model

    @property
    def operators(self) -> set[str]:
        """Operator names, with their domain where it is not ONNX's own."""
        nodes = (self.case.model or onnx.load(Path(self.case.model_dir) / "model.onnx")).graph.node
        return {node.op_type if not node.domain else f"{node.domain}.{node.op_type}" for node in nodes}

    @property
    def data_sets(self) -> list[tuple[Arrays, Arrays]]:
        """Inputs and outputs in the model's order."""
        if self.case.data_sets is not None:
            return [(list(map(_array, ins)), list(map(_array, outs))) for ins, outs in self.case.data_sets]
        return [
            (_read(folder, "input"), _read(folder, "output"))
            for folder in sorted(Path(self.case.model_dir).glob("test_data_set_*"))
        ]


def _array(value: Any) -> np.ndarray:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def _read(folder: Path, side: str) -> Arrays:
    paths = sorted(folder.glob(f"{side}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]


@cache
def suite(kind: str) -> tuple[SuiteCase, ...]:
    """All tests of a kind: node, pytorch-converted, pytorch-operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package computes its expectations with overflows and NaN
        return tuple(SuiteCase(case.name, case) for case in load_model_tests(kind=kind))
