"""Between which numbers the elements of a value lie, by interval arithmetic over a node.

What it cannot tell, it takes as any number of the type: spans are never too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, isnan, prod
from typing import TypeAlias

from .lowering import Name, NodeView, Value

Span: TypeAlias = "tuple[float, float]"
Rule: TypeAlias = "Callable[[NodeView, Sequence[Span]], Span]"

INT32: Span = (-(2**31), 2**31 - 1)
_TYPES: Mapping[str, Span] = {
    "int64": INT32, "int32": INT32, "uint32": (0, 2**32 - 1), "bool": (0, 1), "int8": (-128, 127), "uint8": (0, 255),
}  # fmt: skip
_HALF_LARGEST = 65504
_ROUNDING = 1e-5  # relative, far above what float32 arithmetic loses


def span_of(value: Value, spans: Mapping[Name, Span]) -> Span:
    """A value's span: of a constant its extremes, of any other what is known, else its type's."""
    if value.array is not None and value.array.size and value.array.dtype.kind in "biuf":
        low, high = value.array.min().item(), value.array.max().item()
        return (-inf, inf) if isnan(low) or isnan(high) else (low, high)
    return spans.get(value.name, _TYPES.get(value.dtype, (-inf, inf)))


def made(node: NodeView, index: int, spans: Mapping[Name, Span], y: Value) -> Span:
    """The exact results' span for output `index`, which an int64 may not hold in 32 bits."""
    operands = [(0, 0) if value is None else span_of(value, spans) for value in node.inputs]
    x = node.required(0)
    if node.op_type in ("ArgMax", "ArgMin"):
        return 0, max(x.shape, default=1)
    if node.op_type == "MaxPool" and index == 1:
        return 0, prod(x.shape)
    rule = RULES.get(node.node.operator)
    low, high = _TYPES.get(y.dtype, (-inf, inf)) if rule is None else rule(node, operands)
    return (low, high) if y.dtype in _TYPES else _rounded(low, high, y.dtype)


def held(span: Span, dtype: str) -> Span:
    """What the span of results becomes where they were checked, or wrap by definition."""
    low, high = _TYPES.get(dtype, (-inf, inf))
    inside = low <= span[0] and span[1] <= high
    return span if inside else (max(low, span[0]), min(high, span[1])) if dtype == "int64" else (low, high)


def _rounded(low: float, high: float, dtype: str) -> Span:
    low, high = low - abs(low) * _ROUNDING, high + abs(high) * _ROUNDING
    if dtype == "float16":
        low, high = (low if low >= -_HALF_LARGEST else -inf), (high if high <= _HALF_LARGEST else inf)
    return (-inf, inf) if isnan(low) or isnan(high) else (low, high)


def _hull(*spans: Span) -> Span:
    return min(low for low, _ in spans), max(high for _, high in spans)


def _first(node: NodeView, spans: Sequence[Span]) -> Span:
    return spans[0]


def _corners(function: Callable[[float, float], float]) -> Rule:
    def run(node: NodeView, spans: Sequence[Span]) -> Span:
        found = [function(a, b) for a in spans[0] for b in spans[1]]
        return (-inf, inf) if any(isnan(value) for value in found) else (min(found), max(found))

    return run


def _divided(node: NodeView, spans: Sequence[Span]) -> Span:
    (low, high), (least, most) = spans[0], spans[1]
    if node.required(0).dtype.startswith("float"):
        return _corners(lambda a, b: a / b)(node, spans) if least > 0 or most < 0 else (-inf, inf)
    size = max(abs(low), abs(high))  # by an integer nothing grows
    return (-size, size) if least < 0 else (min(low, 0), max(high, 0))


def _raised(node: NodeView, spans: Sequence[Span]) -> Span:
    if node.required(0).dtype.startswith("float"):
        return -inf, inf
    (low, high), most = spans[0], spans[1][1]
    power = _power(max(abs(low), abs(high), 1), most)
    return (0 if low >= 0 else -power), power


def _power(size: float, most: float) -> float:
    """size ** most at most, for a size of 1 or more; infinite where the number would be a long one."""
    if size == 1 or most <= 0:
        return 1
    return size**most if most <= 64 and size <= 2**32 else inf


def _within(size: Callable[[Span], Span]) -> Rule:
    return lambda node, spans: size(spans[0])


def _absolute(span: Span) -> Span:
    return (0 if span[0] <= 0 <= span[1] else min(map(abs, span))), max(map(abs, span))


def _rest(node: NodeView, spans: Sequence[Span]) -> Span:
    low, high = spans[0] if node.node.get_int("fmod", 0) else spans[1]
    return min(low, 0), max(high, 0)


