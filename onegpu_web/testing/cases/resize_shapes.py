"""Generated resize problems: 320 of them, from a fixed seed, over all attributes, on any axes of up to five."""

from __future__ import annotations

import random
from typing import Any

from ...dtypes import FLOAT32, INT32, UINT8
from ...problems.resize import COORDINATES, MODES, POLICIES, ResizeProblem
from .case import Case
from .resize import FAMILY, arrays, expected

__all__ = ["CASES", "FAMILY", "arrays", "expected"]

COUNT = 320
_SCALES = (0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.9, 1.0, 1.3, 1.5, 2.0, 2.3, 2.94, 3.0, 4.0)


def _problem(rng: random.Random) -> ResizeProblem:
    rank = rng.randint(1, 5)
    x_shape = tuple(rng.randint(1, 9) for _ in range(rank))
    axes = tuple(rng.sample(range(rank), rng.randint(1, min(3, rank))))
    fields: dict[str, Any] = {"mode": rng.choice(MODES), "coordinate_transformation_mode": rng.choice(COORDINATES)}
    if fields["mode"] == "nearest":
        fields["nearest_mode"] = rng.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
        fields["dtype"] = rng.choice((FLOAT32, FLOAT32, UINT8, INT32))
    else:
        fields |= {"exclude_outside": rng.random() < 0.4, "antialias": rng.random() < 0.4}
        fields["cubic_coeff_a"] = rng.choice((-0.75, -0.5))
    crops = fields["coordinate_transformation_mode"] == "tf_crop_and_resize"
    if crops:
        starts = [rng.uniform(-0.2, 0.4) for _ in axes]
        fields["roi"] = (*starts, *(rng.uniform(0.6, 1.2) for _ in axes))
        fields["extrapolation_value"] = 7.0
    if rng.random() < 0.5:
        scales = tuple(rng.choice(_SCALES) for _ in axes)
        # A shape without elements says nothing.
        fields["scales"] = tuple(s if x_shape[a] * s * 0.2 >= 1 else 6.0 for a, s in zip(axes, scales, strict=True))
    else:
        fields["sizes"] = tuple(rng.randint(1, 14) for _ in axes)
        fields["keep_aspect_ratio_policy"] = "stretch" if crops else rng.choice(POLICIES)
    return ResizeProblem(x_shape, axes=axes, x_offset=rng.randint(0, 5), y_offset=rng.randint(0, 5), **fields)


def _cases() -> list[Case]:
    rng, cases = random.Random(4), list[Case]()
    while len(cases) < COUNT:
        problem = _problem(rng)
        if all(problem.output_shape):
            name = f"{problem.mode}_{problem.coordinate_transformation_mode}_{len(cases)}"
            cases.append(Case(name, problem, 0.0 if problem.mode == "nearest" else 1e-5))
    return cases


CASES = _cases()
