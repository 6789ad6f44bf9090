"""What the convolution shaders have in common: the uniform struct, flags, types and operand order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from ...caps import Caps
from ...dtypes import FLOAT16
from ...plan import Launch, grid, pack_params
from ...problems.activation import IDENTITY
from ...problems.conv import Convolution
from ...shader import Constant, Shader, build

READS = ("x", "w", "bias", "residual", "slope")
_EPILOGUE_WORKGROUP = 64
C = TypeVar("C", bound=Convolution)


def params(problem: Convolution, *more: int) -> bytes:
    """struct Params of wgsl/conv_*.wgsl; `more` u32 or i32 fields follow the common ones."""
    g = problem.geometry()
    return pack_params(
        g.n, g.group, g.c, g.m, *g.x, *g.y, *g.k, *g.strides, *g.dilations, *g.pads,
        problem.x_offset, problem.w_offset, problem.bias_offset, problem.residual_offset, problem.slope_offset,
        problem.y_offset, *more,
    )  # fmt: skip


def shader(
    name: str,
    problem: Convolution,
    constants: Mapping[str, Constant] | None = None,
    aliases: Mapping[str, str] | None = None,
    *,
    flags: bool = True,
) -> Shader:
    """wgsl/NAME.wgsl for the problem: element types, which operands are there, the fused activation.

    flags: whether the shader has a last pass.
    """
    operands: dict[str, Constant] = {}
    if flags:
        operands["HAS_BIAS"] = problem.has_bias
        operands["HAS_RESIDUAL"] = problem.has_residual
        operands["HAS_SLOPE"] = problem.has_slope
    regions = {}
    if problem.activation != IDENTITY:
        regions["activation"] = "activation"
        operands.update(problem.activation.constants)
    types = {"T": problem.dtype.wgsl, **(aliases or {})}
    return build(name, constants={**operands, **(constants or {})}, aliases=types, regions=regions)


def launch(
    made: Shader,
    problem: Convolution,
    workgroups: tuple[int, int, int],
    label: str,
    more: tuple[int, ...] = (),
    *,
    w: str = "w",
    x: str = "x",
    y: str = "y",
) -> Launch:
    """A launch over the operands in the shaders' common order, with the common parameters.

    w, x, y: the operands in these places, where they are not the problem's.
    """
    return Launch(made, (x, w, *READS[2:]), (y,), params(problem, *more), workgroups, label)


def sums_only(problem: C, y_offset: int) -> C:
    """The problem without what follows the sum, its output at `y_offset`."""
    return replace(problem, has_bias=False, has_residual=False, has_slope=False, activation=IDENTITY, y_offset=y_offset)


def epilogue(problem: Convolution, caps: Caps, planes: int, planes_offset: int) -> Launch:
    """The last pass over `planes` planes of float32 sums that lie in the scratch at an element offset."""
    made = shader("conv_epilogue", problem)
    workgroups = grid(math.prod(problem.output_shape), _EPILOGUE_WORKGROUP, caps.limits)
    data = params(problem, planes, planes_offset)
    return Launch(made, ("scratch", *READS[2:]), ("y",), data, workgroups, f"{problem.op} epilogue")


def half_reason(problem: Convolution, caps: Caps) -> str | None:
    """Why a device cannot hold the problem's elements, or None."""
    if problem.dtype == FLOAT16 and "shader-f16" not in caps.features:
        return "float16 needs the device feature shader-f16"
    return None
