"""Passes that recognise an activation which exporters spell out in several operators.

The new nodes stand for ONNX's Gelu (approximate none), HardSwish and Mish whatever the model's opset, and for
x * sigmoid(x) as Silu in domain "onegpu", since ONNX's own Swish is newer than the opsets read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt
from types import MappingProxyType

from .model import Attribute, Graph, Node
from .passes_edit import Edit

ONEGPU = "onegpu"


def fuse_gelu(graph: Graph, opset: int) -> Graph:
    """x * (1 + erf(x / sqrt(2))) * 0.5, in whatever order it is multiplied, becomes Gelu."""
    edit = Edit(graph)
    for node in graph.nodes:
        if node.op_type == "Erf" and not node.domain:
            _match_gelu(edit, node)
    return edit.result()


def _match_gelu(edit: Edit, erf: Node) -> None:
    inner = edit.maker.get(erf.inputs[0])
    x = None if inner is None else _scaled_by_root_half(edit, inner)
    add = _sole(edit, erf, "Add")
    if x is None or add is None or _factor(edit, add, erf.outputs[0]) != 1.0:
        return
    first = _sole(edit, add, "Mul")
    if first is None:
        return
    other = _other(first, add.outputs[0])
    half = edit.maker.get(other)
    if half is not None and half.op_type == "Mul" and x in half.inputs and _factor(edit, half, x) == 0.5:
        _fuse(edit, "Gelu", "", x, [erf, add], first)
        return
    second = _sole(edit, first, "Mul")
    if second is None:
        return
    outer = _other(second, first.outputs[0])
    if (other == x and edit.scalar(outer) == 0.5) or (outer == x and edit.scalar(other) == 0.5):
        _fuse(edit, "Gelu", "", x, [erf, add, first], second)


def _scaled_by_root_half(edit: Edit, node: Node) -> str | None:
    """x where the node is x / sqrt(2) or x * sqrt(1/2), to the precision of the constant's type."""
    if node.domain or node.op_type not in ("Div", "Mul") or len(node.inputs) != 2:
        return None
    x, constant = node.inputs
    if node.op_type == "Mul" and edit.constant(constant) is None:
        x, constant = constant, x
    value, array = edit.scalar(constant), edit.constant(constant)
    if value is None or array is None:
        return None
    wanted = sqrt(2.0) if node.op_type == "Div" else sqrt(0.5)
    tolerance = 5e-4 if array.dtype.itemsize == 2 else 1e-6
    return x if abs(value - wanted) <= tolerance * wanted else None


def fuse_hard_sigmoid(graph: Graph, opset: int) -> Graph:
    """clip(x + 3, 0, 6) / 6 becomes HardSigmoid, and x * clip(x + 3, 0, 6) / 6 becomes HardSwish.

    Exporters before opset 14 write these two so.
    """
    edit = Edit(graph)
    for node in graph.nodes:
        if node.op_type == "Clip" and not node.domain:
            _match_hard_sigmoid(edit, node, opset)
    return edit.result()


def _match_hard_sigmoid(edit: Edit, clip: Node, opset: int) -> None:
    add = edit.maker.get(clip.inputs[0])
    if add is None or add.op_type != "Add" or add.domain or _clip_bounds(edit, clip, opset) != (0.0, 6.0):
        return
    x = next((name for name in add.inputs if _factor(edit, add, name) == 3.0), None)
    last = edit.sole_reader(clip.outputs[0])
    three = None if x is None else edit.constant(_other(add, x))
    if x is None or three is None or three.dtype.kind != "f" or last is None or not edit.free(clip, last):
        return
    if _is_sixth(edit, last, clip.outputs[0]):
        attributes: dict[str, Attribute] = {"alpha": 1 / 6, "beta": 0.5}
        _fuse(edit, "HardSigmoid", "", x, [clip], last, attributes)
        return
    product = _sole(edit, clip, "Mul")
    if product is None or _other(product, clip.outputs[0]) != x:
        return
    last = edit.sole_reader(product.outputs[0])
    if last is not None and edit.free(last) and _is_sixth(edit, last, product.outputs[0]):
        _fuse(edit, "HardSwish", "", x, [clip, product], last)


