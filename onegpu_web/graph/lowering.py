"""What an ONNX handler sees and gives: a node with resolved inputs in, steps of kernel families out.

A handler is `def conv(node: NodeView) -> list[Step | Alias]`, found by operator name in a module's
HANDLERS (graph/operators/). It knows every input's type, and the value of those that the host
knows; it makes the Problem, whose own checks refuse what cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..dtypes import BY_NAME, INT32, UINT32, DType
from ..errors import OnegpuError, UnsupportedError
from ..kernels.family import Family
from .model import Array, Node

# How the GPU holds ONNX element types that WGSL lacks.
_STORED_AS = {"int64": INT32, "bool": UINT32}


def storage(dtype: str) -> DType:
    """The element type that holds ONNX's `dtype` on the GPU: int64 as int32, bool as a 0 or 1 of uint32.

    Raises: UnsupportedError for types without one (float64, strings, 4-bit types ...).
    """
    stored = _STORED_AS.get(dtype) or BY_NAME.get(dtype)
    if stored is None:
        raise UnsupportedError(f"tensors of {dtype} cannot be computed on the GPU")
    return stored


@dataclass(frozen=True, slots=True)
class Temporary:
    """The name of a value between two steps of a node: no string, so that no name of a model equals it.

    outputs: the node's, which no other node has.
    """

    outputs: tuple[str, ...]
    label: str

    def __str__(self) -> str:
        return f"{next((name for name in self.outputs if name), '')}/{self.label}"


Name: TypeAlias = "str | Temporary"


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A tensor of the graph: its name, ONNX element type and shape; `array` where the host knows it."""

    name: Name
    dtype: str
    shape: tuple[int, ...]
    array: Array | None = None

    @property
    def stored(self) -> DType:
        """The element type on the GPU."""
        return storage(self.dtype)


class HostValueNeeded(OnegpuError):
    """A node's shape depends on the values of a tensor that only the GPU has."""

    def __init__(self, node: Node, name: str) -> None:
        self.name = name
        super().__init__(f"{node.label}: the values of '{name}' must be known before the run")


@dataclass(frozen=True, slots=True)
class Step:
    """One problem of one family over named values.

    reads: operand role -> value name. writes: operand role -> the value made. constants: operand
    role -> host array in GPU layout, for operands that the handler made.
    """

    family: Family[Any]
    problem: Any
    reads: Mapping[str, Name]
    writes: Mapping[str, Value]
    constants: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alias:
    """A value with the elements of another, in the same order: Reshape, Flatten, Identity."""

    source: Name
    target: Value


Lowered: TypeAlias = "Step | Alias"
Handler: TypeAlias = "Callable[[NodeView], list[Lowered]]"


@dataclass(frozen=True, slots=True, eq=False)
class NodeView:
    """A node with its resolved inputs (None where left out) and the opset of its domain."""

    node: Node
    opset: int
    inputs: tuple[Value | None, ...]

    @property
    def op_type(self) -> str:
        return self.node.op_type

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.node.outputs

    def attribute(self, name: str, default: Any = None) -> Any:
        """Attribute `name` as the reader gives it, unchecked; Node.get_int and its like check the type."""
        return self.node.attributes.get(name, default)

    def input(self, index: int) -> Value | None:
        """Input `index`, None where left out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def required(self, index: int) -> Value:
        """Input `index`. Raises: UnsupportedError where it is left out."""
        value = self.input(index)
        if value is None:
            raise UnsupportedError(f"{self.node.label}: input {index} must be there")
        return value

    def known(self, index: int) -> Array | None:
        """The value of input `index`, None where left out.

        Raises: HostValueNeeded where only the GPU has it; the session then sees whether the inputs
        of the model that it depends on can be looked at before the run.
        """
        value = self.input(index)
        if value is None:
            return None
        if value.array is None:
            raise HostValueNeeded(self.node, self.node.inputs[index])
        return value.array

    def output(self, index: int, shape: tuple[int, ...], dtype: str) -> Value:
        """The value of output `index`."""
        return Value(self.node.outputs[index], dtype, shape)

    def temporary(self, label: str, shape: tuple[int, ...], dtype: str) -> Value:
        """A value between two steps of this node."""
        return Value(Temporary(self.node.outputs, label), dtype, shape)
