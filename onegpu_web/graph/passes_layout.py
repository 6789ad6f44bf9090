"""Passes over operators that only move or rename axes: pairs cancel, chains become one."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from .model import Graph, Node
from .passes_edit import Edit

_RESHAPES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")


def merge_transposes(graph: Graph, opset: int) -> Graph:
    """A Transpose of a Transpose becomes one, or none where they cancel or nothing moves."""
    edit = Edit(graph)
    for node in graph.nodes:
        if node.op_type != "Transpose" or node.domain or not edit.free(node):
            continue
        source = node.inputs[0]
        order = node.get_ints("perm")
        before = edit.maker.get(source)
        if before is not None and before.op_type == "Transpose" and not before.domain and edit.free(before):
            order = _composed(before.get_ints("perm"), order)
            source = before.inputs[0]
        if order is None:
            continue
        if order == tuple(range(len(order))):
            edit.skip(node, source)
        elif source != node.inputs[0]:
            merged = MappingProxyType({"perm": list(order)})
            edit.put(node, replace(node, inputs=(source,), attributes=merged))
    return edit.result()


def _composed(first: tuple[int, ...] | None, second: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """One perm for two in a row; None where both leave theirs out, so that the rank is unknown, or do not match."""
    rank = len(first or second or ())
    first, second = (tuple(reversed(range(rank))) if perm is None else perm for perm in (first, second))
    if not rank or sorted(first) != list(range(rank)) or sorted(second) != list(range(rank)):
        return None
    return tuple(first[axis] for axis in second)


def merge_reshapes(graph: Graph, opset: int) -> Graph:
    """What only renames axes in front of a Reshape to a constant shape is left out.

    Not where the shape has a 0: that copies an extent of the Reshape's own input.
    """
    edit = Edit(graph)
    for node in graph.nodes:
        if node.op_type != "Reshape" or node.domain or len(node.inputs) != 2:
            continue
        before, shape = edit.maker.get(node.inputs[0]), edit.constant(node.inputs[1])
        if before is None or before.op_type not in _RESHAPES or before.domain or not edit.free(before, node):
            continue
        if shape is not None and shape.dtype.kind in "iu" and (shape != 0).all():
            edit.put(node, _from(node, before.inputs[0]))
    return edit.result()


def _from(node: Node, source: str) -> Node:
    return replace(node, inputs=(source, *node.inputs[1:]))
