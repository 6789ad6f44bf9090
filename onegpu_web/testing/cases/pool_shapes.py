"""Generated pooling problems: 320 of them, from a fixed seed, over all attributes in one to three dimensions."""

from __future__ import annotations

import random
from typing import Any

from ...dtypes import FLOAT32, INT8, INT32, UINT8
from ...errors import KernelShapeError
from ...problems.pool import PoolProblem
from .case import Case
from .pool import FAMILY, arrays, expected

__all__ = ["CASES", "FAMILY", "arrays", "expected"]

COUNT = 320


def _problem(rng: random.Random) -> PoolProblem:
    """A problem of some attributes. Raises: KernelShapeError where the window does not fit."""
    axes = rng.choice((1, 2, 2, 2, 3))
    kind = rng.choice(("max", "max", "average", "average", "lp"))
    most = 20 if axes < 3 else 7

    def sizes(low: int, high: int, count: int = axes) -> tuple[int, ...]:
        return tuple(rng.randint(low, high) for _ in range(count))

    kernel_shape = rng.choice((sizes(1, 4), (rng.randint(1, 5),) * axes))
    fields: dict[str, Any] = {"strides": sizes(1, 4), "dilations": rng.choice(((1,) * axes, sizes(1, 3)))}
    if rng.random() < 0.3:
        fields["auto_pad"] = rng.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    else:
        fields["pads"] = rng.choice(((0,) * 2 * axes, sizes(0, 3, 2 * axes)))
    if kind == "max":
        fields["dtype"] = rng.choice((FLOAT32, FLOAT32, FLOAT32, INT8, UINT8, INT32))
        fields["indices"] = rng.random() < 0.4
        fields["storage_order"] = rng.randint(0, 1)
    elif kind == "average":
        fields["count_include_pad"] = rng.random() < 0.5
    else:
        fields["p"] = rng.choice((1.0, 2.0, 3.0))
    x_shape = (rng.randint(1, 2), rng.randint(1, 4), *sizes(1, most))
    fields |= {"ceil_mode": rng.random() < 0.5, "x_offset": rng.randint(0, 5), "y_offset": rng.randint(0, 5)}
    return PoolProblem(kind, x_shape, kernel_shape, **fields)


def _cases() -> list[Case]:
    rng, cases = random.Random(4), list[Case]()
    while len(cases) < COUNT:
        try:
            problem = _problem(rng)
        except KernelShapeError:
            continue  # the window does not fit: draw again
        cases.append(Case(f"{problem.op}_{len(cases)}", problem, 0.0 if problem.kind == "max" else 1e-5))
    return cases


CASES = _cases()
