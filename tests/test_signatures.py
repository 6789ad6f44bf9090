"""The table of signatures is ONNX's own, and what it says is checked when a model is loaded."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from test_session import make

from onegpu_web import InferenceSession, ops
from onegpu_web.errors import KernelShapeError, ModelError
from onegpu_web.graph.host import HOST_OPS
from onegpu_web.graph.operators import HANDLERS
from onegpu_web.graph.signatures import NEWEST_OPSET, TABLE

NAMES = {"tensor(float)": "float32", "tensor(double)": "float64"}
FEW = {"bool", "int32", "int64"}
# ONNX 11 demands them; exporters leave them out all the same, as 13 allows.
LEFT_OUT = {("Resize", 11, "roi"), ("Resize", 11, "scales")}


def line(schema: Any) -> str:
    """A schema as a line of the table."""
    allowed = {each.type_param_str: set(each.allowed_type_strs) for each in schema.type_constraints}
    parts = []
    for each in schema.inputs:
        kinds = allowed.get(each.type_str, {each.type_str})
        plain = {NAMES.get(kind, kind.removeprefix("tensor(").removesuffix(")")) for kind in kinds}
        types = each.type_str if each.type_str in allowed and not plain <= FEW else "|".join(sorted(plain))
        option = str(each.option).rpartition(".")[2]
        if (schema.name, schema.since_version, each.name) in LEFT_OUT:
            option = "Optional"
        parts.append(f"{each.name}:{types}" + {"Single": "", "Optional": "?", "Variadic": "*"}[option])
    parts += [f"!{name}" for name, attribute in sorted(schema.attributes.items()) if attribute.required]
    return " ".join([schema.name, str(schema.since_version), *parts])


def onnx_lines(newest: int) -> list[str]:
    """The forms of all operators that are there, those that look alike once."""
    found: dict[str, list[Any]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        there = schema.name in HANDLERS or schema.name in HOST_OPS
        if there and schema.domain == "" and schema.since_version <= newest:
            found.setdefault(schema.name, []).append(schema)
    lines = []
    for name in sorted(found):
        forms = sorted(found[name], key=lambda schema: schema.since_version)
        used = [form for form in forms if form.since_version >= 7]
        old = [form for form in forms if form.since_version < 7]
        last = ""
        for form in [*old[-1:], *used]:
            text = line(form)
            if text.split(" ", 2)[2:] != last:
                lines.append(text)
            last = text.split(" ", 2)[2:]
    return lines


def test_the_table_is_onnx_s() -> None:
    newest = min(NEWEST_OPSET, onnx.defs.onnx_opset_version())
    table = [text for text in TABLE.split("\n") if text and int(text.split()[1]) <= newest]
    assert table == onnx_lines(newest)


X, W = [1, 1, 2, 2], np.ones((1, 1, 1, 1), np.float32)
HALF = np.ones(1, np.float16)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("node", "inputs", "constants", "kind", "words"),
    [
        (("Conv", "x w b"), {}, {"w": W, "b": HALF}, KernelShapeError, "B must be of X's type float32, got float16"),
        (("ConvTranspose", "x w b"), {}, {"w": W, "b": HALF}, KernelShapeError, "B must be of X's type"),
        (("Gemm", "m m b"), {"m": [1, 1]}, {"b": HALF}, KernelShapeError, "C must be of A's type"),
        (("Add", "x b"), {}, {"b": HALF}, KernelShapeError, "B must be of A's type"),
        (("PRelu", "x b"), {}, {"b": HALF}, KernelShapeError, "slope must be of X's type"),
        (("Concat", "x b"), {}, {"b": HALF.reshape(1, 1, 1, 1)}, ModelError, "attribute axis must be given"),
        (("Conv", "x w b b b"), {}, {"w": W, "b": np.ones(1, np.float32)}, ModelError, "at most 3, got 5"),
        (("Clip", "x b"), {}, {"b": np.float16(0)}, KernelShapeError, "min must be of input's type"),
        (("Clip", "x lo b"), {}, {"lo": np.float32(0), "b": np.int64(6)}, KernelShapeError, "max must be of"),
        (("Where", "c x x"), {"c": (TensorProto.UINT8, X)}, {}, KernelShapeError, "condition must be bool, got uint8"),
        (("Reshape", "x s"), {}, {"s": np.array([4.0], np.float32)}, KernelShapeError, "shape must be int64"),
        (("Expand", "x s"), {}, {"s": np.array([1], np.int32)}, KernelShapeError, "shape must be int64"),
        (("Tile", "x s"), {}, {"s": np.ones(4, np.float32)}, KernelShapeError, "repeats must be int64"),
        (("Unsqueeze", "x s"), {}, {"s": np.array([0], np.int32)}, KernelShapeError, "axes must be int64"),
        (("Slice", "x s s"), {}, {"s": np.array([0.0], np.float32)}, KernelShapeError, "starts must be int32"),
        (("Gather", "x s"), {}, {"s": np.array([0.0], np.float32)}, KernelShapeError, "indices must be int32"),
        (("ReduceSum", "x s"), {}, {"s": np.array([0], np.int32)}, KernelShapeError, "axes must be int64"),
        (("Pad", "x s"), {}, {"s": np.zeros(8, np.int32)}, KernelShapeError, "pads must be int64"),
        (("And", "x x"), {}, {}, KernelShapeError, "A must be bool, got float32"),
    ],
)
def test_what_an_operator_does_not_take_is_refused_at_load(
    node: tuple[str, str], inputs: dict[str, Any], constants: dict[str, Any], kind: type[Exception], words: str
) -> None:
    made = helper.make_node(node[0], node[1].split(), ["y"])
    read = set(node[1].split())
    given = {name: spec for name, spec in {"x": X, **inputs}.items() if name in read}
    with pytest.raises(kind, match=words):
        InferenceSession.create_sync(make([made], given, ["y"], constants, opset=17))


@pytest.mark.gpu
def test_operations_check_the_same() -> None:
    with pytest.raises(KernelShapeError, match="B must be of X's type float32, got float16"):
        ops.conv_sync(np.ones((1, 1, 2, 2), np.float32), W, HALF)


@pytest.mark.gpu
def test_batch_normalization_of_half_may_have_parameters_of_float32() -> None:
    names = ["scale", "shift", "mean", "variance"]
    nodes = [
        helper.make_node("BatchNormalization", ["x", *names], ["n"]),
        helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = {name: np.full(2, value, np.float32) for name, value in zip(names, (2, 1, 3, 1e-7), strict=True)}
    session = InferenceSession.create_sync(make(nodes, {"x": (TensorProto.FLOAT16, [1, 2, 2])}, ["y"], constants))
    x = np.array([[[3, 3.5], [2, 4]]], np.float16)
    expected = (x.astype(np.float64) - 3) / np.sqrt(1e-7 + 1e-5) * 2 + 1
    (y,) = session.run_sync(None, {"x": x})
    assert np.abs(y - expected).max() <= 1e-3 * np.abs(expected).max()
    session.destroy()
