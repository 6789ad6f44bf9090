"""Resize in ONNX's words, on any axes of a tensor of any rank."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace

from ..dtypes import BY_NAME, FLOAT16, FLOAT32, DType
from ..errors import KernelShapeError
from . import sizes as check
from .resize_taps import Axis, Rule, Taps, taps

MODES = ("nearest", "linear", "cubic")
COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
# The last one is what Upsample and Resize-10 do: down where an axis grows, up where it shrinks.
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "before_opset_11")
POLICIES = ("stretch", "not_larger", "not_smaller")


@dataclass(frozen=True, slots=True)
class ResizeProblem:
    """Resize.

    x_shape: any rank. Either scales (taken as float32) or sizes, one for each of `axes` (() means all, in
    order; negative ones count from the back). roi: starts, then ends, likewise; () is the whole input.
    extrapolation_value: for tf_crop_and_resize, converted to dtype. Nearest moves any dtype bit for bit;
    linear and cubic are for floats. exclude_outside says nothing about nearest. Offsets are in elements,
    scratch_offset in float32 elements.
    Source: ONNX Resize-19.
    """

    x_shape: tuple[int, ...]
    scales: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()
    axes: tuple[int, ...] = ()
    roi: tuple[float, ...] = ()
    mode: str = "nearest"
    coordinate_transformation_mode: str = "half_pixel"
    nearest_mode: str = "round_prefer_floor"
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation_value: float = 0.0
    keep_aspect_ratio_policy: str = "stretch"
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0
    scratch_offset: int = 0

    def __post_init__(self) -> None:
        check.operand(self.op, "x", self.x_shape, self.x_offset)
        for field, choices in (
            ("mode", MODES),
            ("coordinate_transformation_mode", COORDINATES),
            ("nearest_mode", NEAREST_MODES),
            ("keep_aspect_ratio_policy", POLICIES),
        ):
            check.one_of(self.op, field, getattr(self, field), choices)
        check.element_type(
            self.op, self.dtype, tuple(BY_NAME.values()) if self.mode == "nearest" else (FLOAT32, FLOAT16)
        )
        self._check_axes()
        self._check_numbers()
        if self.antialias and self.mode == "nearest":
            raise KernelShapeError(f"{self.op}: antialias must be off where mode is nearest")
        if not (math.isfinite(self.cubic_coeff_a) and all(map(math.isfinite, self.roi))):
            raise KernelShapeError(
                f"{self.op}: cubic_coeff_a and roi must be finite, got {self.cubic_coeff_a}, {self.roi}"
            )
        check.operand(self.op, "y", self.output_shape, self.y_offset)
        check.operand(self.op, "scratch", (), self.scratch_offset)
        if math.prod(self.output_shape) and not all(self.x_shape):
            raise KernelShapeError(f"{self.op}: x must have elements, got {self.x_shape} for {self.output_shape}")

    def _check_axes(self) -> None:
        rank = len(self.x_shape)
        integers = all(isinstance(axis, int) and -rank <= axis < rank for axis in self.axes)
        if not integers or len(set(self.resized_axes)) != len(self.resized_axes):
            raise KernelShapeError(f"{self.op}: axes must be distinct and within the rank {rank}, got {self.axes}")
        count = len(self.resized_axes)
        if bool(self.scales) == bool(self.sizes) and count:
            raise KernelShapeError(
                f"{self.op}: either scales or sizes must be given, got {self.scales} and {self.sizes}"
            )
        if self.sizes:
            check.integers(self.op, "sizes", self.sizes, count, 0)
        if self.scales and (len(self.scales) != count or not all(0 < s < math.inf for s in self.scales)):
            raise KernelShapeError(f"{self.op}: scales must be {count} positive numbers, got {self.scales}")
        if self.roi and len(self.roi) != 2 * count:
            raise KernelShapeError(f"{self.op}: roi must be {2 * count} numbers or none, got {self.roi}")

    def _check_numbers(self) -> None:
        """Raise where a number is none of its element type, which would be found when it is packed for the GPU."""
        half, integer = self.dtype is FLOAT16, self.dtype not in (FLOAT16, FLOAT32)
        value = self.extrapolation_value
        if not _fits(value, "e" if half else "f") or (integer and math.isnan(value)):
            raise KernelShapeError(f"{self.op}: extrapolation_value must be a number of {self.dtype.name}, got {value}")
        for field in ("scales", "roi"):
            if not all(_fits(number, "f") for number in getattr(self, field)):
                raise KernelShapeError(f"{self.op}: {field} must be float32 numbers, got {getattr(self, field)}")
        if not _fits(self.cubic_coeff_a, "f"):
            raise KernelShapeError(f"{self.op}: cubic_coeff_a must be a float32 number, got {self.cubic_coeff_a}")

    @property
    def op(self) -> str:
        return "resize"

    @property
    def resized_axes(self) -> tuple[int, ...]:
        """The axes that scales, sizes and roi speak of, counted from the front."""
        rank = len(self.x_shape)
        return tuple(axis + rank if axis < 0 else axis for axis in self.axes) or tuple(range(rank))

    @property
    def geometry(self) -> dict[int, Axis]:
        """What happens along each of the resized axes."""
        extents = [self.x_shape[axis] for axis in self.resized_axes]
        crops = self.coordinate_transformation_mode == "tf_crop_and_resize"
        count = len(extents)
        rois = [(0.0, 1.0)] * count
        if self.roi and crops:
            rois = list(zip(map(_single, self.roi[:count]), map(_single, self.roi[count:]), strict=True))
        if self.scales:
            made = [_by_scale(*row) for row in zip(extents, map(_single, self.scales), rois, strict=True)]
        else:
            made = _by_sizes(extents, self.sizes, rois, self.keep_aspect_ratio_policy)
        return dict(zip(self.resized_axes, made, strict=True))

    @property
    def output_shape(self) -> tuple[int, ...]:
        """x's rank; with scales each size is floor(size * (roi_end - roi_start) * scale), in float32."""
        shape = list(self.x_shape)
        for index, axis in self.geometry.items():
            shape[index] = axis.out
        return tuple(shape)

    @property
    def rule(self) -> Rule:
        """What decides about taps."""
        nearest, cubic = self.mode == "nearest", self.mode == "cubic"
        return Rule(
            self.mode,
            self.coordinate_transformation_mode,
            self.nearest_mode if nearest else "",
            _single(self.cubic_coeff_a) if cubic else 0.0,
            self.exclude_outside and not nearest,
            self.antialias,
        )

    def taps(self) -> dict[int, Taps]:
        """The taps along each axis that changes anything; one that keeps its size at scale 1 does not."""
        made = {index: taps(axis, self.rule) for index, axis in self.geometry.items() if not axis.is_kept}
        return {index: made[index] for index in sorted(made) if not made[index].is_identity}

    @property
    def operands(self) -> dict[str, tuple[tuple[int, ...], DType]]:
        """Shape and element type of each operand."""
        return {"x": (self.x_shape, self.dtype), "y": (self.output_shape, self.dtype)}

    def images(self, first: int, count: int) -> ResizeProblem:
        """The problem for `count` images of the batch from `first` on, on the same buffers; axis 0 must be kept."""
        return replace(
            self,
            x_shape=(count, *self.x_shape[1:]),
            x_offset=self.x_offset + first * math.prod(self.x_shape[1:]),
            y_offset=self.y_offset + first * math.prod(self.output_shape[1:]),
            sizes=tuple(count if axis == 0 else size for axis, size in zip(self.resized_axes, self.sizes, strict=True))
            if self.sizes
            else (),
        )


def _fits(value: float, code: str) -> bool:
    """Whether a number is within the range of struct's type `code`."""
    try:
        struct.pack(f"<{code}", value)
    except (OverflowError, struct.error):
        return False
    return True


def _single(value: float) -> float:
    """The float32 next to `value`."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _by_scale(extent: int, scale: float, roi: tuple[float, float]) -> Axis:
    """The length is the floor of the product in float32, as in onnxruntime and PyTorch, and coordinates use it."""
    length = max(0, math.floor(_single(_single(scale * _single(roi[1] - roi[0])) * extent)))
    return Axis(extent, length, scale, float(length), roi)


def _by_sizes(extents: list[int], sizes: tuple[int, ...], rois: list[tuple[float, float]], policy: str) -> list[Axis]:
    """Axes of given sizes, or of the one scale that keeps the aspect ratio (halves round up)."""
    rows = list(zip(extents, sizes, rois, strict=True))
    if policy == "stretch" or 0 in extents:
        return [Axis(extent, out, out / max(extent, 1), float(out), roi, True) for extent, out, roi in rows]
    ratios = [out / extent for extent, out, _ in rows]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    return [Axis(extent, math.floor(scale * extent + 0.5), scale, scale * extent, roi) for extent, _, roi in rows]
