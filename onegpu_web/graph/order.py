"""Which node runs when: every name defined once, every read defined, no cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

from ..errors import ModelError
from .model import Attribute, Graph, Node, node_reads

_SHOWN = 8  # names in an error


def ordered(graph: Graph, outer: Collection[str] = frozenset()) -> Graph:
    """The graph, and the graphs in its attributes, with nodes in an order that runs.

    outer: for a subgraph, the names it may capture.

    Raises: ModelError for a name defined twice or never, a cycle, or a graph without outputs.
    """
    given = [info.name for info in graph.inputs] + list(graph.initializers)
    if len(set(given)) != len(given):
        raise ModelError(f"graph '{graph.name}': two inputs have one name")
    nodes = sorted_nodes(graph.nodes, given, graph.name, outer)
    made = {name for node in nodes for name in node.outputs if name}.union(given)
    if not graph.outputs:
        raise ModelError(f"graph '{graph.name}': has no outputs")
    for info in graph.outputs:
        if info.name not in made and (info.name not in outer or not info.name):
            raise ModelError(f"graph '{graph.name}': output '{info.name}' is defined by no node")
    parents = {node for node in nodes if any(True for _ in node.subgraphs())}
    if not parents:
        return replace(graph, nodes=nodes)
    visible = made.union(outer)
    return replace(
        graph, nodes=tuple(_with_ordered_subgraphs(node, visible) if node in parents else node for node in nodes)
    )


def _with_ordered_subgraphs(node: Node, visible: Collection[str]) -> Node:
    def mend(value: Attribute) -> Attribute:
        if isinstance(value, list):
            return [mend(item) for item in value]
        return ordered(value, visible) if isinstance(value, Graph) else value

    return replace(node, attributes={name: mend(value) for name, value in node.attributes.items()})


def sorted_nodes(
    nodes: Sequence[Node], given: Iterable[str], graph: str, outer: Collection[str] = ()
) -> tuple[Node, ...]:
    """The nodes in an order that runs; the order they came in where that runs already.

    given: names defined before any node, inputs and initializers; outer: for a subgraph, what it may capture.

    Raises: ModelError for a name defined twice, a read of a name that nobody defines, or a cycle.
    """
    known = set(given)
    maker = _makers(nodes, known, graph)
    waiting: list[int] = []
    readers: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        sources = set()
        for name in node_reads(node):
            if name in maker:
                sources.add(maker[name])
            elif name not in known and name not in outer:
                raise ModelError(f"graph '{graph}': {node.label} reads '{name}', which nothing defines")
        waiting.append(len(sources))
        for source in sources:
            readers.setdefault(source, []).append(index)
    ready = [index for index, count in enumerate(waiting) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for reader in readers.get(index, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                heappush(ready, reader)
    if len(order) != len(nodes):
        raise ModelError(f"graph '{graph}': cycle through {_cycle(nodes, maker, waiting)}")
    return tuple(nodes[index] for index in order)


def _makers(nodes: Sequence[Node], given: set[str], graph: str) -> dict[str, int]:
    maker: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.outputs:
            if not name:
                continue
            if name in maker or name in given:
                first = nodes[maker[name]].label if name in maker else "an input or initializer"
                raise ModelError(f"graph '{graph}': '{name}' is defined twice, by {first} and by {node.label}")
            maker[name] = index
    return maker


def _cycle(nodes: Sequence[Node], maker: dict[str, int], waiting: list[int]) -> str:
    """The labels along one cycle: every stuck node has a stuck source, so walking back must come round."""
    index = next(index for index, count in enumerate(waiting) if count)
    walked: list[int] = []
    seen: dict[int, int] = {}
    while index not in seen:
        seen[index] = len(walked)
        walked.append(index)
        sources = (maker[name] for name in sorted(node_reads(nodes[index])) if name in maker)
        index = next(source for source in sources if waiting[source])
    labels = [nodes[step].label for step in reversed(walked[seen[index] :])]
    return ", ".join(labels[:_SHOWN]) + (f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else "")
