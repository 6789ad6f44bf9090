"""The four models of the demo on real pictures, prepared by the jobs and computed by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import make, values
from oracle import OracleSession
from pictures import printed_page

from onegpu_web.device import wait
from onegpu_web.fetch import path
from onegpu_web.jobs import Classify, FindFaces, ReadText, load_picture

# Scaled error of the worst output of a model: max|out - ref| / max|ref|.
TOLERANCES = {
    "pp_ocrv6_det_tiny": 1e-4,
    "pp_ocrv6_rec_tiny": 1e-4,
    "efficientnet_lite0": 1e-5,
    "blazeface_back": 1e-4,
}


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The first run that a job made of a model: its only input, and all outputs of onnxruntime."""

    feeds: dict[str, NDArray[Any]]
    outputs: list[NDArray[Any]]


class RecordingSession(OracleSession):
    """An OracleSession that keeps its first run."""

    first: ModelRun | None = None

    async def run(
        self, output_names: Sequence[str] | None, feeds: Mapping[str, NDArray[np.float32]]
    ) -> list[NDArray[Any]]:
        outputs = await super().run(output_names, feeds)
        self.first = self.first or ModelRun(dict(feeds), outputs)
        return outputs


@cache
def model_runs() -> dict[str, ModelRun]:
    """By model: a piece of a printed page (detector and recognizer), a cup of coffee, an astronaut.

    The piece is small because onnxruntime's detector is not exact on more: on a page of 480 x 320 pixels its own
    scaled error against float64 is 1.1e-4, that of the GPU 1.2e-5 (docs/models.md).
    """
    sessions = {name: RecordingSession(path(f"{name}.onnx")) for name in TOLERANCES}
    reader = ReadText(sessions["pp_ocrv6_det_tiny"], sessions["pp_ocrv6_rec_tiny"])
    wait(reader.run(printed_page(0, lines=2, width=400)[0][:100, :200]))
    names = [str(index) for index in range(1000)]
    wait(Classify(sessions["efficientnet_lite0"], names).run(load_picture(path("coffee.png"))))
    wait(FindFaces(sessions["blazeface_back"]).run(load_picture(path("astronaut.png"))))
    return {name: session.first for name, session in sessions.items() if session.first is not None}


def scaled_error(outputs: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]]) -> float:
    """The largest scaled error of any output; infinite where a shape is another or a value is not finite."""
    worst = 0.0
    for out, ref in zip(outputs, expected, strict=True):
        if out.shape != ref.shape or not np.isfinite(out).all():
            return float("inf")
        wide = ref.astype(np.float64)
        worst = max(worst, float(np.abs(out - wide).max() / np.abs(wide).max()))
    return worst


def float64_outputs(name: str, run: ModelRun) -> list[NDArray[Any]]:
    """What a model of float32 gives when onnx's reference computes it in float64."""
    model = onnx.load(path(f"{name}.onnx"))
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            wide = numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    return ReferenceEvaluator(model).run(None, {key: array.astype(np.float64) for key, array in run.feeds.items()})


def small_model() -> bytes:
    """A convolution with an addend and an activation, and a pool: several steps, constants, scratch; x is 1x4x6x5."""
    nodes = [
        ("Conv", "x w b", "c", {"pads": [1, 1, 1, 1]}),
        ("Add", "c x", "s", {}),
        ("Relu", "s", "r", {}),
        ("MaxPool", "r", "y", {"kernel_shape": [2, 2]}),
    ]
    return make(nodes, {"w": values(4, 4, 3, 3), "b": values(4)})
