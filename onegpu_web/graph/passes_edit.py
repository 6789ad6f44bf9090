"""How a pass changes a graph: it collects edits while it walks, and all are made at once.

Graph outputs keep their names, and so do values that a subgraph captures; everything else may be renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from .model import Array, Graph, Node


class Edit:
    """A graph seen from its values, and the changes to make to it.

    A node takes part in one change at a time: `free` says whether it still can. What that leaves undone, the
    next round of passes does.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.maker = {name: node for node in graph.nodes for name in node.outputs if name}
        self.readers: dict[str, list[Node]] = {}
        captured: set[str] = set()
        for node in graph.nodes:
            for name in node.inputs:
                if name:
                    self.readers.setdefault(name, []).append(node)
            for inner in node.subgraphs():
                captured |= inner.outer_names()
        self.kept = frozenset(captured.union(info.name for info in graph.outputs))
        self._alias: dict[str, str] = {}
        self._put: dict[Node, Node | None] = {}
        self._constants: dict[str, Array] = {}
        self._taken: set[str] | None = None  # every name, once a new one is asked for

    def constant(self, name: str) -> Array | None:
        """The value of an initializer, None for any other name."""
        return self.graph.initializers.get(name)

    def scalar(self, name: str) -> float | None:
        """The value of a constant of one element that cannot raise another operand's rank, else None."""
        value = self.graph.initializers.get(name)
        if value is None or value.size != 1 or value.ndim > 1 or value.dtype.kind not in "fiu":
            return None
        return float(value.reshape(()).item())

    def sole_reader(self, name: str) -> Node | None:
        """The one node that reads the value, once; None where others do or the value must stay."""
        readers = self.readers.get(name, ())
        return readers[0] if len(readers) == 1 and name not in self.kept else None

    def free(self, *nodes: Node) -> bool:
        """Whether no change has touched these nodes."""
        return all(node not in self._put for node in nodes)

    def put(self, node: Node, new: Node) -> None:
        """`new` takes the place of `node`; its inputs must be made before that place."""
        self._put[node] = new

    def drop(self, node: Node) -> None:
        """Takes out a node whose outputs nobody will read."""
        self._put[node] = None

    def skip(self, node: Node, source: str) -> bool:
        """Takes out a node whose first output equals `source`; False where both names must stay."""
        name, source = node.outputs[0], self._resolve(source)
        if name not in self.kept:
            self._alias[name] = source
        elif source not in self.kept and source in self.maker:
            self._alias[source] = name
        else:
            return False
        self._put[node] = None
        return True

    def add_constant(self, base: str, value: Array) -> str:
        """A new initializer's name: `base`, or `base` with a number where the graph has that name anywhere."""
        if self._taken is None:
            self._taken = self.graph.names()
        name, count = base, 1
        while name in self._taken:
            name, count = f"{base}_{count}", count + 1
        self._taken.add(name)
        value = np.ascontiguousarray(value)
        value.flags.writeable = False
        self._constants[name] = value
        return name

    def result(self) -> Graph:
        """The changed graph; the very same object where nothing changed."""
        if not self._put and not self._constants:
            return self.graph
        nodes = [self._put.get(node, node) for node in self.graph.nodes]
        initializers = dict(self.graph.initializers) | self._constants
        return replace(
            self.graph,
            nodes=tuple(self._renamed(node) for node in nodes if node is not None),
            initializers=MappingProxyType(initializers),
        )

    def _resolve(self, name: str) -> str:
        while name in self._alias:
            name = self._alias[name]
        return name

    def _renamed(self, node: Node) -> Node:
        inputs = tuple(self._resolve(name) for name in node.inputs)
        outputs = tuple(self._resolve(name) for name in node.outputs)
        return (
            node if inputs == node.inputs and outputs == node.outputs else replace(node, inputs=inputs, outputs=outputs)
        )


def with_attributes(node: Node, changes: Mapping[str, int | float | list[int]]) -> Node:
    """The node with some attributes set."""
    return replace(node, attributes=MappingProxyType({**node.attributes, **changes}))


def drop_dead(graph: Graph) -> Graph:
    """The graph without nodes, initializers and declarations that no output needs."""
    needed = {info.name for info in graph.outputs}
    alive: list[Node] = []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            alive.append(node)
            needed.update(node.inputs)
            for inner in node.subgraphs():
                needed |= inner.outer_names()
    if len(alive) == len(graph.nodes) and needed.issuperset(graph.initializers):
        return graph
    return replace(
        graph,
        nodes=tuple(reversed(alive)),
        initializers=MappingProxyType({name: value for name, value in graph.initializers.items() if name in needed}),
        value_infos=tuple(info for info in graph.value_infos if info.name in needed),
    )
