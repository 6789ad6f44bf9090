"""TensorProto to numpy: views of raw data, decoded typed fields, external files.

Nothing is allocated before the bytes that fill it are known to be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path

import numpy as np

from ..errors import ModelError, UnsupportedError
from .model import ELEMENT_TYPES, Array, element_name
from .protobuf import FIXED32, FIXED64, LENGTH, VARINT, Field, Message, array_view, fields, packed_or_single

# Fields of TensorProto. Source: onnx.proto3.
DIMS, DATA_TYPE, SEGMENT, FLOAT_DATA, INT32_DATA, INT64_DATA, NAME, RAW_DATA = 1, 2, 3, 4, 5, 7, 8, 9
DOUBLE_DATA, UINT64_DATA, EXTERNAL_DATA, DATA_LOCATION = 10, 11, 13, 14

# Where a type's values lie when not raw: field, wire type, and the dtype whose low bytes hold the value.
_TYPED_FIELDS = {
    "float32": (FLOAT_DATA, FIXED32),
    "complex64": (FLOAT_DATA, FIXED32),
    "int64": (INT64_DATA, VARINT),
    "float64": (DOUBLE_DATA, FIXED64),
    "complex128": (DOUBLE_DATA, FIXED64),
    "uint32": (UINT64_DATA, VARINT),
    "uint64": (UINT64_DATA, VARINT),
}
for _name in ("int32", "int16", "int8", "uint16", "uint8", "bool", "float16", "bfloat16"):
    _TYPED_FIELDS[_name] = (INT32_DATA, VARINT)
_TYPED_NUMBERS = (FLOAT_DATA, INT32_DATA, INT64_DATA, DOUBLE_DATA, UINT64_DATA)
_RANK_LIMIT = 32
_COUNT_LIMIT = 1 << 31  # also what wasm32 can index


def read_tensor(message: Message, folder: Path | None) -> tuple[str, Array]:
    """The name and the read-only array of a TensorProto.

    folder: where external data lies; None where the model came as bytes.

    Raises: ModelError where data and shape disagree; UnsupportedError for a type that numpy lacks.
    """
    found: dict[int, list[Field]] = {}
    for item in fields(message):
        found.setdefault(item[0], []).append(item)
    name = message.text(found[NAME][-1]) if NAME in found else ""
    message = message._replace(what=f"tensor '{name}'" if name else f"tensor of {message.what}")
    code = message.integer(found[DATA_TYPE][-1]) if DATA_TYPE in found else 0
    dtype_name = ELEMENT_TYPES[code] if element_name(code) else ""
    if dtype_name not in _TYPED_FIELDS:
        raise UnsupportedError(f"{message.what}: element type {dtype_name} is not supported")
    if SEGMENT in found:
        raise UnsupportedError(f"{message.what}: data in segments is not supported")
    shape = _shape(message, found.get(DIMS, []))
    if DATA_LOCATION in found and message.integer(found[DATA_LOCATION][-1]) == 1:
        flat = _external(message, found.get(EXTERNAL_DATA, []), folder, dtype_name, prod(shape))
    elif RAW_DATA in found:
        raw = message.inner(found[RAW_DATA][-1], message.what)
        flat = _raw(raw, dtype_name, prod(shape))
    else:
        flat = _typed(message, found, dtype_name, prod(shape))
    array = flat.reshape(shape)
    array.flags.writeable = False
    return name, array


def _shape(message: Message, dims: list[Field]) -> tuple[int, ...]:
    if dims and all(item[1] == VARINT for item in dims):
        shape = tuple(message.integer(item) for item in dims)
    else:
        shape = tuple(int(size) for size in packed_or_single(message, dims, VARINT).view(np.int64))
    if len(shape) > _RANK_LIMIT:
        raise message.fail(f"dims must be at most {_RANK_LIMIT}, got {len(shape)}")
    if any(size < 0 for size in shape):
        raise message.fail(f"dims must not be negative, got {shape}")
    if prod(max(size, 1) for size in shape) >= _COUNT_LIMIT:
        raise message.fail(f"dims must have a product below 2**31, got {shape}")
    return shape


def _storage(dtype_name: str) -> np.dtype[np.generic]:
    """The little-endian dtype of raw values; bfloat16 and bool as the integers they lie in."""
    return np.dtype({"bfloat16": "uint16", "bool": "uint8"}.get(dtype_name, dtype_name)).newbyteorder("<")


def _finish(stored: Array, dtype_name: str) -> Array:
    """Stored values as the dtype that the rest of the package sees."""
    if dtype_name == "bfloat16":
        return np.left_shift(stored.astype(np.uint32), np.uint32(16)).view(np.float32)
    if dtype_name == "bool":
        return np.not_equal(stored, 0)
    return stored


def _raw(raw: Message, dtype_name: str, count: int) -> Array:
    dtype = _storage(dtype_name)
    if raw.end - raw.start != count * dtype.itemsize:
        raise raw.fail(f"{count} values of {dtype_name} take {count * dtype.itemsize} bytes, got {raw.end - raw.start}")
    return _finish(array_view(raw, dtype), dtype_name)


def _typed(message: Message, found: Mapping[int, list[Field]], dtype_name: str, count: int) -> Array:
    number, wire = _TYPED_FIELDS[dtype_name]
    for other in _TYPED_NUMBERS:
        if other != number and found.get(other):
            raise message.fail(f"values of {dtype_name} must be in field {number}, got field {other}")
    bits = packed_or_single(message, found.get(number, []), wire)
    dtype = _storage(dtype_name)
    values = bits.view(dtype) if wire != VARINT else bits.astype(f"uint{8 * dtype.itemsize}").view(dtype)
    if values.size != count:
        raise message.fail(f"dims want {count} values, got {values.size}")
    return _finish(values, dtype_name)


def _external(message: Message, entries: list[Field], folder: Path | None, dtype_name: str, count: int) -> Array:
    """Values from a file beside the model. Source: onnx docs/ExternalData.md."""
    where: dict[str, str] = {}
    for item in entries:
        entry = message.inner(item, message.what)
        pair = {number: entry.text((number, wire, a, b)) for number, wire, a, b in fields(entry) if wire == LENGTH}
        where[pair.get(1, "")] = pair.get(2, "")
    path = _external_path(message, where.get("location", ""), folder)
    dtype = _storage(dtype_name)
    size = count * dtype.itemsize
    offset, length = _number(message, where, "offset", 0), _number(message, where, "length", size)
    if length != size:
        raise message.fail(f"{count} values of {dtype_name} take {size} bytes, external data has length {length}")
    try:
        held = path.stat().st_size
        if offset + length > held:
            wanted = f"bytes {offset} to {offset + length}"
            raise message.fail(f"external data wants {wanted} of '{path.name}', which has {held}")
        with path.open("rb") as file:
            file.seek(offset)
            octets = file.read(length)
    except OSError as error:
        raise message.fail(f"external data '{path.name}' cannot be read: {error.strerror}") from error
    if len(octets) != length:
        raise message.fail(f"external data '{path.name}' ended early")
    return _finish(array_view(Message(memoryview(octets), 0, length, message.what), dtype), dtype_name)


def _external_path(message: Message, location: str, folder: Path | None) -> Path:
    if not location or "\0" in location:
        raise message.fail("external data has no location")
    if folder is None:
        raise message.fail(f"values lie in '{location}' beside the model; give the model's path, not its bytes")
    try:
        root = folder.resolve()
        path = (root / location).resolve()
        inside = path.is_relative_to(root) and "\\" not in location
        present = inside and path.is_file()
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
        raise message.fail(f"external data '{location}' cannot be read: {error}") from error
    if not inside:
        raise message.fail(f"external data must lie in the model's folder, got '{location}'")
    if not present:
        raise ModelError(f"{message.what}: external data '{location}' is missing from the model's folder")
    return path


def _number(message: Message, where: Mapping[str, str], key: str, default: int) -> int:
    text = where.get(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise message.fail(f"external data's {key} must be a number of bytes, got '{text[:40]}'")
    return int(text)
