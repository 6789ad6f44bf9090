"""The convolutions of a model, each distinct one with how often the model has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dtypes import DType
from ..graph.feeds import input_values
from ..graph.fusion import fuse
from ..graph.lowering import Step
from ..graph.passes import simplify
from ..graph.reader import read_model
from ..graph.specialise import specialise
from ..problems.conv import Convolution
from .layers import MODELS


@dataclass(frozen=True, slots=True)
class Item:
    """A distinct convolution of a model and how often the model has it."""

    name: str
    count: int
    problem: Convolution


def model_items(model: str, batch: int, dtype: DType, most_extent: int | None = None) -> list[Item]:
    """The convolutions of a built-in model or of an ONNX file, whose free dimensions take `batch`, then 224.

    most_extent: a limit on height and width, for adapters that would take minutes (built-in models only).
    """
    if model not in MODELS:
        return _file_items(model, batch)
    return [
        Item(layer.name, layer.count, layer.problem(batch, dtype, min(layer.extent, most_extent or layer.extent)))
        for layer in MODELS[model]
    ]


def _file_items(path: str, batch: int) -> list[Item]:
    with open(path, "rb") as file:
        model = read_model(file.read())
    graph = simplify(model.graph, model.opset)
    arrays = {}
    for info in graph.inputs:
        free = [batch, 3, 224, 224]
        shape = [d if isinstance(d, int) else free[min(i, 3)] for i, d in enumerate(info.shape or ())]
        arrays[info.name] = np.zeros(shape, info.dtype or "float32")
    program = fuse(specialise(graph, model.opset, input_values(graph.inputs, arrays, frozenset())))
    counts: dict[Convolution, int] = {}
    for step in program.steps:
        if isinstance(step, Step) and isinstance(step.problem, Convolution):
            counts[step.problem] = counts.get(step.problem, 0) + 1
    return [Item(_describe(problem), count, problem) for problem, count in counts.items()]


def _describe(problem: Convolution) -> str:
    shapes = "_".join("x".join(map(str, shape)) for shape in (problem.x_shape, problem.w_shape))
    return f"{problem.op}_{shapes}_s{problem.strides[-1]}_g{problem.group}"
