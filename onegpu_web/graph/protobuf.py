"""The protobuf wire format, bounds-checked: no schema, no copies, no allocation that a length field asks for.

A message is a range of one memoryview. `fields` splits it into (number, wire, a, b): for a varint, `a` is its
64-bit value; for the other wire types, `a` and `b` bound the payload in the view. Every range lies inside its
parent's, so a wrong length is found where it stands.
Source: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_VARINT_BYTES = 10  # 64 bits in groups of seven
Field = tuple[int, int, int, int]


class Message(NamedTuple):
    """A range of a file; `what` names it in errors ("graph 'main', node 3")."""

    data: memoryview
    start: int
    end: int
    what: str

    def fail(self, problem: str) -> ModelError:
        """The error to raise for this message."""
        return ModelError(f"{self.what} (bytes {self.start} to {self.end}): {problem}")

    def inner(self, field: Field, what: str) -> Message:
        """The message in a length-delimited field."""
        self.expect(field, LENGTH)
        return Message(self.data, field[2], field[3], what)

    def expect(self, field: Field, wire: int) -> None:
        """Raises: ModelError where the field has another wire type than its schema says."""
        if field[1] != wire:
            raise self.fail(f"field {field[0]} has wire type {field[1]} where {wire} belongs; the file is damaged")

    def integer(self, field: Field) -> int:
        """A signed 64-bit varint."""
        self.expect(field, VARINT)
        return field[2] - (1 << 64) if field[2] >> 63 else field[2]

    def octets(self, field: Field) -> bytes:
        """A bytes field, copied."""
        self.expect(field, LENGTH)
        return bytes(self.data[field[2] : field[3]])

    def text(self, field: Field) -> str:
        """A UTF-8 string field."""
        self.expect(field, LENGTH)
        try:
            return str(self.data[field[2] : field[3]], "utf-8")
        except UnicodeDecodeError as error:
            raise self.fail(f"field {field[0]} is no UTF-8 text; the file is damaged") from error


def _varint(message: Message, position: int) -> tuple[int, int]:
    """The value at `position`, cut to 64 bits, and the position after it."""
    data, end = message.data, message.end
    value = shift = 0
    while position < end:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
        if shift >= 7 * _VARINT_BYTES:
            raise message.fail(f"a varint before byte {position} is longer than {_VARINT_BYTES} bytes")
    raise message.fail("ends inside a varint; the file is truncated or damaged")


def fields(message: Message) -> list[Field]:
    """The fields of a message in file order.

    Raises: ModelError where a field runs past the message, or is a group or no field at all.
    """
    data, position, end, _ = message
    found: list[Field] = []
    while position < end:
        key = data[position]
        position += 1
        if key >= 0x80:
            key, position = _varint(message, position - 1)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise message.fail(f"no field has number {number}; this is not an ONNX model or it is damaged")
        if wire in (VARINT, LENGTH):
            size = data[position] if position < end else 0x80
            position += 1
            if size >= 0x80:  # one byte is the rule; calling _varint for it would double the time of reading
                size, position = _varint(message, position - 1)
            if wire == VARINT:
                found.append((number, wire, size, 0))
                continue
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
        else:
            raise message.fail(f"field {number} has wire type {wire}, which ONNX never uses")
        if size > end - position:
            raise message.fail(f"field {number} wants {size} bytes, {end - position} are left; the file is truncated")
        found.append((number, wire, position, position + size))
        position += size
    return found


def array_view(message: Message, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The message's bytes as little-endian values, without a copy.

    Raises: ModelError where they are no whole number of values.
    """
    size = message.end - message.start
    if size % dtype.itemsize:
        raise message.fail(f"holds {size} bytes, no multiple of {dtype.itemsize}")
    if not size:
        return np.zeros(0, dtype)  # numpy refuses views of nothing
    return np.frombuffer(message.data, dtype=dtype, count=size // dtype.itemsize, offset=message.start)


def varints(message: Message) -> NDArray[np.uint64]:
    """A packed field of varints as uint64; two's complement for negative ones."""
    octets = array_view(message, np.dtype(np.uint8))
    ends = np.flatnonzero(octets < 0x80).astype(np.int64)
    if octets.size and (not ends.size or ends[-1] != octets.size - 1):
        raise message.fail("ends inside a varint; the file is truncated or damaged")
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1]) if ends.size else ends
    sizes = ends - starts + 1
    longest = int(sizes.max()) if sizes.size else 0
    if longest > _VARINT_BYTES:
        raise message.fail(f"a varint is longer than {_VARINT_BYTES} bytes")
    values = np.zeros(ends.size, np.uint64)
    for index in range(longest):
        here = np.flatnonzero(sizes > index)
        group = (octets[starts[here] + index] & np.uint8(0x7F)).astype(np.uint64)
        values[here] |= group << np.uint64(7 * index)
    return values


def packed_or_single(message: Message, found: list[Field], wire: int) -> NDArray[Any]:
    """A repeated scalar field, packed, one by one or both, in file order.

    wire: VARINT gives uint64, FIXED32 and FIXED64 give uint32 and uint64 bit patterns.
    """
    if len(found) == 1 and found[0][1] == LENGTH:
        return _packed(message, found[0], wire)
    parts: list[NDArray[Any]] = []
    single: list[int] = []
    dtype = np.uint32 if wire == FIXED32 else np.uint64
    for field in found:
        if field[1] == LENGTH:
            parts += [np.array(single, dtype), _packed(message, field, wire)]
            single = []
            continue
        message.expect(field, wire)
        _, _, a, b = field
        single.append(a if wire == VARINT else int.from_bytes(message.data[a:b], "little"))
    parts.append(np.array(single, dtype))
    return np.concatenate(parts)


def _packed(message: Message, field: Field, wire: int) -> NDArray[Any]:
    part = message.inner(field, message.what)
    if wire == VARINT:
        return varints(part)
    return array_view(part, np.dtype("<u4" if wire == FIXED32 else "<u8"))
