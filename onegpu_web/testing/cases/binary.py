"""Cases of binary functions and comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, INT32, UINT32
from ...kernels import binary
from ...problems.activation import Activation
from ...problems.elementwise import COMPARISONS, BinaryProblem
from ..reference import elementwise as reference
from ..reference.activation import activate
from ..reference.operands import normal, take
from .case import Arrays, Case

FAMILY = binary.FAMILY


def arrays(problem: BinaryProblem, rng: np.random.Generator) -> Arrays:
    """a and b, flat. Divisors of integers are not 0; powers keep to what float32 holds."""
    name = problem.dtype.name
    odd = problem.kind not in ("mod", "fmod")
    a = normal(rng, problem.a_shape, problem.a_offset, name, odd=odd)
    b = normal(rng, problem.b_shape, problem.b_offset, name, odd=odd and problem.kind != "pow")
    if problem.kind in COMPARISONS:
        a, b = np.round(a), np.round(b)
    if a.dtype.kind != "f" and problem.kind in ("div", "mod", "fmod"):
        b = np.where(b == 0, 7, b).astype(b.dtype)
    if problem.kind == "pow":
        b = np.abs(b) % 4 if a.dtype.kind != "f" else np.where(rng.random(b.shape) < 0.5, np.round(b), b)
    return {"a": a, "b": b.astype(name)}


def expected(problem: BinaryProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y: float64, or integers exactly."""
    a = take(arrays["a"], problem.a_shape, problem.a_offset)
    b = take(arrays["b"], problem.b_shape, problem.b_offset)
    y = reference.binary(problem.kind, a, b)
    if problem.output_dtype in (INT32, UINT32):
        return {"y": y.astype(problem.output_dtype.name)}
    return {"y": activate(problem.activation, y)}


def _case(
    name: str, kind: str, a: tuple[int, ...], b: tuple[int, ...], *, tolerance: float = 1e-5, **fields: Any
) -> Case:
    return Case(name, BinaryProblem(kind, a, b, **fields), tolerance)


_FLOATS = ("add", "sub", "mul", "div", "pow", "min", "max", "mod", "fmod", "prelu")
_INTS = ("add", "sub", "mul", "div", "pow", "min", "max", "mod", "fmod")

CASES = [
    *(_case(kind, kind, (2, 3, 4, 20), (2, 3, 4, 20)) for kind in _FLOATS),
    *(_case(kind, kind, (2, 3, 5, 7), (3, 1, 1)) for kind in COMPARISONS),
    *(_case(f"int_{kind}", kind, (3, 5, 8), (5, 1), tolerance=0.0, dtype=INT32) for kind in _INTS),
    *(_case(f"bool_{kind}", kind, (3, 16), (16,), tolerance=0.0, dtype=UINT32) for kind in ("and", "or", "xor")),
    _case("int_less", "less", (9, 4), (9, 1), tolerance=0.0, dtype=INT32),
    _case("scalar_right", "mul", (3, 5, 7), ()),
    _case("scalar_left", "sub", (), (4, 12)),
    _case("per_channel", "add", (2, 6, 8, 8), (6, 1, 1)),
    _case("per_channel_odd", "mul", (2, 7, 3, 5), (7, 1, 1)),
    _case("per_row", "add", (5, 24), (24,)),
    _case("both_repeated", "add", (3, 1, 4), (1, 5, 1)),
    _case("gate", "mul", (2, 8, 1, 1), (2, 8, 6, 6)),
    _case("middle", "add", (2, 1, 6, 4), (2, 5, 1, 4)),
    _case("eight_axes", "add", (2, 1, 2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 3, 1, 2)),
    _case("offsets", "div", (4, 9), (9,), a_offset=3, b_offset=5, y_offset=7),
    _case("offsets_of_four", "sub", (4, 8), (8,), a_offset=4, b_offset=12, y_offset=8),
    _case("relu", "add", (2, 4, 8), (2, 4, 8), activation=Activation("relu")),
    _case("hard_swish", "mul", (3, 4, 5), (4, 1), activation=Activation("hard_swish")),
    _case("relu6", "add", (3, 4, 5), (3, 4, 5), activation=Activation("clip", 0.0, 6.0)),
    _case("no_element", "add", (0, 4), (4,)),
    _case("half", "mul", (2, 6, 8), (6, 1), tolerance=2e-3, dtype=FLOAT16),
]
