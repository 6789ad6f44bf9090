"""What the convolution shaders have in common: the uniform struct, flags, types and operand order."""

from __future__ import annotations

from ...caps import Caps
from ...dtypes import FLOAT16
from ...plan import Launch, pack_params
from ...problems.activation import IDENTITY
from ...problems.conv import Convolution
from ...shader import Constant, Shader, build

READS = ("x", "w", "bias", "residual", "slope")


def params(problem: Convolution, *more: int) -> bytes:
    """struct Params of wgsl/conv_*.wgsl; `more` u32 or i32 fields follow the common ones."""
    g = problem.geometry()
    return pack_params(
        g.n, g.group, g.c, g.m, *g.x, *g.y, *g.k, *g.strides, *g.dilations, *g.pads,
        problem.x_offset, problem.w_offset, problem.bias_offset, problem.residual_offset, problem.slope_offset,
        problem.y_offset, *more,
    )  # fmt: skip


def shader(name: str, problem: Convolution, constants: dict[str, Constant] | None = None) -> Shader:
    """wgsl/NAME.wgsl for the problem: element type, which operands are there, the fused activation."""
    flags: dict[str, Constant] = {
        "HAS_BIAS": problem.has_bias,
        "HAS_RESIDUAL": problem.has_residual,
        "HAS_SLOPE": problem.has_slope,
    }
    regions = {}
    if problem.activation != IDENTITY:
        regions["activation"] = "activation"
        flags.update(problem.activation.constants)
    aliases = {"T": problem.dtype.wgsl}
    return build(name, constants={**flags, **(constants or {})}, aliases=aliases, regions=regions)


def launch(
    made: Shader, problem: Convolution, workgroups: tuple[int, int, int], label: str, more: tuple[int, ...] = ()
) -> Launch:
    """A launch over the operands in the shaders' common order, with the common parameters."""
    return Launch(made, READS, ("y",), params(problem, *more), workgroups, label)


def half_reason(problem: Convolution, caps: Caps) -> str | None:
    """Why a device cannot hold the problem's elements, or None."""
    if problem.dtype == FLOAT16 and "shader-f16" not in caps.features:
        return "float16 needs the device feature shader-f16"
    return None
