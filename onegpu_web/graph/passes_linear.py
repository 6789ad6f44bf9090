"""Passes that fold linear steps into the weights of the product before them.

Weights are folded in float64 and rounded once, and only where their type holds the folded values as well as any: none
overflows, none is lost below the type's range. A product counts only where its weights are constant and nobody else
reads its result.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Array, Graph, Node
from .passes_edit import Edit, with_attributes

Wide = NDArray[np.float64]
_PRODUCTS = ("Conv", "ConvTranspose", "Gemm")


def fold_batch_normalization(graph: Graph, opset: int) -> Graph:
    """BatchNormalization goes into the Conv, ConvTranspose or Gemm before it."""
    edit = Edit(graph)
    for node in graph.nodes:
        if node.op_type != "BatchNormalization" or node.domain or len(node.inputs) != 5:
            continue
        if node.get_int("training_mode", 0) or not node.get_int("spatial", 1) or any(node.outputs[1:]):
            continue
        constants = [edit.constant(name) for name in node.inputs[1:]]
        product = _product_before(edit, node, node.inputs[0])
        if product is None or any(value is None or value.ndim != 1 for value in constants):
            continue
        scale, shift, mean, variance = (np.asarray(value, np.float64) for value in constants)
        with np.errstate(all="ignore"):  # _survives refuses what is not finite
            factor = scale / np.sqrt(variance + node.get_float("epsilon", 1e-5))
            offset = shift - mean * factor
        _scale_product(edit, product, node, factor, offset)
    return edit.result()


def fold_channel_steps(graph: Graph, opset: int) -> Graph:
    """Mul, Add, Sub and Div by a scalar or a value per channel go into the Conv or ConvTranspose before them."""
    edit = Edit(graph)
    for node in graph.nodes:
        if node.domain or node.op_type not in ("Mul", "Add", "Sub", "Div") or len(node.inputs) != 2:
            continue
        x, other = node.inputs
        if edit.constant(other) is None and node.op_type in ("Mul", "Add"):
            x, other = other, x
        value, product = edit.constant(other), _product_before(edit, node, x)
        if value is None or product is None or product.op_type == "Gemm":
            continue
        channels = _per_channel(value, edit, product)
        if channels is None or (node.op_type == "Div" and not channels.all()):
            continue
        ones, zeros = np.ones_like(channels), np.zeros_like(channels)
        with np.errstate(over="ignore"):
            factor = {"Mul": channels, "Div": 1 / channels if node.op_type == "Div" else ones}.get(node.op_type, ones)
        offset = {"Add": channels, "Sub": -channels}.get(node.op_type, zeros)
        _scale_product(edit, product, node, factor, offset)
    return edit.result()


def _product_before(edit: Edit, node: Node, name: str) -> Node | None:
    """The product that makes `name` for `node` alone from constant float weights, both still free to change."""
    product = edit.maker.get(name)
    if product is None or product.op_type not in _PRODUCTS or product.domain or len(product.inputs) < 2:
        return None
    if edit.sole_reader(name) is not node or not edit.free(product, node):
        return None
    constants = [edit.constant(name) for name in product.inputs[1:] if name]
    if any(value is None or value.dtype.kind != "f" for value in constants):
        return None
    weight, group = edit.graph.initializers[product.inputs[1]], product.get_int("group", 1)
    if product.op_type == "Gemm":
        return product if weight.ndim == 2 else None
    return product if weight.ndim > 2 and group > 0 and weight.shape[0] % group == 0 else None


def _channels(weight: Array, product: Node) -> int:
    if product.op_type == "Gemm":
        return int(weight.shape[0 if product.get_int("transB", 0) else 1])
    return int(weight.shape[0] if product.op_type == "Conv" else weight.shape[1] * product.get_int("group", 1))


def _per_channel(value: Array, edit: Edit, product: Node) -> Wide | None:
    """`value` as one number per output channel, None where it varies along another axis or raises the rank."""
    weight = edit.graph.initializers[product.inputs[1]]
    channels = _channels(weight, product)
    if value.dtype != weight.dtype or value.ndim > weight.ndim:
        return None
    shape = (1,) * (weight.ndim - value.ndim) + value.shape
    if any(extent != 1 for axis, extent in enumerate(shape) if axis != 1) or shape[1] not in (1, channels):
        return None
    return np.broadcast_to(value.astype(np.float64).reshape(-1), (channels,))


def _scale_product(edit: Edit, product: Node, node: Node, factor: Wide, offset: Wide) -> None:
    """`product` and then `node`, y * factor + offset per channel, become one product."""
    weight = edit.graph.initializers[product.inputs[1]]
    channels = _channels(weight, product)
    bias = _bias(edit, product, channels)
    if bias is None or factor.shape != (channels,) or offset.shape != (channels,):
        return
    with np.errstate(all="ignore"):
        scaled = weight.astype(np.float64) * _over_weight(factor, weight, product)
        shift = bias * factor + offset
    if not _survives(scaled, shift, weight.dtype, product):
        return
    names = [
        edit.add_constant(f"{product.outputs[0]}_{role}", value.astype(weight.dtype))
        for role, value in (("w", scaled), ("b", shift))
    ]
    merged = replace(product, inputs=(product.inputs[0], *names), outputs=node.outputs[:1])
    edit.drop(product)
    edit.put(node, with_attributes(merged, {"beta": 1.0}) if product.op_type == "Gemm" else merged)


def _survives(scaled: Wide, shift: Wide, dtype: np.dtype[Any], product: Node) -> bool:
    """Whether `dtype` holds folded weights and biases to its precision, measured by each channel's largest weight."""
    if not (np.isfinite(scaled).all() and np.isfinite(shift).all()):
        return False
    with np.errstate(all="ignore"):
        lost = [np.abs(value.astype(dtype).astype(np.float64) - value) for value in (scaled, shift)]
    precision, peaks = float(np.finfo(dtype).eps), _channel_peaks(scaled, product)
    weights_hold = lost[0] <= precision * _over_weight(peaks, scaled, product)
    return bool(weights_hold.all() and (lost[1] <= precision * np.maximum(np.abs(shift), peaks)).all())


