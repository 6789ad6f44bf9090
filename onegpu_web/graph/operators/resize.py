"""ONNX Resize and its ancestor Upsample."""

from __future__ import annotations

from ...dtypes import FLOAT16, FLOAT32
from ...errors import UnsupportedError
from ...kernels.resize import FAMILY
from ...problems.resize import ResizeProblem
from ..lowering import Lowered, NodeView, Step


def resize(node: NodeView) -> list[Lowered]:
    """Resize-19 and its earlier forms: x, roi, scales, sizes from opset 11 on; x, scales before."""
    if node.opset < 11:
        return upsample(node)
    attributes = node.node
    mode = attributes.get_str("mode", "nearest")
    if mode != "nearest" and node.required(0).stored not in (FLOAT32, FLOAT16):
        raise UnsupportedError(f"{attributes.label}: mode {mode} must be of floats, got {node.required(0).dtype}")
    problem = ResizeProblem(
        node.required(0).shape,
        scales=_floats(node, 2),
        sizes=tuple(int(size) for size in _floats(node, 3)),
        axes=attributes.get_ints("axes") or (),
        # An exporter's placeholder in other modes; its values then may not even be known.
        roi=_floats(node, 1) if attributes.get_str(_COORDINATES, "") == "tf_crop_and_resize" else (),
        mode=mode,
        coordinate_transformation_mode=attributes.get_str(_COORDINATES, "half_pixel"),
        nearest_mode=attributes.get_str("nearest_mode", "round_prefer_floor"),
        cubic_coeff_a=attributes.get_float("cubic_coeff_a", -0.75),
        exclude_outside=attributes.get_int("exclude_outside", 0) != 0,
        antialias=attributes.get_int("antialias", 0) != 0,
        extrapolation_value=attributes.get_float("extrapolation_value", 0.0),
        keep_aspect_ratio_policy=attributes.get_str("keep_aspect_ratio_policy", "stretch"),
        dtype=node.required(0).stored,
    )
    return _step(node, problem)


_COORDINATES = "coordinate_transformation_mode"


def upsample(node: NodeView) -> list[Lowered]:
    """Upsample-9 and Resize-10 (scales an input), Upsample-7 (an attribute), Upsample-1 (height and width)."""
    x, attributes = node.required(0), node.node
    scales = _floats(node, 1) or attributes.get_floats("scales")
    if scales is None:
        scales = (1.0, 1.0, attributes.get_float("height_scale", 0.0), attributes.get_float("width_scale", 0.0))
    mode = attributes.get_str("mode", "nearest")
    problem = ResizeProblem(
        x.shape,
        scales=scales,
        mode="linear" if mode == "bilinear" else mode,
        coordinate_transformation_mode="asymmetric",
        nearest_mode="before_opset_11",
        dtype=x.stored,
    )
    return _step(node, problem)


def _step(node: NodeView, problem: ResizeProblem) -> list[Lowered]:
    x = node.required(0)
    return [Step(FAMILY, problem, {"x": x.name}, {"y": node.output(0, problem.output_shape, x.dtype)})]


def _floats(node: NodeView, index: int) -> tuple[float, ...]:
    """Input `index`, a list of numbers that the host knows; () where it is left out or empty."""
    known = node.known(index)
    return () if known is None else tuple(float(value) for value in known)


HANDLERS = {"Resize": resize, "Upsample": upsample}
