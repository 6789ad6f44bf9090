"""Reads the pickles inside a PyTorch checkpoint without ever running what they name.

A pickle is a program for a small stack machine that may import and call anything. This machine knows the thirty
opcodes that torch writes (protocol 2), treats the names it meets as plain tokens, and "calls" only those of
``_CALLS``, none of which leave this module. Everything else is refused with the opcode or the name.

Source: the opcode documentation in CPython's pickletools; the names in torch/_utils.py and torch/storage.py.
"""

from __future__ import annotations

import io
import pickletools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from onegpu_web.errors import ModelError

# Element type of each typed storage, as a numpy dtype in little-endian byte order.
STORAGE_DTYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "|b1",
}


@dataclass(frozen=True, slots=True)
class Storage:
    """A flat run of elements that lies elsewhere in the file, under `key`."""

    key: str
    dtype: str
    elements: int


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """A view of a storage: offset and strides in elements. Not yet checked against the storage."""

    storage: Storage
    offset: object
    shape: object
    strides: object


@dataclass(frozen=True, slots=True)
class _Name:
    module: str
    name: str


class _Mark:
    """The stack's MARK."""


_MARK = _Mark()
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = frozenset({"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE"})
_EMPTIES: dict[str, Callable[[], object]] = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def read_pickle(data: io.BytesIO) -> object:
    """The object of the pickle that starts at data's position; leaves the position behind its STOP.

    Raises: ModelError where the pickle is malformed, truncated, or uses anything but the opcodes and names of a
    PyTorch state dict.
    """
    machine = _Machine()
    try:
        with warnings.catch_warnings():
            # pickletools decodes the text of opcodes that are refused a moment later, and warns of its escapes.
            warnings.simplefilter("ignore", DeprecationWarning)
            for name, argument in _opcodes(data):
                if name == "STOP":
                    return machine.result()
                machine.step(name, argument)
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"pickle: it must be whole and well formed, got: {error}") from error
    raise ModelError("pickle: it must end in STOP, got the end of the file")


def _opcodes(data: io.BytesIO) -> Iterator[tuple[str, Any]]:
    for opcode, argument, _ in pickletools.genops(data):
        yield opcode.name, argument


