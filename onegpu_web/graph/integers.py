"""64-bit integers on a GPU that computes in 32: proven to fit, or checked beside the result, never wrong.

Where the spans of a node's operands do not show that its int64 results fit, steps made of the package's own kernels
gather one number, read back with the outputs, that says whether they did. int32 wraps by definition and needs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, prod

import numpy as np

from ..errors import UnsupportedError
from ..kernels.cast import FAMILY as CAST
from ..problems.elementwise import COMPARISONS, BinaryProblem
from ..problems.movement import CastProblem
from .lowering import Lowered, Name, NodeView, Step, Value
from .operators.elementwise import binary_step, unary_step
from .operators.reduce import reduce_step, reduced_axes
from .spans import INT32, Span, held, made

_LARGEST_FLOAT = 2147483520.0  # the last float32 below 2 ** 31
_LARGEST_ROUNDED = 2.0**31 * (1 - 2.0**-10)  # of results that float32 only comes near: sums, powers


@dataclass(frozen=True, slots=True)
class Check:
    """A number that the plan gives; the run's results are right where it lies between low and high."""

    value: Value
    low: float
    high: float
    message: str

    def hold(self, number: float) -> None:
        """Raises: UnsupportedError where the number, NaN included, is not between low and high."""
        if not self.low <= number <= self.high:
            raise UnsupportedError(self.message)


@dataclass(slots=True)
class _Steps:
    """Steps between values that they make."""

    node: NodeView
    steps: list[Lowered] = field(default_factory=list)

    def binary(self, kind: str, a: Value, b: Value) -> Value:
        shape = BinaryProblem(kind, a.shape, b.shape, dtype=a.stored).output_shape
        y = self._value("bool" if kind in COMPARISONS else a.dtype, shape)
        self.steps.append(binary_step(kind, a, b, y))
        return y

    def size(self, x: Value) -> Value:
        """|x| in float32."""
        x = self.cast(x, "float32")
        y = self._value(x.dtype, x.shape)
        self.steps.append(unary_step("abs", x, y))
        return y

    def cast(self, x: Value, dtype: str) -> Value:
        if x.dtype == dtype:
            return x
        y = self._value(dtype, x.shape)
        self.steps.append(Step(CAST, CastProblem(prod(x.shape), x.stored, y.stored), {"x": x.name}, {"y": y}))
        return y

    def reduce(self, kind: str, x: Value, axes: tuple[int, ...]) -> Value:
        y = self._value(x.dtype, reduce_step(kind, x, axes, True).problem.output_shape)
        self.steps.append(reduce_step(kind, x, axes, True, y))
        return y

    def whole(self, kind: str, x: Value) -> Value:
        """One number of all of x."""
        return self.reduce(kind, x, tuple(range(len(x.shape))))

    def _value(self, dtype: str, shape: tuple[int, ...]) -> Value:
        return self.node.temporary(f"check{len(self.steps)}", shape, dtype)


Built = tuple[Value, float, float]


def guard(node: NodeView, results: Mapping[int, Value], spans: dict[Name, Span]) -> tuple[list[Lowered], list[Check]]:
    """The steps and checks that a node's results need beside it; their spans are entered.

    results: the node's outputs that only the GPU has, by index.
    Raises: UnsupportedError where no result can fit, or where nothing could check them.
    """
    steps, checks = _Steps(node), list[Check]()
    for index, y in results.items():
        span = made(node, index, spans, y)
        spans[y.name] = held(span, y.dtype)
        fits = INT32[0] <= span[0] and span[1] <= INT32[1]
        if y.dtype == "int64" and not fits and 0 not in y.shape:
            build = _CHECKS.get(node.op_type)
            if build is None or span[0] > INT32[1] or span[1] < INT32[0]:
                raise UnsupportedError(f"{node.node.label}: {_RULE}, got a range of {span[0]} to {span[1]}")
            checks.append(Check(*build(steps, node, y), f"{node.node.label}: {_RULE}; these did not, or nearly not"))
    if node.op_type == "Pow" and not node.required(0).dtype.startswith("float"):
        checks += _whole_exponents(steps, node)
    return steps.steps, checks


