"""The convolutions of three models and Whisper's front end, at heights and widths that software adapters bear.

Each distinct convolution, with its bias alone, runs by its preferred variant and by im2col, so without the gathering
product (at batch 8 over less of the input, for it takes long), at batch 1 by plain too. The whole layers with what
is fused into them are checked by onegpu_web.bench.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from ...caps import Caps
from ...dtypes import FLOAT16, FLOAT32, DType
from ...kernels.conv import CONV
from ...problems.activation import IDENTITY
from ...problems.conv import Convolution, ConvProblem
from ..layers import MODELS
from .case import Case
from .conv import arrays, expected

__all__ = ["CASES", "FAMILY", "arrays", "expected"]

FAMILY = CONV

_MOST_WORK = 3_000_000  # products in a case


def _case(name: str, problem: Convolution, variants: tuple[str, ...] | None = None) -> Case:
    problem = replace(problem, w_constant=False)  # as the runner gives the other operands; constant_w_* has the rest
    if problem.dtype == FLOAT16:
        return Case(name, problem, 2e-3)  # by all variants, so by none where the adapter has no float16
    preferred = CONV.choose_conv(problem, Caps()).name
    others = ("im2col", "plain") if problem.x_shape[0] == 1 else ()
    return Case(name, problem, 3e-6, variants or (preferred, *others))


def _layers(
    models: Iterable[str], batch: int, dtype: DType = FLOAT32, most_work: int = _MOST_WORK, *variants: str
) -> list[Case]:
    """Every distinct layer of the models, each of as much of its input as `most_work` products allow."""
    cases: dict[Convolution, Case] = {}
    for model in models:
        for layer in MODELS[model]:
            if layer.transposed:
                continue
            extent = layer.extent
            while extent > 1 and _work(layer.problem(batch, dtype, extent)) > most_work:
                extent -= 1
            problem = replace(layer.problem(batch, dtype, extent), has_residual=False, activation=IDENTITY)
            name = "_".join((model, layer.name, f"batch_{batch}", dtype.name, *variants))
            cases.setdefault(problem, _case(name, problem, variants or None))
    return list(cases.values())


def _work(problem: Convolution) -> int:
    return math.prod(problem.output_shape) * math.prod(problem.w_shape[1:])


_WHISPER = [
    _case("whisper_80_to_768", ConvProblem((1, 80, 120), (768, 80, 3), pads=(1, 1), has_bias=True)),
    _case(
        "whisper_768_to_768_stride_2",
        ConvProblem((1, 768, 30), (768, 768, 3), pads=(1, 1), strides=(2,), has_bias=True),
    ),
]

CASES = [
    *_layers(MODELS, 1),
    *_layers(MODELS, 8),
    *_layers(MODELS, 8, FLOAT32, _MOST_WORK // 8, "im2col"),
    *_layers(["resnet50"], 1, FLOAT16),
    *_WHISPER,
]