def _clipped(node: NodeView, spans: Sequence[Span]) -> Span:
    low, high = spans[0]
    if node.opset < 11:
        bounds: list[Span | None] = [(node.node.get_float(n, d),) * 2 for n, d in (("min", -inf), ("max", inf))]
    else:
        bounds = [spans[i] if node.input(i) is not None else None for i in (1, 2)]
    if bounds[0] is not None:
        low, high = max(low, bounds[0][0]), max(high, bounds[0][1])
    if bounds[1] is not None:
        low, high = min(low, bounds[1][0]), min(high, bounds[1][1])
    return low, high


def _padded(node: NodeView, spans: Sequence[Span]) -> Span:
    value = node.node.get_float("value", 0.0) if node.opset < 11 else 0
    given = spans[2] if node.input(2) is not None else (value, value)
    return _hull(spans[0], given)


def _resized(node: NodeView, spans: Sequence[Span]) -> Span:
    if node.node.get_str("mode", "nearest") == "cubic":
        return -inf, inf
    beyond = node.node.get_float("extrapolation_value", 0.0)
    return _hull(spans[0], (beyond, beyond))


def taken(node: NodeView) -> int:
    """How many elements a reduction takes for one result."""
    x = node.required(0)
    known = node.known(1)
    axes = node.node.get_ints("axes") if known is None else tuple(int(axis) for axis in known.reshape(-1))
    if not axes:
        return 1 if node.node.get_int("noop_with_empty_axes", 0) else prod(x.shape)
    return prod(x.shape[axis] for axis in axes)


def _summed(of: Callable[[Span], Span]) -> Rule:
    def run(node: NodeView, spans: Sequence[Span]) -> Span:
        (low, high), count = of(spans[0]), taken(node)
        return (min(low * count, 0), max(high * count, 0)) if count else (0, 0)

    return run


def _multiplied(node: NodeView, spans: Sequence[Span]) -> Span:
    power = _power(max(*map(abs, spans[0]), 1), taken(node))
    return (0 if spans[0][0] >= 0 else -power), power


def _extreme(node: NodeView, spans: Sequence[Span]) -> Span:
    """Of nothing it is the lowest or highest number of 64 bits."""
    return spans[0] if taken(node) else _hull(spans[0], (-(2**63), 2**63 - 1))


def _square(span: Span) -> Span:
    size = max(map(abs, span))
    return 0, size * size


_MOVERS = (
    "Cast CastLike DepthToSpace Dropout Expand Flatten Gather Identity MaxPool Reshape Slice SpaceToDepth Split "
    "Squeeze Tile Transpose Unsqueeze Upsample"
)
RULES: dict[str, Rule] = {
    **dict.fromkeys(_MOVERS.split(), _first),
    **dict.fromkeys(["Sigmoid", "HardSigmoid", "Softmax"], lambda node, spans: (0, 1)),
    **dict.fromkeys(["Tanh", "Erf", "Sin", "Cos", "Softsign", "Sign"], lambda node, spans: (-1, 1)),
    "Concat": lambda node, spans: _hull(*spans),
    "Where": lambda node, spans: _hull(*spans[1:]),
    "Max": lambda node, spans: (max(low for low, _ in spans), max(high for _, high in spans)),
    "Min": lambda node, spans: (min(low for low, _ in spans), min(high for _, high in spans)),
    "Clip": _clipped,
    "Pad": _padded,
    "Resize": _resized,
    "Relu": _within(lambda span: (max(span[0], 0), max(span[1], 0))),
    "Abs": _within(_absolute),
    "Neg": _within(lambda span: (-span[1], -span[0])),
    "Floor": _within(lambda span: (span[0] - 1, span[1])),
    "Ceil": _within(lambda span: (span[0], span[1] + 1)),
    "Round": _within(lambda span: (span[0] - 1, span[1] + 1)),
    "Add": lambda node, spans: (spans[0][0] + spans[1][0], spans[0][1] + spans[1][1]),
    "Sub": lambda node, spans: (spans[0][0] - spans[1][1], spans[0][1] - spans[1][0]),
    "Mul": _corners(lambda a, b: a * b),
    "Div": _divided,
    "Mod": _rest,
    "Pow": _raised,
    "ReduceMax": _extreme,
    "ReduceMin": _extreme,
    "ReduceSum": _summed(lambda span: span),
    "ReduceMean": _summed(lambda span: span),  # its sum must fit
    "ReduceL1": _summed(_absolute),
    "ReduceSumSquare": _summed(_square),
    "ReduceProd": _multiplied,
}
