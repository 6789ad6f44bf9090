"""What a model needs and this package has not, found when it is loaded: operators, and operators for some data.

What the host computes is known before a run: constants, shapes, and what follows from them or from small inputs. All
else is data, which only the GPU has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from ..errors import UnsupportedError
from .compiled import fits_32_bits
from .element_types import element_types
from .host import HOST_OPS
from .lowering import storage
from .model import Graph, Node, ValueInfo
from .operators import HANDLERS
from .parameters import known_inputs
from .passes import find_unsupported, grouped
from .passes_edit import drop_dead
from .signatures import signature
from .specialise import HOST_INPUT_ELEMENTS, OF_SHAPE_ALONE

# The types that kernels take, where these are not those of 16 or 32 bits and bool; the same for all inputs and outputs.
_FLOATS = frozenset({"float16", "float32"})
_SIGNED = _FLOATS | {"int32", "int64"}
_WORDS = _SIGNED | {"uint32", "bool"}
_MOVED = _WORDS | {"int8", "uint8"}
_OPERATORS_BY_TYPES = {
    "Concat DepthToSpace Dropout Expand Flatten Identity Pad Reshape Resize Slice SpaceToDepth Split Squeeze Tile "
    "Transpose Unsqueeze Upsample": _MOVED,
    "Col2Im Erf Gemm GridSample MatMul PRelu ReduceL2 ReduceLogSum ReduceLogSumExp": _FLOATS,
    "ReduceL1 ReduceMean ReduceProd ReduceSum ReduceSumSquare": _SIGNED,
    "ReduceMax ReduceMin": _SIGNED | {"bool"},
    "MaxPool": _FLOATS | {"int8", "uint8"},
}
_TYPES = {name: types for names, types in _OPERATORS_BY_TYPES.items() for name in names.split()}

Sources = Mapping[str, "frozenset[str] | None"]


def find_missing(graph: Graph, opset: int) -> list[str]:
    """A line for everything that is missing: operators, types of inputs, and operators that would be needed on data."""
    graph = drop_dead(graph)
    found = find_unsupported(graph, {**HOST_OPS, **HANDLERS})
    for info in graph.inputs:
        if info.dtype is None:
            found.append(f"input '{info.name}' must be a tensor of declared elements, got another type")
        elif not _is_stored(info.dtype):
            found.append(f"input '{info.name}': tensors of {info.dtype} cannot be computed on the GPU")
    known = _sources(graph)
    infos = {info.name: info for info in graph.inputs}
    lines: list[tuple[str, str, Node]] = []
    for node in graph.nodes:
        reasons = (_refused(node, index, known.get(node.inputs[index]), infos) for index in _needed(node))
        reason = next(filter(None, reasons), None)
        if reason is not None:
            lines.append((node.operator, reason, node))
    lines += _of_other_types(graph, opset, known)
    return found + grouped(lines)


def find_wide(graph: Graph) -> list[str]:
    """A line for every operator that would compute with 64-bit constants that 32 bits do not hold.

    graph: simplified, so that all constants are there. Bounds of a Clip may lie beyond every value.
    """
    known = _sources(graph)
    lines = []
    for node in _on_gpu(graph, known):
        if node.operator == "Clip":
            continue
        parameters = () if node.operator == "Pad" else known_inputs(node)
        for index, name in enumerate(node.inputs):
            array = graph.initializers.get(name)
            wide = array is not None and array.dtype == np.int64 and array.size and not fits_32_bits(array)
            if wide and index not in parameters:
                lines.append((node.operator, f"'{name}' has integers that 32 bits do not hold", node))
    return grouped(lines)


def _is_stored(dtype: str) -> bool:
    try:
        storage(dtype)
    except UnsupportedError:
        return False
    return True


def _sources(graph: Graph) -> Sources:
    """For every value the graph inputs that the host would have to look at to know it; None where only the GPU can."""
    known: dict[str, frozenset[str] | None] = {info.name: frozenset({info.name}) for info in graph.inputs}
    known |= dict.fromkeys(graph.initializers, frozenset())
    for node in graph.nodes:
        made: frozenset[str] | None = None
        if node.operator in OF_SHAPE_ALONE:
            made = frozenset()
        elif node.operator in HOST_OPS or node.operator in ("CastLike", "Dropout"):
            inputs = [known.get(name) for name in node.inputs if name]
            some = [source for source in inputs if source is not None]
            made = frozenset().union(*some) if len(some) == len(inputs) else None
        known |= dict.fromkeys(node.outputs, made)
    return known


def _needed(node: Node) -> tuple[int, ...]:
    """The inputs whose values the host must know."""
    if node.operator in HANDLERS:
        return known_inputs(node)
    if node.operator in HOST_OPS and node.operator not in OF_SHAPE_ALONE:
        return tuple(index for index, name in enumerate(node.inputs) if name)
    return ()


def _refused(node: Node, index: int, source: frozenset[str] | None, infos: Mapping[str, ValueInfo]) -> str | None:
    """Why the host cannot know an input; None where it can, or where only the first run tells."""
    alone = node.operator not in HANDLERS
    what = "only the host computes it" if alone else f"input {index} must be known before the run"
    name = node.inputs[index]
    if source is None:
        return f"{what}, and '{name}' is made on the GPU"
    for info in (infos[each] for each in source):
        fixed = prod(size for size in info.shape or () if isinstance(size, int))
        free = info.shape is None or any(not isinstance(size, int) for size in info.shape)
        if fixed > HOST_INPUT_ELEMENTS or (alone and free and (info.dtype or "").startswith("float")):
            return f"{what}, and '{name}' comes from the input '{info.name}', which is too large to look at"
    return None


def _on_gpu(graph: Graph, known: Sources) -> Iterator[Node]:
    """The nodes that kernels compute: all with one but what the host knows, or will since it looks at inputs."""
    needed = (known.get(node.inputs[index]) for node in graph.nodes for index in _needed(node))
    looked = frozenset().union(*(source for source in needed if source is not None))
    for node in graph.nodes:
        sources = [known.get(name) for name in node.outputs if name]
        if node.operator in HANDLERS and not all(source is not None and source <= looked for source in sources):
            yield node


def _of_other_types(graph: Graph, opset: int, known: Sources) -> list[tuple[str, str, Node]]:
    """Nodes that the GPU would compute on elements that their kernels do not take, each with what to call it."""
    types = element_types(graph, opset)
    found = []
    for node in _on_gpu(graph, known):
        if signature(node.operator, opset) is None:
            continue
        parameters = known_inputs(node)
        operands = [n for i, n in enumerate(node.inputs) if n and i not in parameters and not _is_roi(node, i)]
        made = types.get(node.outputs[0])
        wrong = next((t for n in operands if (t := types.get(n)) is not None and t not in _taken(node)), None)
        if wrong is not None:
            found.append((f"{node.operator} of {wrong}", _rule(node, wrong), node))
        elif node.op_type in ("Cast", "CastLike") and made not in _WORDS | {types.get(node.inputs[0]), None}:
            found.append((f"{node.operator} to {made}", "", node))
    return found


def _is_roi(node: Node, index: int) -> bool:
    return node.op_type == "Resize" and index == 1


def _taken(node: Node) -> frozenset[str]:
    if node.op_type in ("Cast", "CastLike"):
        return _MOVED
    if node.op_type in ("Resize", "Upsample") and node.attributes.get("mode", "nearest") != "nearest":
        return _FLOATS
    return _TYPES.get(node.operator, _WORDS)


def _rule(node: Node, wrong: str) -> str:
    mode = node.get_str("mode", "nearest")
    if node.op_type in ("Resize", "Upsample") and mode != "nearest":
        return f"mode {mode} must be of floats, got {wrong}"
    return f"kernels take {', '.join(sorted(_taken(node)))}"
