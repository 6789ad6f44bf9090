"""Signatures: what an operator of an opset takes and gives (its data is signature_table.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from .signature_table import TABLE

_NAMES = {
    "e": "float16", "f": "float32", "d": "float64", "b": "int8", "h": "int16", "i": "int32", "q": "int64",
    "B": "uint8", "H": "uint16", "I": "uint32", "Q": "uint64", "?": "bool", "F": "complex64", "D": "complex128",
}  # fmt: skip
ELEMENTS = frozenset(_NAMES.values())
"""The types that the table knows; it says nothing of others, such as strings."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input or output. variable: all parameters of one variable have one type."""

    name: str
    variable: str
    optional: bool = False
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """types: what each variable may be, in numpy's names. attributes: name to (kind, whether it is required)."""

    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    types: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, tuple[str, bool]]

    def input(self, index: int) -> Parameter | None:
        """The parameter that input `index` is given for, None behind the last."""
        return _at(self.inputs, index)

    def output(self, index: int) -> Parameter | None:
        """The parameter that output `index` is of, None behind the last."""
        return _at(self.outputs, index)


@cache
def signature(operator: str, opset: int) -> Signature | None:
    """The signature of an operator (Node.operator) in an opset; None where the table has none."""
    found = [made for since, made in versions(operator) if since <= opset]
    return found[-1] if found else None


@cache
def versions(operator: str) -> tuple[tuple[int, Signature], ...]:
    """Each signature of an operator with the opset that it holds from, oldest first; empty for unknown ones."""
    return tuple((int(since), _parsed(text)) for since, text in _rows().get(operator, ()))


@cache
def _rows() -> Mapping[str, list[tuple[str, str]]]:
    rows: dict[str, list[tuple[str, str]]] = {}
    for line in TABLE.strip().replace("\n    ", " ").splitlines():
        head, text = line.split(" | ", 1)
        operator, since = head.split()
        rows.setdefault(operator, []).append((since, text))
    return rows


def _parsed(text: str) -> Signature:
    parameters, types, attributes = (*text.split(" | "), "")[:3]
    inputs, outputs = parameters.split("->")
    sets = dict(item.split("=") for item in types.split())
    for item in parameters.split():
        fixed = item.rstrip("?*").partition(":")[2]
        if fixed.startswith("="):
            sets[fixed] = fixed[1:]
    kinds = (item.partition(":")[::2] for item in attributes.split())
    return Signature(
        tuple(_parameter(item) for item in inputs.split()),
        tuple(_parameter(item) for item in outputs.split()),
        MappingProxyType({variable: tuple(_NAMES[c] for c in letters) for variable, letters in sets.items()}),
        MappingProxyType({name: (kind[0], kind.endswith("!")) for name, kind in kinds}),
    )


def _parameter(item: str) -> Parameter:
    name, _, variable = item.partition(":")
    return Parameter(name, variable.rstrip("?*"), item.endswith("?"), item.endswith("*"))


def _at(parameters: tuple[Parameter, ...], index: int) -> Parameter | None:
    if index >= len(parameters) and parameters and parameters[-1].variadic:
        return parameters[-1]
    return parameters[index] if index < len(parameters) else None
