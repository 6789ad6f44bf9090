"""The onnx package's own test suites: models, data sets, which of them must be refused, and what is close enough."""

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

from onegpu_web.graph.host import HOST_OPS
from onegpu_web.graph.operators import HANDLERS

Arrays = list[np.ndarray]

KINDS = ("node", "pytorch-converted", "pytorch-operator")
# Element types that kernels or the host compute with.
TYPES = {"FLOAT", "FLOAT16", "INT32", "INT64", "UINT32", "INT8", "UINT8", "BOOL"}
# Kernels that compute in words of 16 or 32 bits; bytes lie four to a word, and only some kernels take them apart.
NOT_IN_BYTES = {"Add", "Clip", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mod"}
NOT_IN_BYTES |= {"Mul", "Sub"}
# By the start of their names.
REFUSED = {
    "test_training_dropout": "training",
    "test_reduce_log_sum_exp_empty_set_expanded": "float64 in between",
    "test_attention_local_window_gqa_rank4_mask_expanded": "float64 in between",
    "test_attention_local_window_ext_cache_float16_mask_expanded": "pads that hang on values",
    "test_batchnorm_example_training_mode": "training",
    "test_batchnorm_epsilon_training_mode": "training",
    "test_PReLU_1d_multiparam": "opset 6's slope by channel, which opset 7 does not broadcast",
    "test_PReLU_2d_multiparam": "opset 6's slope by channel, which opset 7 does not broadcast",
    "test_PReLU_3d_multiparam": "opset 6's slope by channel, which opset 7 does not broadcast",
}
# The package keeps fractional lengths; ours are those that are made, as onnxruntime's and PyTorch's.
OTHER_LENGTHS = (
    "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners",
)
RTOL, ATOL = 1e-3, 1e-5  # where a case asks for less than the package's own defaults
# Every node rounds to half; the softmax in the middle lies on one of two neighbours (2**-11).
HALF_CHAINS = {"test_attention_4d_causal_fp16_expanded": 2e-3}
BFLOAT16_RTOL = 2.0**-8  # bfloat16 counts as float32, so results are not rounded to it


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
    def element_types(self) -> set[str]:
        """Element types of all tensors that the model names."""
        graph = self.model.graph
        named = {onnx.TensorProto.DataType.Name(tensor.data_type) for tensor in graph.initializer}
        return named | _types([*graph.input, *graph.output, *graph.value_info])

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


def supported_cases() -> list[SuiteCase]:
    """The cases whose operators are there, at least one of them as a kernel, whatever their element types."""
    found = [case for kind in KINDS for case in suite(kind) if not case.name.startswith(OTHER_LENGTHS)]
    return [case for case in found if case.operators <= {*HANDLERS, *HOST_OPS} and case.operators & set(HANDLERS)]


def refusal(case: SuiteCase) -> str | None:
    """Why a case of supported_cases must raise; None where it must give its outputs."""
    for name, reason in REFUSED.items():
        if case.name.startswith(name):
            return reason
    if not all(value.type.HasField("tensor_type") for value in case.model.graph.input):
        return "an input that is no tensor"
    fed, made = (_types(values) for values in (case.model.graph.input, case.model.graph.output))
    if not fed <= TYPES or not made <= TYPES | {"BFLOAT16"}:
        return f"elements of {', '.join(sorted((fed | made) - TYPES))}"
    if fed & {"INT8", "UINT8"} and case.operators & NOT_IN_BYTES:
        return "arithmetic on bytes"
    return None


def assert_outputs(case: SuiteCase, got: Arrays, want: Arrays) -> None:
    """Fail unless outputs have the expected types and shapes, and values within the case's tolerance."""
    for actual, wanted in zip(got, want, strict=True):
        rtol, atol = max(case.case.rtol, HALF_CHAINS.get(case.name, RTOL)), max(case.case.atol, ATOL)
        if str(wanted.dtype) == "bfloat16":
            wanted, rtol = wanted.astype(np.float32), max(rtol, BFLOAT16_RTOL)
        assert actual.dtype == wanted.dtype
        assert actual.shape == wanted.shape
        np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=atol)


def _types(values: Any) -> set[str]:
    """Names of the element types of tensors; sequences and optional values name none."""
    types = [value.type.tensor_type.elem_type for value in values if value.type.HasField("tensor_type")]
    return {onnx.TensorProto.DataType.Name(code) for code in types}
