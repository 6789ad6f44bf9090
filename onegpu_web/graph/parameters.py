"""Inputs that are shapes, axes, pads and the like: how many axes they may have, and which the host must know.

ONNX writes these rules in words, not in its schemas, so this table is kept by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ModelError
from .model import Node

_LIST, _AXES, _SCALAR = "one axis", "at most one axis", "one element"

_REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"
_RULES: dict[str, dict[int, str]] = {
    "Clip": {1: _SCALAR, 2: _SCALAR},
    "Col2Im": {1: _LIST, 2: _LIST},
    "ConstantOfShape": {0: _LIST},
    "Dropout": {1: _SCALAR, 2: _SCALAR},
    "Expand": {1: _LIST},
    "MaxUnpool": {2: _LIST},
    "OneHot": {1: _SCALAR, 2: _LIST},
    "Pad": {1: _LIST, 2: _SCALAR, 3: _LIST},
    "Range": {0: _SCALAR, 1: _SCALAR, 2: _SCALAR},
    "Reshape": {1: _LIST},
    "Resize": {1: _LIST, 2: _LIST, 3: _LIST},
    "Slice": {1: _LIST, 2: _LIST, 3: _LIST, 4: _LIST},
    "Split": {1: _LIST},
    "Squeeze": {1: _AXES},
    "Tile": {1: _LIST},
    "Unsqueeze": {1: _AXES},
    "Upsample": {1: _LIST},
    **{f"Reduce{name}": {1: _AXES} for name in _REDUCTIONS.split()},
}
_NOT_NEEDED = {"Clip": (1, 2), "Dropout": (1,)}


def check_ranks(node: Node, shapes: Sequence[Sequence[object] | None]) -> None:
    """Hold the shapes of a node's parameters, as far as known, against the rules.

    An empty constant stands for a value left out, as some exporters write it.
    Raises: ModelError.
    """
    for index, rule in _RULES.get(node.operator, {}).items():
        shape = shapes[index] if index < len(shapes) else None
        if shape is None:
            continue
        fits = len(shape) == 1 if rule is _LIST else len(shape) <= 1
        if not fits or (rule is _SCALAR and any(size not in (0, 1) and isinstance(size, int) for size in shape)):
            raise ModelError(
                f"{node.label}: input {index} ('{node.inputs[index]}') must have {rule}, got shape {tuple(shape)}"
            )


def known_inputs(node: Node) -> tuple[int, ...]:
    """The inputs whose values decide the shape of an output or the code of a kernel, so that the host must know them.

    Clip's bounds may come from the GPU, Dropout's ratio is not read, and Resize's roi in one mode alone.
    """
    unread = _NOT_NEEDED.get(node.operator, ())
    if node.operator == "Resize" and node.attributes.get("coordinate_transformation_mode") != "tf_crop_and_resize":
        unread = (1,) if len(node.inputs) > 2 else ()  # two inputs are x and scales, in opset 10
    given = (index for index in _RULES.get(node.operator, {}) if index < len(node.inputs) and node.inputs[index])
    return tuple(index for index in given if index not in unread)
