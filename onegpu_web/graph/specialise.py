"""A graph for one set of input shapes: every shape known, host arithmetic done, nodes as steps."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

import numpy as np

from ..errors import KernelShapeError, ModelError, UnsupportedError
from .host import HOST_OPS, run_host
from .integers import Check, guard
from .lowering import Alias, HostValueNeeded, Lowered, Name, NodeView, Step, Value
from .model import Array, Graph, Node, node_reads
from .operators import HANDLERS
from .parameters import check_ranks
from .spans import Span

# Their result is known once the input's shape is, whatever its values.
OF_SHAPE_ALONE = frozenset({"Shape", "Size"})
HOST_INPUT_ELEMENTS = 65_536


@dataclass(frozen=True, slots=True)
class Program:
    """Steps in an order that runs; values by name; the graph's outputs as it names them; what a run must hold true."""

    steps: tuple[Lowered, ...]
    values: Mapping[Name, Value]
    outputs: tuple[str, ...]
    checks: tuple[Check, ...] = ()


def specialise(graph: Graph, opset: int, inputs: Mapping[str, Value]) -> Program:
    """The steps of `graph` for inputs of these types.

    inputs: by name; one with an `array` is known to the host, and what follows from it is folded.
    Raises: HostValueNeeded where a shape hangs on another input's values, UnsupportedError,
    KernelShapeError, ModelError.
    """
    values: dict[Name, Value] = dict(inputs.items())
    for name, array in graph.initializers.items():
        values[name] = Value(name, str(array.dtype), array.shape, array)
    steps: list[Lowered] = []
    kept = {info.name for info in graph.outputs}
    spans: dict[Name, Span] = {}
    checks: list[Check] = []
    for node in graph.nodes:
        lowered = _lower(node, opset, values, kept)
        steps.extend(lowered)
        if lowered:
            more, found = _guarded(node, opset, values, spans)
            steps.extend(more)
            checks.extend(found)
    missing = [info.name for info in graph.outputs if info.name not in values]
    if missing:
        raise ModelError(f"graph: outputs must be made by a node, got {', '.join(missing)}")
    return Program(tuple(steps), values, tuple(info.name for info in graph.outputs), tuple(checks))


def _guarded(
    node: Node, opset: int, values: dict[Name, Value], spans: dict[Name, Span]
) -> tuple[list[Lowered], list[Check]]:
    """What must run beside a node so that no int64 leaves 32 bits unnoticed."""
    made = {i: values[name] for i, name in enumerate(node.outputs) if name and values[name].array is None}
    view = NodeView(node, opset, tuple(values[name] if name else None for name in node.inputs))
    steps, checks = guard(view, made, spans)
    values.update({value.name: value for step in steps if isinstance(step, Step) for value in step.writes.values()})
    return steps, checks


def _lower(node: Node, opset: int, values: dict[Name, Value], kept: Set[str]) -> list[Lowered]:
    """The steps of one node; its outputs enter `values`, those that are another value under a new name as that value.

    kept: names that must stay, the graph's outputs.
    """
    inputs = tuple(values[name] if name else None for name in node.inputs)
    check_ranks(node, [None if value is None else value.shape for value in inputs])
    if node.operator in HOST_OPS and _host_knows(node, inputs):
        arrays = [_array(node, value) for value in inputs]
        for name, array in zip(node.outputs, run_host(node, arrays, opset), strict=False):
            if name:
                values[name] = Value(name, str(array.dtype), array.shape, array)
        return []
    handler = HANDLERS.get(node.operator)
    if handler is None:
        if node.operator in HOST_OPS:
            needed = (n for n, v in zip(node.inputs, inputs, strict=True) if v is not None and v.array is None)
            raise HostValueNeeded(node, next(needed))
        raise UnsupportedError(f"{node.label}: there is no kernel for this operator", [node.operator])
    try:
        steps = handler(NodeView(node, opset, inputs))
    except (KernelShapeError, UnsupportedError) as error:
        if node.label in str(error):
            raise
        raise type(error)(f"{node.label}: {error}") from error
    lowered: list[Lowered] = []
    for step in steps:
        if isinstance(step, Alias):
            source = values[step.source]
            if source.array is None and _is_same(source, step.target) and step.target.name not in kept:
                values[step.target.name] = source
                continue
            target = step.target if source.array is None else _known(step.target, source.array)
            values[target.name] = target
            if source.array is not None:
                continue
        else:
            values.update({value.name: value for value in step.writes.values()})
        lowered.append(step)
    return lowered


def _is_same(source: Value, target: Value) -> bool:
    return (source.dtype, source.shape) == (target.dtype, target.shape) and target.array is None


def _known(target: Value, source: Array) -> Value:
    """`target` with the elements of the constant that it is an alias of: CastLike's first input may be one."""
    return replace(target, array=source.reshape(target.shape).astype(target.dtype, copy=False))


def _host_knows(node: Node, inputs: tuple[Value | None, ...]) -> bool:
    if node.op_type in OF_SHAPE_ALONE:
        return True
    return all(value is None or value.array is not None for value in inputs)


def _array(node: Node, value: Value | None) -> Array | None:
    if value is None or value.array is not None or node.op_type not in OF_SHAPE_ALONE:
        return None if value is None else value.array
    return np.broadcast_to(np.zeros((), np.float32), value.shape)  # only its shape is looked at


def host_inputs(graph: Graph, name: str, inputs: Mapping[str, Value]) -> set[str]:
    """The graph inputs that the value `name` is computed from.

    Raises: UnsupportedError where one of them is too large to be a shape.
    """
    makers = {output: node for node in graph.nodes for output in node.outputs if output}
    found: set[str] = set()
    todo, seen = [name], {name}
    while todo:
        current = todo.pop()
        if current in inputs:
            found.add(current)
        elif current in makers and makers[current].op_type not in OF_SHAPE_ALONE:
            new = node_reads(makers[current]) - seen
            seen |= new
            todo.extend(new)
    large = [n for n in found if np.prod(inputs[n].shape, dtype=np.int64) > HOST_INPUT_ELEMENTS]
    if large or not found:
        raise UnsupportedError(f"shapes depend on the values of '{name}', which only the GPU computes")
    return found