def _channel_peaks(weight: Wide, product: Node) -> Wide:
    """The largest size of a weight of each output channel."""
    size = np.abs(weight)
    if product.op_type == "Gemm":
        return np.asarray(size.max(axis=1 if product.get_int("transB", 0) else 0, initial=0.0))
    if product.op_type == "Conv":
        return np.asarray(size.reshape(len(size), math.prod(size.shape[1:])).max(axis=1, initial=0.0))
    group, taps = product.get_int("group", 1), math.prod(size.shape[2:])
    grouped = size.reshape(group, len(size) // group, size.shape[1], taps)
    return np.asarray(grouped.max(axis=(1, 3), initial=0.0).reshape(-1))


def _bias(edit: Edit, product: Node, channels: int) -> Wide | None:
    """The product's bias in float64, zeros where it has none; None where it is not one value per channel."""
    name = product.inputs[2] if len(product.inputs) > 2 else ""
    if not name:
        return np.zeros(channels)
    bias = edit.graph.initializers[name].astype(np.float64)
    if product.op_type == "Gemm":
        bias = bias * product.get_float("beta", 1.0)
        if bias.ndim == 2 and bias.shape[0] == 1:
            bias = bias[0]
        if bias.size == 1 and bias.ndim <= 1:
            return np.full(channels, bias.reshape(())[()])
    return bias if bias.shape == (channels,) else None


def _over_weight(factor: Wide, weight: Array, product: Node) -> Wide:
    """A value per output channel, shaped to multiply the weight."""
    if product.op_type == "Gemm":
        return factor[:, None] if product.get_int("transB", 0) else factor[None, :]
    if product.op_type == "Conv":
        return factor.reshape([-1] + [1] * (weight.ndim - 1))
    group = product.get_int("group", 1)  # (C, M/group, kH, kW): channels of one group share its outputs
    each = np.repeat(factor.reshape(group, -1), weight.shape[0] // group, axis=0)
    return each.reshape([*each.shape] + [1] * (weight.ndim - 2))


def merge_pad_into_conv(graph: Graph, opset: int) -> Graph:
    """A Pad by zeros of the spatial axes becomes pads of the Conv that alone reads it."""
    edit = Edit(graph)
    for node in graph.nodes:
        if node.op_type != "Conv" or node.domain or len(node.inputs) < 2:
            continue
        pad, weight = edit.maker.get(node.inputs[0]), edit.constant(node.inputs[1])
        if pad is None or weight is None or pad.op_type != "Pad" or pad.domain or not edit.free(pad, node):
            continue
        auto = node.get_str("auto_pad", "NOTSET")
        if edit.sole_reader(pad.outputs[0]) is not node or auto not in ("NOTSET", "VALID"):
            continue
        widths = _zero_pads(edit, pad, weight.ndim, opset)
        own = node.get_ints("pads") if auto == "NOTSET" else None
        spatial = weight.ndim - 2
        own = (0,) * (2 * spatial) if own is None else own
        if widths is None or len(own) != 2 * spatial or any(widths[:2]) or any(widths[weight.ndim : weight.ndim + 2]):
            continue
        added = widths[2 : weight.ndim] + widths[weight.ndim + 2 :]
        merged = with_attributes(node, {"pads": [a + b for a, b in zip(own, added, strict=True)]})
        attributes = {name: value for name, value in merged.attributes.items() if name != "auto_pad"}
        edit.drop(pad)
        edit.put(node, replace(merged, inputs=(pad.inputs[0], *node.inputs[1:]), attributes=attributes))
    return edit.result()


def _zero_pads(edit: Edit, pad: Node, rank: int, opset: int) -> tuple[int, ...] | None:
    """Begins, then ends of every axis; None for another mode or value, a negative pad, or pads not constant."""
    if pad.get_str("mode", "constant") != "constant":
        return None
    if opset < 11:
        pads = pad.get_ints("pads")
        return pads if pads and len(pads) == 2 * rank and min(pads) >= 0 and not pad.get_float("value", 0.0) else None
    inputs = [edit.constant(name) if name else None for name in pad.inputs]
    given = [bool(name) for name in pad.inputs] + [False] * 4
    if any(given[index] and value is None for index, value in enumerate(inputs) if index):
        return None
    pads_value, fill, axes_value = (*inputs[1:], None, None, None)[:3]
    if any(value is not None and value.dtype.kind not in "iu" for value in (pads_value, axes_value)):
        return None
    if pads_value is None or (fill is not None and fill.any()):
        return None
    amounts = [int(amount) for amount in pads_value.reshape(-1)]
    axes = range(rank) if axes_value is None else [int(axis) % rank for axis in axes_value.reshape(-1)]
    if len(amounts) != 2 * len(axes) or min(amounts, default=0) < 0:
        return None
    widths = [0] * (2 * rank)
    for index, axis in enumerate(axes):
        widths[axis], widths[axis + rank] = amounts[index], amounts[index + len(axes)]
    return tuple(widths)
