"""The element type of every value, and the check of every node against its operator's signature.

The one place that knows what ONNX allows: handlers, passes and host operators rely on it. A type that is not known
(behind an operator that is not there) is not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import KernelShapeError, ModelError
from .model import Dim, Graph, Node, element_name
from .parameters import check_ranks
from .signatures import ELEMENTS, Signature, signature, versions

_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "i": ("an integer", (int,)),
    "f": ("a float", (int, float)),
    "s": ("a string", (str,)),
    "t": ("a tensor", (np.ndarray,)),
}


def check_nodes(graph: Graph, opset: int) -> None:
    """Hold every node of an operator that the table knows against its signature.

    Raises: ModelError for an operator that the opset has not, for inputs, outputs or attributes that are too many,
    missing or of a wrong kind; KernelShapeError for inputs of a wrong type.
    """
    known, shapes = _given(graph), _shapes(graph)
    for node in graph.nodes:
        found = signature(node.operator, opset)
        if found is not None:
            _check_inputs(node, found)
            _check_outputs(node, found)
            _check_attributes(node, found)
            _check_types(node, found, known)
            check_ranks(node, [shapes.get(name) for name in node.inputs])
        elif made := versions(node.operator):
            raise ModelError(f"{node.label}: opset must be {made[0][0]} or newer for {node.op_type}, got {opset}")
        _add_outputs(node, found, known)


def element_types(graph: Graph, opset: int) -> dict[str, str]:
    """The type of every value, as far as it is known. Passes make operators that are newer than the opset."""
    known = _given(graph)
    for node in graph.nodes:
        found = signature(node.operator, opset)
        if found is None and (made := versions(node.operator)):
            found = made[0][1]
        _add_outputs(node, found, known)
    return known


def _given(graph: Graph) -> dict[str, str]:
    known = {info.name: info.dtype for info in graph.inputs if info.dtype is not None}
    return known | {name: value.dtype.name for name, value in graph.initializers.items()}


def _shapes(graph: Graph) -> dict[str, tuple[Dim, ...] | None]:
    """The shapes that the file tells: of inputs and initializers."""
    known = {info.name: info.shape for info in graph.inputs}
    return known | {name: value.shape for name, value in graph.initializers.items()}


def _check_inputs(node: Node, found: Signature) -> None:
    least = max((i for i, each in enumerate(found.inputs, 1) if not each.optional), default=0)
    for index, wanted in enumerate(found.inputs[:least]):
        if not wanted.optional and not (index < len(node.inputs) and node.inputs[index]):
            given = sum(1 for name in node.inputs[:least] if name)
            raise ModelError(
                f"{node.label}: inputs must be at least {least}, got {given}: {wanted.name} (input {index}) is missing"
            )
    for index, name in enumerate(node.inputs):
        parameter = found.input(index)
        if parameter is None and name:
            raise ModelError(f"{node.label}: inputs must be at most {len(found.inputs)}, got {len(node.inputs)}")
        if parameter is not None and parameter.variadic and not name:
            raise ModelError(f"{node.label}: {parameter.name} (input {index}) must be given")


def _check_outputs(node: Node, found: Signature) -> None:
    if not node.outputs or not node.outputs[0]:
        raise ModelError(f"{node.op_type} '{node.name}': its first output must have a name")
    if any(name and found.output(index) is None for index, name in enumerate(node.outputs)):
        raise ModelError(f"{node.label}: outputs must be at most {len(found.outputs)}, got {len(node.outputs)}")


def _check_attributes(node: Node, found: Signature) -> None:
    missing = [name for name, (_, required) in found.attributes.items() if required and name not in node.attributes]
    if missing:
        raise ModelError(f"{node.label}: attribute {', '.join(missing)} must be given")
    for name, value in node.attributes.items():
        if name not in found.attributes:
            allowed = ", ".join(found.attributes) or "none"
            raise ModelError(f"{node.label}: attributes must be of {allowed} in this opset, got {name}")
        kind = found.attributes[name][0]
        rule, classes = _KINDS.get(kind.lower(), ("", (object,)))
        if kind.isupper():
            fits = isinstance(value, (list, tuple)) and all(isinstance(item, classes) for item in value)
            rule = f"a list, each {rule}"
        else:
            fits = isinstance(value, classes)
        if not fits:
            raise ModelError(f"{node.label}: {name} must be {rule}, got {_spelled(value)}")


def _spelled(value: Any) -> str:
    return type(value).__name__ if isinstance(value, (np.ndarray, bytes, list)) else repr(value)


def _check_types(node: Node, found: Signature, known: Mapping[str, str]) -> None:
    bound: dict[str, tuple[str, str]] = {}
    for index, name in enumerate(node.inputs):
        parameter, dtype = found.input(index), known.get(name)
        if parameter is None or dtype is None or dtype not in ELEMENTS:
            continue
        what, allowed = f"{node.label}: {parameter.name}", found.types[parameter.variable]
        if dtype not in allowed:
            rule = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
            raise KernelShapeError(f"{what} must be {rule}, got {dtype} (input {index}, '{name}')")
        other, agreed = bound.setdefault(parameter.variable, (parameter.name, dtype))
        if dtype != agreed:
            raise KernelShapeError(
                f"{what} must be of {other}'s type {agreed}, got {dtype} (input {index}, '{name}'): inputs must be of "
                "one type"
            )


def _add_outputs(node: Node, found: Signature | None, known: dict[str, str]) -> None:
    """Enter what follows for the node's outputs into `known`."""
    if found is None:
        return
    bound: dict[str, str] = {}
    for index, name in enumerate(node.inputs):
        parameter, dtype = found.input(index), known.get(name)
        if parameter is not None and dtype is not None:
            bound.setdefault(parameter.variable, dtype)
    for index, name in enumerate(node.outputs):
        parameter = found.output(index)
        made = None if parameter is None else _made(node, found, parameter.variable, bound)
        if name and made is not None:
            known[name] = made


def _made(node: Node, found: Signature, variable: str, bound: Mapping[str, str]) -> str | None:
    """The type of an output of this variable."""
    if variable in bound:
        return bound[variable]
    if len(found.types[variable]) == 1:
        return found.types[variable][0]
    if node.op_type == "Cast":
        return element_name(node.get_int("to", 0))
    if node.op_type == "DequantizeLinear":
        code = node.get_int("output_dtype", 0)
        return element_name(code) if code else bound.get("T2")
    if node.op_type in ("Constant", "ConstantOfShape"):
        return _constant_type(node)
    return None


def _constant_type(node: Node) -> str | None:
    """The type that the attribute of a Constant or ConstantOfShape gives; None for strings."""
    value = node.get_tensor("value")
    if value is not None:
        return value.dtype.name
    for kind, dtype in (("int", "int64"), ("float", "float32")):
        if f"value_{kind}" in node.attributes or f"value_{kind}s" in node.attributes:
            return dtype
    return "float32" if node.op_type == "ConstantOfShape" else None
