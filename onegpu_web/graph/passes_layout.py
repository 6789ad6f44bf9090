"""Passes over operators that only move axes: a chain of Transposes becomes one."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from .model import Graph, Node
from .passes_edit import Edit


def merge_transposes(graph: Graph, opset: int) -> Graph:
    """A Transpose of a Transpose becomes one.

    It stays where nothing moves: shapes are unknown here, and a perm of another rank than x has must be reported when
    they are. It costs no launch then (operators/movement.py).
    """
    edit = Edit(graph)
    for node in graph.nodes:
        before = edit.maker.get(node.inputs[0]) if _transposes(node) else None
        if before is None or not _transposes(before) or not edit.free(before, node):
            continue
        order = _composed(before.get_ints("perm"), node.get_ints("perm"))
        if order is not None:
            merged = MappingProxyType({"perm": list(order)})
            edit.put(node, replace(node, inputs=(before.inputs[0],), attributes=merged))
    return edit.result()


def _transposes(node: Node) -> bool:
    return node.op_type == "Transpose" and not node.domain


def _composed(first: tuple[int, ...] | None, second: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """One perm for two in a row; None where both leave theirs out, so that the rank is unknown, or do not match."""
    rank = len(first or second or ())
    first, second = (tuple(reversed(range(rank))) if perm is None else perm for perm in (first, second))
    if not rank or sorted(first) != list(range(rank)) or sorted(second) != list(range(rank)):
        return None
    return tuple(first[axis] for axis in second)