def _clip_bounds(edit: Edit, clip: Node, opset: int) -> tuple[float | None, float | None]:
    if opset < 11:
        return clip.get_float("min", -inf), clip.get_float("max", inf)
    lower, upper = (*clip.inputs[1:], "", "")[:2]
    return edit.scalar(lower), edit.scalar(upper)


def _is_sixth(edit: Edit, node: Node, name: str) -> bool:
    """Whether the node is name / 6 or name * (1 / 6)."""
    if node.domain or len(node.inputs) != 2 or node.op_type not in ("Div", "Mul"):
        return False
    if node.op_type == "Div":
        return node.inputs[0] == name and edit.scalar(node.inputs[1]) == 6.0
    array, value = edit.constant(_other(node, name)), edit.scalar(_other(node, name))
    tolerance = 5e-4 if array is not None and array.dtype.itemsize == 2 else 1e-6
    return value is not None and abs(value - 1 / 6) <= tolerance / 6


def fuse_gates(graph: Graph, opset: int) -> Graph:
    """x * g(x) becomes Silu (g is Sigmoid), HardSwish (HardSigmoid of 1/6 and 1/2) or Mish (Tanh of Softplus)."""
    edit = Edit(graph)
    for node in graph.nodes:
        if node.op_type != "Mul" or node.domain or len(node.inputs) != 2:
            continue
        for x, gate_name in (node.inputs, node.inputs[::-1]):
            gate = edit.maker.get(gate_name)
            if gate is None or gate.domain or edit.sole_reader(gate_name) is not node or not edit.free(node, gate):
                continue
            kind = _gate_kind(edit, gate, x)
            if kind is not None:
                _fuse(edit, kind, ONEGPU if kind == "Silu" else "", x, [gate], node)
                break
    return edit.result()


def _gate_kind(edit: Edit, gate: Node, x: str) -> str | None:
    if gate.op_type == "Sigmoid" and gate.inputs[0] == x:
        return "Silu"
    if gate.op_type == "HardSigmoid" and gate.inputs[0] == x:
        near = abs(gate.get_float("alpha", 0.2) - 1 / 6) < 1e-6 and abs(gate.get_float("beta", 0.5) - 0.5) < 1e-6
        return "HardSwish" if near else None
    if gate.op_type == "Tanh":
        inner = edit.maker.get(gate.inputs[0])
        if inner is not None and inner.op_type == "Softplus" and not inner.domain and inner.inputs[0] == x:
            return "Mish"
    return None


def _sole(edit: Edit, node: Node, op_type: str) -> Node | None:
    """The only reader of the node's result, where it is a free ONNX operator of that type with two inputs."""
    reader = edit.sole_reader(node.outputs[0])
    if reader is None or reader.op_type != op_type or reader.domain or len(reader.inputs) != 2:
        return None
    return reader if edit.free(reader, node) else None


def _other(node: Node, name: str) -> str:
    """The operand of a node of two that is not `name`."""
    return node.inputs[1] if node.inputs[0] == name else node.inputs[0]


def _factor(edit: Edit, node: Node, name: str) -> float | None:
    return edit.scalar(_other(node, name)) if len(node.inputs) == 2 and not node.domain else None


def _fuse(
    edit: Edit,
    op_type: str,
    domain: str,
    x: str,
    inner: list[Node],
    last: Node,
    attributes: Mapping[str, Attribute] = MappingProxyType({}),
) -> None:
    """One node in the place of `last`; the inner ones have no other reader."""
    for node in inner:
        edit.drop(node)
    edit.put(last, Node(op_type, (x,), last.outputs, last.name, domain, attributes))
