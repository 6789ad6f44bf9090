"""Passes over what needs no GPU: operators that change nothing, and operators on constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ..errors import UnsupportedError
from .element_types import element_types
from .host import HOST_OPS, RESULT_LIMIT_BYTES, run_host
from .model import Array, Graph, Node, element_name
from .passes_edit import Edit


def drop_identities(graph: Graph, opset: int) -> Graph:
    """Without Identity, Dropout as inference runs it, and Casts to the type that a value already has."""
    edit = Edit(graph)
    dtypes = element_types(graph, opset)
    for node in graph.nodes:
        if not node.domain and node.inputs and node.inputs[0] and _changes_nothing(edit, node, dtypes, opset):
            edit.skip(node, node.inputs[0])
    return edit.result()


def _changes_nothing(edit: Edit, node: Node, dtypes: Mapping[str, str], opset: int) -> bool:
    if node.op_type == "Identity":
        return True
    if node.op_type == "Cast":
        return dtypes.get(node.inputs[0]) == element_name(node.get_int("to", 0))
    if node.op_type == "Dropout":
        masked = any(name in edit.readers or name in edit.kept for name in node.outputs[1:])
        mode = node.inputs[2] if len(node.inputs) > 2 else ""
        training = edit.constant(mode) if mode else None
        return not masked and (not mode or (training is not None and not training.any()))
    return False


def fold_constants(graph: Graph, opset: int, *, limit_bytes: int = RESULT_LIMIT_BYTES) -> Graph:
    """Operators whose inputs are all constant become initializers, read-only.

    Raises: UnsupportedError where the new constants that are alive at once exceed `limit_bytes`; ModelError where
        an operator cannot work on its inputs.
    """
    edit = Edit(graph)
    values: dict[str, Array] = dict(graph.initializers)
    waiting = Counter({name: len(readers) for name, readers in edit.readers.items()})
    made: set[str] = set()
    alive_bytes = 0
    kept_nodes: list[Node] = []
    for node in graph.nodes:
        if node.domain or node.op_type not in HOST_OPS or not all(name in values for name in node.inputs if name):
            kept_nodes.append(node)
            continue
        inputs = [values[name] if name else None for name in node.inputs]
        for name, result in zip(node.outputs, run_host(node, inputs, opset), strict=False):
            if name:
                result.flags.writeable = False
                values[name] = result
                made.add(name)
                alive_bytes += result.nbytes
        for name in node.inputs:
            waiting[name] -= 1
            if name in made and not waiting[name] and name not in edit.kept:
                alive_bytes -= values.pop(name).nbytes
                made.remove(name)
        if alive_bytes > limit_bytes:
            raise UnsupportedError(f"{node.label}: the model's computed constants exceed {limit_bytes} bytes")
    if len(kept_nodes) == len(graph.nodes):
        return graph
    return replace(graph, nodes=tuple(kept_nodes), initializers=MappingProxyType(values))
