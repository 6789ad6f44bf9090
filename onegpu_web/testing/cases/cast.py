"""Cases of Cast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import FLOAT16, FLOAT32, INT8, INT32, UINT8, UINT32, DType
from ...kernels import cast
from ...problems.movement import CastProblem
from ..reference.operands import bits, normal, take
from .case import Arrays, Case

FAMILY = cast.FAMILY


def arrays(problem: CastProblem, rng: np.random.Generator) -> Arrays:
    """x, flat; not negative where y cannot be."""
    name = problem.x_dtype.name
    make = bits if name in ("int8", "uint8") else normal
    x = make(rng, (problem.elements,), problem.x_offset, name)
    return {"x": np.abs(x) if problem.dtype is UINT32 and not problem.boolean else x}


def expected(problem: CastProblem, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """y exactly."""
    x = take(arrays["x"], (problem.elements,), problem.x_offset)
    return {"y": (x.astype(bool) if problem.boolean else x).astype(problem.dtype.name)}


def _case(name: str, x_dtype: DType, dtype: DType, elements: int = 101, **fields: Any) -> Case:
    return Case(name, CastProblem(elements, x_dtype, dtype, **fields), 0.0)


CASES = [
    _case("float_to_int", FLOAT32, INT32),
    _case("int_to_float", INT32, FLOAT32),
    _case("float_to_uint", FLOAT32, UINT32),
    _case("uint_to_float", UINT32, FLOAT32),
    _case("float_to_bool", FLOAT32, UINT32, boolean=True),
    _case("int_to_bool", INT32, UINT32, boolean=True),
    _case("half_to_float", FLOAT16, FLOAT32),
    _case("float_to_half", FLOAT32, FLOAT16),
    _case("bytes_to_float", UINT8, FLOAT32, x_offset=5),
    _case("signed_bytes_to_float", INT8, FLOAT32),
    _case("signed_bytes_to_int", INT8, INT32, x_offset=2),
    _case("offsets", INT32, FLOAT32, 50, x_offset=3, y_offset=5),
]
