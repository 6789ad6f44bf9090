"""The ONNX model as plain frozen data: what the reader makes and the passes rewrite.

Names are ONNX's. A tensor is a read-only numpy array; a value's dtype is numpy's name for it
("float32", "int64"); a type that numpy lacks keeps ONNX's name in lower case ("string", "float8e4m3fn"),
and bfloat16 counts as float32, since the reader widens it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError

Array: TypeAlias = NDArray[Any]
Attribute: TypeAlias = "int | float | str | bytes | list[Any] | Array | Graph"
Dim: TypeAlias = "int | str | None"

# Index is TensorProto.DataType. Source: onnx.proto3.
ELEMENT_TYPES = (
    "undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16",
    "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz",
    "float8e5m2", "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2", "float6e2m3",
    "float6e3m2",
)  # fmt: skip


def element_name(code: int) -> str:
    """The dtype name of a TensorProto.DataType; bfloat16 is float32 here.

    Raises: ModelError where ONNX has no such type.
    """
    if not 0 < code < len(ELEMENT_TYPES):
        raise ModelError(f"tensor: data_type must be one of ONNX's 1 to {len(ELEMENT_TYPES) - 1}, got {code}")
    name = ELEMENT_TYPES[code]
    return "float32" if name == "bfloat16" else name


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """A value's declared type. A dim is a size, a name, or None; shape is None where the rank is unknown."""

    name: str
    dtype: str | None
    shape: tuple[Dim, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operator. '' among inputs or outputs is an optional one left out; domain '' is ONNX's own."""

    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str = ""
    domain: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """How messages name the node: operator, then its name or its first output."""
        name = self.name or next((o for o in self.outputs if o), "")
        return f"{self.op_type} '{name}'" if name else self.op_type

    @property
    def operator(self) -> str:
        """The operator with its domain, "com.microsoft.FusedConv"; plain for ONNX's own."""
        return f"{self.domain}.{self.op_type}" if self.domain else self.op_type

    def subgraphs(self) -> Iterator[Graph]:
        """The graphs among the attributes (If, Loop, Scan)."""
        for value in self.attributes.values():
            if isinstance(value, Graph):
                yield value
            elif isinstance(value, list) and value and isinstance(value[0], Graph):
                yield from (item for item in value if isinstance(item, Graph))

    def get_int(self, name: str, default: int) -> int:
        """Attribute `name`. Raises: ModelError where it is no integer."""
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise self._wrong(name, "an integer", value)
        return value

    def get_float(self, name: str, default: float) -> float:
        """Attribute `name`. Raises: ModelError where it is no float."""
        value = self.attributes.get(name, default)
        if not isinstance(value, (int, float)):
            raise self._wrong(name, "a float", value)
        return float(value)

    def get_str(self, name: str, default: str) -> str:
        """Attribute `name`. Raises: ModelError where it is no UTF-8 string."""
        value = self.attributes.get(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a string", value)
        return value

    def get_ints(self, name: str) -> tuple[int, ...] | None:
        """Attribute `name`, None where absent. Raises: ModelError where it is no list of integers."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, int) for item in value):
            raise self._wrong(name, "a list of integers", value)
        return tuple(value)

    def get_floats(self, name: str) -> tuple[float, ...] | None:
        """Attribute `name`, None where absent. Raises: ModelError where it is no list of floats."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, (int, float)) for item in value):
            raise self._wrong(name, "a list of floats", value)
        return tuple(float(item) for item in value)

    def get_tensor(self, name: str) -> Array | None:
        """Attribute `name`, None where absent. Raises: ModelError where it is no tensor."""
        value = self.attributes.get(name)
        if value is None or isinstance(value, np.ndarray):
            return value
        raise self._wrong(name, "a tensor", value)

    def _wrong(self, name: str, rule: str, value: object) -> ModelError:
        return ModelError(f"{self.label}: {name} must be {rule}, got {type(value).__name__}")


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes in an order that runs, and their values.

    initializers: name to read-only array, views into the file where it stores them raw.
    inputs: what a caller feeds; an input with an initializer (IR version 3) counts as the initializer alone.
    value_infos: declared types of values in between, as far as the file has them.
    """

    name: str
    nodes: tuple[Node, ...]
    initializers: Mapping[str, Array]
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    value_infos: tuple[ValueInfo, ...] = ()

    def names(self) -> set[str]:
        """Every name of a value in the graph and in the graphs of its nodes, read or not."""
        infos = (*self.inputs, *self.outputs, *self.value_infos)
        found = {info.name for info in infos}.union(self.initializers)
        for node in self.nodes:
            found.update(node.inputs, node.outputs)
            for inner in node.subgraphs():
                found |= inner.names()
        return found

    def outer_names(self) -> set[str]:
        """Names that the nodes or outputs read and this graph does not define (a subgraph's captures)."""
        own = {info.name for info in self.inputs} | set(self.initializers)
        own.update(output for node in self.nodes for output in node.outputs)
        read = {name for node in self.nodes for name in node_reads(node)} | {info.name for info in self.outputs}
        return read - own - {""}


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """An ONNX file. opsets: domain ('' is ONNX's own) to version; metadata: the file's metadata_props."""

    ir_version: int
    opsets: Mapping[str, int]
    graph: Graph
    metadata: Mapping[str, str]
    producer: str

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators."""
        return self.opsets[""]


def node_reads(node: Node) -> set[str]:
    """Every name a node needs before it runs: its inputs and what its subgraphs take from outside."""
    names = set(node.inputs)
    for graph in node.subgraphs():
        names |= graph.outer_names()
    names.discard("")
    return names
