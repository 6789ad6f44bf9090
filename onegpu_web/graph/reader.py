"""Bytes of an .onnx file to a Model: the subset of ONNX's protobuf that inference needs.

Our own, since the onnx package is not in Pyodide and would multiply the download. Weights stay where they are:
an initializer is a view into the file. What the file claims is checked before it is believed, so a truncated,
random or hostile one ends in a ModelError that says where.
Source: onnx.proto3 (field numbers), onnx docs/IR.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from struct import unpack_from
from types import MappingProxyType
from typing import NamedTuple

from ..errors import ModelError, UnsupportedError
from .element_types import check_nodes
from .model import Array, Attribute, Dim, Graph, Model, Node, ValueInfo, element_name
from .order import ordered
from .protobuf import FIXED32, LENGTH, VARINT, Field, Message, fields, packed_or_single
from .tensors import read_tensor

OPSETS = range(7, 29)
_NESTING_LIMIT = 16  # graphs in graphs; real models have two or three

# AttributeProto.AttributeType, and the field each type's value lies in.
_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS, _STRINGS, _TENSORS, _GRAPHS = range(1, 11)
_SPARSE, _SPARSES, _TYPE, _TYPES = 11, 12, 13, 14
_VALUE_FIELDS = {
    _FLOAT: 2, _INT: 3, _STRING: 4, _TENSOR: 5, _GRAPH: 6, _FLOATS: 7, _INTS: 8, _STRINGS: 9, _TENSORS: 10,
    _GRAPHS: 11, _SPARSE: 22, _SPARSES: 23, _TYPE: 14, _TYPES: 15,
}  # fmt: skip
_SHORT_BYTES = 64
# What is often served or stored in a model's place, by its first bytes.
_NOT_MODELS = {
    b"<!doctype html": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "an XML document",
    b"version https://git-lfs": "a Git LFS pointer",
    b"pk\x03\x04": "a zip archive",
}
_DEFAULTS: dict[int, Attribute] = {_FLOAT: 0.0, _INT: 0, _STRING: ""}  # protobuf leaves zeros out
_TYPE_OF_FIELD = {number: kind for kind, number in _VALUE_FIELDS.items()}


class _Context(NamedTuple):
    """What reading a graph needs to know of its surroundings."""

    folder: Path | None
    known: dict[bytes, tuple[str, Attribute | None]]
    """Short attributes by their bytes: models repeat pads=[1, 1, 1, 1] hundreds of times, and this halves the time."""
    depth: int = 0


def read_model(data: bytes | bytearray | memoryview, *, folder: Path | None = None) -> Model:
    """The model in `data`, whose raw weights become views of it.

    folder: where the model lies, for external data.

    Raises: ModelError for a malformed file, UnsupportedError for a sound one beyond this package.
    """
    view = memoryview(data).cast("B").toreadonly()
    message = Message(view, 0, len(view), "model")
    if not len(view):
        raise ModelError("model: the file is empty")
    for start, what in _NOT_MODELS.items():
        if bytes(view[:64]).lstrip().lower().startswith(start):
            raise ModelError(f"model: this is {what}, not an ONNX model: check the address or path")
    ir_version, graphs, producer = 0, [], ["", ""]
    opsets: dict[str, int] = {}
    metadata: dict[str, str] = {}
    for item in fields(message):
        number = item[0]
        if number == 1:
            ir_version = message.integer(item)
        elif number in (2, 3):
            producer[number - 2] = message.text(item)
        elif number == 7:
            graphs.append(item)
        elif number == 8:
            domain, version = _opset(message.inner(item, "opset_import"))
            opsets[domain] = version
        elif number == 14:
            key, value = _pair(message.inner(item, "metadata_props"))
            metadata[key] = value
    if ir_version < 1 or len(graphs) != 1:
        raise ModelError(f"model: this is not an ONNX model (ir_version {ir_version}, {len(graphs)} graphs)")
    _check_opset(opsets)
    graph = ordered(_graph(message.inner(graphs[0], "graph"), _Context(folder, {})))
    check_nodes(graph, opsets[""])
    return Model(ir_version, MappingProxyType(opsets), graph, MappingProxyType(metadata), " ".join(producer).strip())


def _check_opset(opsets: dict[str, int]) -> None:
    version = opsets.get("")
    if version is None:
        if opsets:
            raise UnsupportedError(f"model: operators must be ONNX's own, got only those of {', '.join(opsets)}")
        raise ModelError("model: opset_import must name ONNX's own operators, got none")
    if version not in OPSETS:
        raise UnsupportedError(f"model: opset must be {OPSETS.start} to {OPSETS.stop - 1}, got {version}")


def _domain(text: str) -> str:
    return "" if text == "ai.onnx" else text


def _opset(message: Message) -> tuple[str, int]:
    domain, version = "", 0
    for item in fields(message):
        if item[0] == 1:
            domain = _domain(message.text(item))
        elif item[0] == 2:
            version = message.integer(item)
    return domain, version


def _pair(message: Message) -> tuple[str, str]:
    """A StringStringEntryProto."""
    texts = {item[0]: message.text(item) for item in fields(message) if item[0] in (1, 2)}
    return texts.get(1, ""), texts.get(2, "")


def _graph(message: Message, context: _Context) -> Graph:
    """A GraphProto as the file has it."""
    if context.depth >= _NESTING_LIMIT:
        raise message.fail(f"graphs nest deeper than {_NESTING_LIMIT}")
    parts: dict[int, list[Field]] = {}
    for item in fields(message):
        parts.setdefault(item[0], []).append(item)
    name = message.text(parts[2][-1]) if 2 in parts else ""
    if parts.get(15):
        raise UnsupportedError(f"graph '{name}': sparse initializers are not supported")
    initializers, unreadable = _initializers(message, parts.get(5, []), context)
    infos = [_value_info(message.inner(item, "graph input")) for item in parts.get(11, [])]
    inputs = tuple(info for info in infos if info.name not in initializers and info.name not in unreadable)
    outputs = tuple(_value_info(message.inner(item, "graph output")) for item in parts.get(12, []))
    value_infos = tuple(_value_info(message.inner(item, "value_info")) for item in parts.get(13, []))
    inner = context._replace(depth=context.depth + 1)
    nodes = tuple(_node(message.inner(item, f"node {index}"), inner) for index, item in enumerate(parts.get(1, [])))
    _refuse_unreadable(nodes, unreadable)
    return Graph(name, nodes, MappingProxyType(initializers), inputs, outputs, value_infos)


def _initializers(
    message: Message, items: list[Field], context: _Context
) -> tuple[dict[str, Array], dict[str, UnsupportedError]]:
    """The readable tensors, and why the others are not: a type that numpy lacks matters only where it is used."""
    arrays: dict[str, Array] = {}
    unreadable: dict[str, UnsupportedError] = {}
    for index, item in enumerate(items):
        tensor = message.inner(item, f"initializer {index}")
        try:
            name, array = read_tensor(tensor, context.folder)
        except UnsupportedError as error:
            names = [tensor.text(part) for part in fields(tensor) if part[0] == 8]
            unreadable[names[-1] if names else ""] = error
            continue
        if not name:
            raise tensor.fail("an initializer must have a name")
        if name in arrays:
            raise tensor.fail(f"'{name}' is defined twice")
        arrays[name] = array
    return arrays, unreadable


def _refuse_unreadable(nodes: Sequence[Node], unreadable: dict[str, UnsupportedError]) -> None:
    if unreadable:
        for node in nodes:
            for name in node.inputs:
                if name in unreadable:
                    raise UnsupportedError(f"{node.label}: {unreadable[name]}")


def _value_info(message: Message) -> ValueInfo:
    name, dtype, shape = "", None, None
    for item in fields(message):
        if item[0] == 1:
            name = message.text(item)
        elif item[0] == 2:
            kind = message.inner(item, message.what)
            for part in fields(kind):
                if part[0] == 1:
                    dtype, shape = _tensor_type(kind.inner(part, f"{message.what} '{name}'"))
    return ValueInfo(name, dtype, shape)


def _tensor_type(message: Message) -> tuple[str | None, tuple[Dim, ...] | None]:
    dtype: str | None = None
    shape: tuple[Dim, ...] | None = None
    for item in fields(message):
        if item[0] == 1:
            code = message.integer(item)
            dtype = element_name(code) if code else None
        elif item[0] == 2:
            dims = message.inner(item, message.what)
            shape = tuple(_dim(dims.inner(dim, message.what)) for dim in fields(dims) if dim[0] == 1)
    return dtype, shape


def _dim(message: Message) -> Dim:
    """A size, a name, or None; a negative size or the name "?" is how some exporters write "unknown"."""
    dim: Dim = None
    for item in fields(message):
        if item[0] == 1:
            size = message.integer(item)
            dim = size if size >= 0 else None
        elif item[0] == 2:
            name = message.text(item).strip()
            dim = None if name in ("", "?") else name
    return dim


def _node(message: Message, context: _Context) -> Node:
    op_type = name = domain = ""
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: dict[str, Attribute] = {}
    found = fields(message)
    for item in found:
        number = item[0]
        if number == 1:
            inputs.append(message.text(item))
        elif number == 2:
            outputs.append(message.text(item))
        elif number == 3:
            name = message.text(item)
        elif number == 4:
            op_type = message.text(item)
        elif number == 7:
            domain = _domain(message.text(item))
    if not op_type:
        raise message.fail("a node must have an op_type")
    what = f"{op_type} '{name or next(iter(outputs), '')}'"
    for item in found:
        if item[0] == 5:
            key, value = _known_attribute(message.inner(item, what), context)
            if key in attributes:
                raise message.fail(f"{what} has attribute {key} twice")
            if value is not None:
                attributes[key] = value
    return Node(op_type, tuple(inputs), tuple(outputs), name, domain, MappingProxyType(attributes))


def _known_attribute(message: Message, context: _Context) -> tuple[str, Attribute | None]:
    if message.end - message.start > _SHORT_BYTES:
        return _attribute(message, context)
    octets = bytes(message.data[message.start : message.end])
    found = context.known.get(octets)
    if found is None:
        found = _attribute(message, context)
        if not isinstance(found[1], Graph):
            context.known[octets] = found
    return found


def _attribute(message: Message, context: _Context) -> tuple[str, Attribute | None]:
    """Name and value; None for types (of Optional and sequences) and references, which say nothing here."""
    name, kind = "", 0
    values: dict[int, list[Field]] = {}
    for item in fields(message):
        number = item[0]
        if number == 1:
            name = message.text(item)
        elif number == 20:
            kind = message.integer(item)
        elif number in _TYPE_OF_FIELD:
            values.setdefault(number, []).append(item)
    if not name:
        raise message.fail("an attribute must have a name")
    if not kind and values:  # files before IR version 2 leave the type out
        kind = _TYPE_OF_FIELD[next(iter(values))]
    message = Message(message.data, message.start, message.end, f"{message.what}, attribute {name}")
    return name, _value(message, kind, values.get(_VALUE_FIELDS.get(kind, 0), []), context)


def _value(message: Message, kind: int, items: list[Field], context: _Context) -> Attribute | None:
    if kind in (_SPARSE, _SPARSES):
        raise UnsupportedError(f"{message.what}: sparse tensors are not supported")
    if kind in (_FLOAT, _INT, _STRING, _TENSOR, _GRAPH):
        if not items and kind in (_TENSOR, _GRAPH):
            raise message.fail("has no value")
        return _single(message, kind, items[-1], context) if items else _DEFAULTS[kind]
    if kind == _FLOATS:
        return [float(value) for value in packed_or_single(message, items, FIXED32).view("<f4")]
    if kind == _INTS:
        return _ints(message, items)
    if kind in (_STRINGS, _TENSORS, _GRAPHS):
        single = {_STRINGS: _STRING, _TENSORS: _TENSOR, _GRAPHS: _GRAPH}[kind]
        return [_single(message, single, item, context) for item in items]
    if kind in (0, _TYPE, _TYPES):
        return None
    raise message.fail(f"attribute type must be 1 to 14, got {kind}")


def _ints(message: Message, items: list[Field]) -> list[int]:
    if all(item[1] == VARINT for item in items):
        return [message.integer(item) for item in items]
    return [int(value) for value in packed_or_single(message, items, VARINT).astype("uint64").view("int64")]


def _single(message: Message, kind: int, item: Field, context: _Context) -> Attribute:
    if kind == _INT:
        return message.integer(item)
    if kind == _FLOAT:
        message.expect(item, FIXED32)
        return float(unpack_from("<f", message.data, item[2])[0])
    if kind == _STRING:
        message.expect(item, LENGTH)
        octets = message.octets(item)
        try:
            return octets.decode("utf-8")
        except UnicodeDecodeError:
            return octets
    if kind == _TENSOR:
        return read_tensor(message.inner(item, message.what), context.folder)[1]
    return _graph(message.inner(item, message.what), context)