class _Machine:
    """The stack machine. `step` runs one opcode."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def result(self) -> object:
        if len(self.stack) != 1 or self.stack[0] is _MARK:
            raise ModelError(f"pickle: it must leave one object, got {len(self.stack)}")
        return self.stack[0]

    def step(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _LITERALS:
            self.stack.append(argument)
        elif name in _EMPTIES:
            self.stack.append(_EMPTIES[name]())
        elif name in _TUPLES:
            items = [self._pop() for _ in range(_TUPLES[name])]
            self.stack.append(tuple(reversed(items)))
        elif name in _STEPS:
            _STEPS[name](self, argument)
        else:
            raise ModelError(f"pickle: the opcode {name} has no place in a state dict")

    def _pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise ModelError("pickle: an opcode took more from the stack than there is")
        return self.stack.pop()

    def _pop_to_mark(self) -> list[Any]:
        items: list[Any] = []
        while self.stack:
            item = self.stack.pop()
            if item is _MARK:
                items.reverse()
                return items
            items.append(item)
        raise ModelError("pickle: an opcode asked for a MARK that is not there")

    def _top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise ModelError(f"pickle: an opcode must find a {kind.__name__} on the stack")
        return self.stack[-1]

    def proto(self, version: int) -> None:
        if version != 2:
            raise ModelError(f"pickle: the protocol must be 2, which torch writes, got {version}")

    def mark(self, _: object) -> None:
        self.stack.append(_MARK)

    def put(self, index: int) -> None:
        if not self.stack or self.stack[-1] is _MARK:
            raise ModelError("pickle: nothing to remember on the stack")
        self.memo[index] = self.stack[-1]

    def get(self, index: int) -> None:
        if index not in self.memo:
            raise ModelError(f"pickle: memo {index} was never set")
        self.stack.append(self.memo[index])

    def tuple_to_mark(self, _: object) -> None:
        self.stack.append(tuple(self._pop_to_mark()))

    def append(self, _: object) -> None:
        item = self._pop()
        self._top(list).append(item)

    def appends(self, _: object) -> None:
        items = self._pop_to_mark()
        self._top(list).extend(items)

    def set_item(self, _: object) -> None:
        value, key = self._pop(), self._pop()
        self._set(key, value)

    def set_items(self, _: object) -> None:
        items = self._pop_to_mark()
        if len(items) % 2:
            raise ModelError("pickle: SETITEMS must find pairs")
        for key, value in zip(items[::2], items[1::2], strict=True):
            self._set(key, value)

    def _set(self, key: object, value: object) -> None:
        if not isinstance(key, (str, int)):
            raise ModelError(f"pickle: a key must be a string or an integer, got {type(key).__name__}")
        self._top(dict)[key] = value

    def name(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        token = _Name(module, name)
        if token not in _CALLS and not (module == "torch" and name in STORAGE_DTYPES):
            raise ModelError(f"pickle: {module}.{name} has no place in a state dict; nothing was called")
        self.stack.append(token)

    def reduce(self, _: object) -> None:
        arguments, function = self._pop(), self._pop()
        if not isinstance(arguments, tuple) or not isinstance(function, _Name) or function not in _CALLS:
            raise ModelError(f"pickle: REDUCE must find a known function and its arguments, got {_kind(function)}")
        self.stack.append(_CALLS[function](*arguments))

    def build(self, _: object) -> None:
        """Drops the attributes that torch hangs on its OrderedDict (`_metadata`: versions of its layers)."""
        if not isinstance(self._pop(), dict):
            raise ModelError("pickle: BUILD must find a dict of attributes")
        self._top(dict)

    def persistent(self, _: object) -> None:
        self.stack.append(_storage(self._pop()))


def _storage(pid: object) -> Storage:
    """("storage", type, key, location, elements), to which the legacy format adds a view, always None."""
    if not isinstance(pid, tuple) or len(pid) not in (5, 6) or pid[0] != "storage" or pid[5:] not in ((), (None,)):
        raise ModelError(f"pickle: a persistent id must name a storage, got {_kind(pid)}")
    _, kind, key, _, elements = pid[:5]
    if not isinstance(kind, _Name) or kind.module != "torch" or kind.name not in STORAGE_DTYPES:
        raise ModelError(f"pickle: unknown storage type {_kind(kind)}")
    if not isinstance(key, str) or type(elements) is not int or elements < 0:
        raise ModelError(f"pickle: a storage must have a key and a size, got {_kind(key)}, {_kind(elements)}")
    return Storage(key, STORAGE_DTYPES[kind.name], elements)


def _kind(value: object) -> str:
    """A value in words, never by its repr: nested deep enough, that would overflow Python's stack."""
    return f"{value.module}.{value.name}" if isinstance(value, _Name) else type(value).__name__


def _tensor(*arguments: object) -> TensorRecord:
    if len(arguments) < 4 or not isinstance(arguments[0], Storage):
        raise ModelError(f"pickle: a tensor must have storage, offset, shape and strides, got {len(arguments)} things")
    return TensorRecord(arguments[0], arguments[1], arguments[2], arguments[3])


def _parameter(*arguments: object) -> TensorRecord:
    if not arguments or not isinstance(arguments[0], TensorRecord):
        raise ModelError("pickle: a parameter must wrap a tensor")
    return arguments[0]


def _ordered_dict(*arguments: object) -> dict[object, object]:
    if arguments:
        raise ModelError("pickle: an OrderedDict must start empty")
    return {}


_CALLS: dict[_Name, Callable[..., object]] = {
    _Name("collections", "OrderedDict"): _ordered_dict,
    _Name("torch._utils", "_rebuild_tensor"): _tensor,
    _Name("torch._utils", "_rebuild_tensor_v2"): _tensor,
    _Name("torch._utils", "_rebuild_parameter"): _parameter,
}

_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": _Machine.proto,
    "MARK": _Machine.mark,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
    "TUPLE": _Machine.tuple_to_mark,
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    "GLOBAL": _Machine.name,
    "REDUCE": _Machine.reduce,
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.persistent,
}
