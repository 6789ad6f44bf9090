"""Passes that recognise activations and merge layout operators: what they take, and what only looks like it."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import check, kinds, make

from onegpu_web.graph.passes import simplify
from onegpu_web.graph.reader import read_model

ROOT, HALF = np.float32(2**0.5), np.float32(0.5)
GELU = [("Div", "x root", "d", {}), ("Erf", "d", "e", {}), ("Add", "e one", "a", {})]
GELU_CONSTANTS = {"root": ROOT, "inverse": np.float32(0.5**0.5), "one": np.float32(1), "half": HALF}


@pytest.mark.parametrize(
    "nodes",
    [
        [*GELU, ("Mul", "x a", "m", {}), ("Mul", "m half", "y", {})],
        [*GELU, ("Mul", "a half", "m", {}), ("Mul", "x m", "y", {})],
        [*GELU, ("Mul", "half x", "h", {}), ("Mul", "h a", "y", {})],
        [("Mul", "inverse x", "d", {}), GELU[1], ("Add", "one e", "a", {}), ("Mul", "a x", "m", {}),
         ("Mul", "half m", "y", {})],
    ],
    ids=["x-first", "half-first", "half-apart", "product"],
)  # fmt: skip
def test_gelu_is_recognised(nodes):
    assert kinds(check(make(nodes, GELU_CONSTANTS))) == {"Gelu": 1}


def test_gelu_of_half_is_recognised():
    constants = {name: value.astype(np.float16) for name, value in GELU_CONSTANTS.items()}
    model = read_model(make([*GELU, ("Mul", "x a", "m", {}), ("Mul", "m half", "y", {})], constants, dtype=np.float16))
    assert kinds(simplify(model.graph, model.opset)) == {"Gelu": 1}


@pytest.mark.parametrize(
    ("change", "outputs"),
    [({"half": np.float32(0.4)}, ("y",)), ({"one": np.float32(2)}, ("y",)), ({"root": np.float32(1.4)}, ("y",)),
     ({}, ("y", "e")), ({"half": np.full((1, 1, 1, 1, 1), 0.5, np.float32)}, ("y",))],
    ids=["half", "one", "root", "read-elsewhere", "rank"],
)  # fmt: skip
def test_what_only_looks_like_gelu_stays(change, outputs):
    data = make([*GELU, ("Mul", "x a", "m", {}), ("Mul", "m half", "y", {})], GELU_CONSTANTS | change, outputs=outputs)
    assert kinds(check(data)) == {"Div": 1, "Erf": 1, "Add": 1, "Mul": 2}


@pytest.mark.parametrize(
    ("gate", "kind"),
    [
        ([("Sigmoid", "x", "g", {})], "onegpu.Silu"),
        ([("HardSigmoid", "x", "g", {"alpha": 1 / 6, "beta": 0.5})], "HardSwish"),
        ([("Softplus", "x", "s", {}), ("Tanh", "s", "g", {})], "Mish"),
    ],
    ids=["silu", "hard-swish", "mish"],
)
@pytest.mark.parametrize("inputs", ["x g", "g x"])
def test_gates_are_recognised(gate, kind, inputs):
    assert kinds(check(make([*gate, ("Mul", inputs, "y", {})], {}))) == {kind: 1}


@pytest.mark.parametrize(
    ("gate", "outputs"),
    [
        (("HardSigmoid", "x", "g", {"alpha": 0.2}), ("y",)),
        (("Sigmoid", "x", "g", {}), ("y", "g")),
        (("Tanh", "x", "g", {}), ("y",)),
    ],
    ids=["alpha", "read-elsewhere", "tanh"],
)
def test_other_gates_stay(gate, outputs):
    assert kinds(check(make([gate, ("Mul", "x g", "y", {})], {}, outputs=outputs))) == {gate[0]: 1, "Mul": 1}


CLIP_CONSTANTS = {"three": np.float32(3), "six": np.float32(6), "sixth": np.float32(1 / 6), "zero": np.float32(0)}
CLIP = [("Add", "x three", "a", {}), ("Clip", "a zero six", "c", {})]


@pytest.mark.parametrize(
    ("nodes", "kind"),
    [
        ([*CLIP, ("Div", "c six", "y", {})], "HardSigmoid"),
        ([*CLIP, ("Mul", "sixth c", "y", {})], "HardSigmoid"),
        ([*CLIP, ("Div", "c six", "h", {}), ("Mul", "h x", "y", {})], "HardSwish"),
        ([*CLIP, ("Mul", "x c", "m", {}), ("Div", "m six", "y", {})], "HardSwish"),
        ([*CLIP, ("Mul", "c x", "m", {}), ("Mul", "m sixth", "y", {})], "HardSwish"),
    ],
    ids=["sigmoid", "sigmoid-by-product", "swish", "swish-divided-last", "swish-by-product"],
)
def test_hard_sigmoid_spelled_with_clip_is_recognised(nodes, kind):
    assert kinds(check(make(nodes, CLIP_CONSTANTS))) == {kind: 1}


def test_hard_swish_with_clip_attributes_is_recognised():
    nodes = [CLIP[0], ("Clip", "a", "c", {"min": 0.0, "max": 6.0}), ("Mul", "x c", "m", {}), ("Div", "m six", "y", {})]
    assert kinds(check(make(nodes, CLIP_CONSTANTS, opset=9))) == {"HardSwish": 1}


@pytest.mark.parametrize(
    ("change", "divide"),
    [({"three": np.float32(2)}, "c six"), ({"six": np.float32(5)}, "c six"), ({}, "six c")],
    ids=["offset", "bound", "inverse"],
)
def test_other_clips_stay(change, divide):
    data = make([*CLIP, ("Div", divide, "y", {})], CLIP_CONSTANTS | change)
    graph = read_model(data).graph
    assert kinds(simplify(graph, 17)) == {"Add": 1, "Clip": 1, "Div": 1}


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ([0, 3, 1, 2], [0, 2, 3, 1], {"Relu": 1, "Transpose": 1}),
        ([0, 3, 1, 2], [0, 3, 1, 2], {"Relu": 1, "Transpose": 1}),
        (None, [3, 2, 1, 0], {"Relu": 1, "Transpose": 1}),
        ([3, 1, 0, 2], None, {"Relu": 1, "Transpose": 1}),
    ],
    ids=["cancel", "merge", "default-first", "default-second"],
)
def test_transposes_in_a_row_become_one(first, second, left):
    attributes = [{} if perm is None else {"perm": perm} for perm in (first, second)]
    nodes = [("Relu", "x", "r", {}), ("Transpose", "r", "t", attributes[0]), ("Transpose", "t", "y", attributes[1])]
    assert kinds(check(make(nodes, {}))) == left


def test_a_transpose_read_elsewhere_stays_for_that_reader():
    nodes = [("Transpose", "x", "t", {"perm": [0, 2, 3, 1]}), ("Transpose", "t", "u", {"perm": [0, 3, 1, 2]}),
             ("Relu", "u", "y", {}), ("Exp", "t", "z", {})]  # fmt: skip
    assert kinds(check(make(nodes, {}, outputs=("y", "z")))) == {"Transpose": 2, "Relu": 1, "Exp": 1}
