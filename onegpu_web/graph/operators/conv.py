"""ONNX Conv and ConvTranspose as convolution problems."""

from __future__ import annotations

from ...errors import KernelShapeError
from ...kernels.conv import CONV, CONV_TRANSPOSE
from ...problems.conv import ConvProblem, with_auto_pad
from ...problems.conv_transpose import ConvTransposeProblem, with_transpose_auto_pad
from ...windows import AUTO_PADS
from ..lowering import Lowered, Name, NodeView, Step, Value


def conv(node: NodeView) -> list[Lowered]:
    """Conv-22: x (N, C, *spatial), w (M, C/group, *kernel), b (M)."""
    x, w, strides, dilations = _operands(node)
    kernel = w.shape[2:]
    auto_pad = _auto_pad(node)
    pads = node.node.get_ints("pads") or ()
    if auto_pad != "NOTSET":
        pads = with_auto_pad(x.shape, kernel, strides, dilations, auto_pad)
    problem = ConvProblem(
        x.shape,
        w.shape,
        pads=pads,
        strides=strides,
        dilations=dilations,
        group=node.node.get_int("group", 1),
        has_bias=node.input(2) is not None,
        dtype=x.stored,
        w_constant=w.array is not None,
    )
    _check_bias(node, problem)
    y = node.output(0, problem.output_shape, x.dtype)
    return [Step(CONV, problem, _reads(node), {"y": y})]


def conv_transpose(node: NodeView) -> list[Lowered]:
    """ConvTranspose-22: x (N, C, *spatial), w (C, M/group, *kernel), b (M)."""
    x, w, strides, dilations = _operands(node)
    kernel = w.shape[2:]
    auto_pad = _auto_pad(node)
    output_padding = node.node.get_ints("output_padding") or (0,) * len(kernel)
    wanted = node.node.get_ints("output_shape")
    pads = node.node.get_ints("pads") or ()
    _must(node, len(output_padding) == len(kernel), "output_padding", f"{len(kernel)} integers", output_padding)
    if wanted is not None:
        _must(node, len(wanted) in (len(kernel), len(kernel) + 2), "output_shape", f"{len(kernel)} integers", wanted)
        wanted = wanted[-len(kernel) :]
    if wanted is not None or auto_pad != "NOTSET":
        pads = with_transpose_auto_pad(x.shape, kernel, strides, dilations, output_padding, auto_pad, wanted)
    problem = ConvTransposeProblem(
        x.shape,
        w.shape,
        pads=pads,
        strides=strides,
        dilations=dilations,
        group=node.node.get_int("group", 1),
        output_padding=output_padding,
        has_bias=node.input(2) is not None,
        dtype=x.stored,
        w_constant=w.array is not None,
    )
    _check_bias(node, problem)
    y = node.output(0, problem.output_shape, x.dtype)
    return [Step(CONV_TRANSPOSE, problem, _reads(node), {"y": y})]


def _operands(node: NodeView) -> tuple[Value, Value, tuple[int, ...], tuple[int, ...]]:
    """x, w, strides and dilations, of one rank."""
    x, w = node.required(0), node.required(1)
    rank = len(w.shape) - 2
    _must(node, rank >= 1 and len(x.shape) == rank + 2, "w", f"of x's rank {len(x.shape)}, 3 or more", w.shape)
    kernel = node.node.get_ints("kernel_shape")
    _must(node, kernel is None or kernel == w.shape[2:], "kernel_shape", f"w's {w.shape[2:]}", kernel)
    strides = node.node.get_ints("strides") or (1,) * rank
    dilations = node.node.get_ints("dilations") or (1,) * rank
    for name, steps in (("strides", strides), ("dilations", dilations)):
        _must(node, len(steps) == rank and min(steps) > 0, name, f"{rank} positive integers", steps)
    return x, w, strides, dilations


def _auto_pad(node: NodeView) -> str:
    auto_pad = node.node.get_str("auto_pad", "NOTSET")
    _must(node, auto_pad in AUTO_PADS, "auto_pad", f"one of {', '.join(AUTO_PADS)}", auto_pad)
    return auto_pad


def _check_bias(node: NodeView, problem: ConvProblem | ConvTransposeProblem) -> None:
    bias = node.input(2)
    if bias is not None:
        _must(node, bias.shape == (problem.out_channels,), "b", f"({problem.out_channels},)", bias.shape)


def _must(node: NodeView, holds: bool, name: str, rule: str, got: object) -> None:
    if not holds:
        raise KernelShapeError(f"{node.node.label}: {name} must be {rule}, got {got}")


def _reads(node: NodeView) -> dict[str, Name]:
    """Operand role -> value name, without the ones left out."""
    values = zip(("x", "w", "bias"), node.inputs, strict=False)
    return {role: value.name for role, value in values if value is not None}


HANDLERS = {"Conv": conv, "ConvTranspose": conv_transpose}