_RULE = "results of int64 must fit 32 bits on the GPU, which has no wider integers"


def _whole_exponents(steps: _Steps, node: NodeView) -> list[Check]:
    """Integers are raised to integers: a float exponent must be one."""
    exponent = node.required(1)
    message = f"{node.node.label}: exponents of integers must be integers on the GPU"
    if not exponent.dtype.startswith("float") or 0 in exponent.shape:
        return []
    if exponent.array is not None:
        if (np.trunc(exponent.array) != exponent.array).any():
            raise UnsupportedError(message)
        return []
    wide = steps.cast(exponent, "float32")
    same = steps.binary("equal", wide, steps.cast(steps.cast(wide, "int32"), "float32"))
    return [Check(steps.whole("min", same), 1, 1, message)]


def _signs(steps: _Steps, value: Value) -> Built:
    """Right where no element is negative."""
    return steps.whole("min", value), 0, inf


def _sum(steps: _Steps, node: NodeView, y: Value) -> Built:
    """A sum leaves 32 bits where its sign is neither operand's."""
    a, b = node.required(0), node.required(1)
    return _signs(steps, steps.binary("and", steps.binary("xor", a, y), steps.binary("xor", b, y)))


def _difference(steps: _Steps, node: NodeView, y: Value) -> Built:
    a, b = node.required(0), node.required(1)
    return _signs(steps, steps.binary("and", steps.binary("xor", a, b), steps.binary("xor", a, y)))


def _quotient(steps: _Steps, node: NodeView, y: Value) -> Built:
    """Of two negative numbers it is negative in one case alone: -2 ** 31 / -1."""
    a, b = node.required(0), node.required(1)
    return _signs(steps, steps.binary("and", steps.binary("and", a, b), y))


def _product(steps: _Steps, node: NodeView, y: Value) -> Built:
    size = steps.binary("mul", steps.size(node.required(0)), steps.size(node.required(1)))
    return steps.whole("max", size), 0, _LARGEST_ROUNDED


def _power(steps: _Steps, node: NodeView, y: Value) -> Built:
    size = steps.binary("pow", steps.size(node.required(0)), steps.cast(node.required(1), "float32"))
    return steps.whole("max", size), 0, _LARGEST_ROUNDED


def _turned(steps: _Steps, node: NodeView, y: Value) -> Built:
    """-x and |x|: -2 ** 31 alone has no counterpart."""
    return steps.whole("min", node.required(0)), INT32[0] + 1, inf


def _converted(steps: _Steps, node: NodeView, y: Value) -> Built:
    x = node.required(0)
    if x.dtype == "uint32":
        return _signs(steps, y)
    return steps.whole("max", steps.size(x)), 0, _LARGEST_FLOAT


def _reduced(kind: str) -> Callable[[_Steps, NodeView, Value], Built]:
    def build(steps: _Steps, node: NodeView, y: Value) -> Built:
        size = steps.reduce(kind, steps.size(node.required(0)), reduced_axes(node) or ())
        return steps.whole("max", size), 0, _LARGEST_ROUNDED

    return build


_CHECKS: Mapping[str, Callable[[_Steps, NodeView, Value], Built]] = {
    "Add": _sum,
    "Sub": _difference,
    "Mul": _product,
    "Div": _quotient,
    "Pow": _power,
    "Neg": _turned,
    "Abs": _turned,
    "Cast": _converted,
    "CastLike": _converted,
    "ReduceSum": _reduced("sum"),
    "ReduceMean": _reduced("sum"),
    "ReduceL1": _reduced("sum"),
    "ReduceSumSquare": _reduced("sum_square"),
    "ReduceProd": _reduced("prod"),
}
