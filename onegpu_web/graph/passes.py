"""Rewrites a graph into fewer, larger operators, without knowing any shape.

Each pass is a function (graph, opset) -> graph that returns the same object where it finds nothing to do. All keep the
names of graph inputs and outputs, and results up to the rounding of folded weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .model import Graph, Node
from .passes_activation import fuse_gates, fuse_gelu, fuse_hard_sigmoid
from .passes_edit import drop_dead
from .passes_fold import drop_identities, fold_constants
from .passes_layout import merge_transposes
from .passes_linear import fold_batch_normalization, fold_channel_steps, merge_pad_into_conv

Pass = Callable[[Graph, int], Graph]

PASSES: tuple[Pass, ...] = (
    drop_identities,
    fold_constants,
    merge_transposes,
    merge_pad_into_conv,
    fold_batch_normalization,
    fold_channel_steps,
    fuse_gelu,
    fuse_hard_sigmoid,
    fuse_gates,
)
_ROUNDS = 50  # each round shortens the graph; this only bounds a pass that would not


def simplify(graph: Graph, opset: int) -> Graph:
    """The graph after every pass, round by round until nothing changes.

    Raises: ModelError or UnsupportedError where a constant cannot be computed.
    """
    graph = drop_dead(graph)
    for _ in range(_ROUNDS):
        before = graph
        with np.errstate(all="ignore"):  # weights may be infinite or overflow when folded, as they would step by step
            for run in PASSES:
                graph = run(graph, opset)
        if graph is before:
            break
        graph = drop_dead(graph)
    return graph


def find_unsupported(graph: Graph, supported: Mapping[str, object]) -> list[str]:
    """Every operator that is not a key of `supported`, once, with its count and one node; empty where none is missing.

    Keys are Node.operator: "Conv", or "onegpu.Silu" with a domain.
    """
    return grouped([(node.operator, "", node) for node in graph.nodes if node.operator not in supported])


def grouped(lines: Sequence[tuple[str, str, Node]]) -> list[str]:
    """A line for each operator among (operator, reason, node): how many nodes, one of them, and its reason."""
    found: dict[str, list[tuple[str, Node]]] = {}
    for operator, reason, node in lines:
        found.setdefault(operator, []).append((reason, node))
    return [
        f"{operator}: {len(nodes)} node{'s' if len(nodes) > 1 else ''}, "
        f"{'such as' if len(nodes) > 1 else 'which is'} '{nodes[0][1].name or nodes[0][1].outputs[0]}'"
        + (f" ({nodes[0][0]})" if nodes[0][0] else "")
        for operator, nodes in sorted(found.items())
    ]
