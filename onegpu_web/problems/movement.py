"""Problems that move elements without changing them, and Cast, which changes their type alone."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ..dtypes import FLOAT16, FLOAT32, INT8, INT32, UINT8, UINT32, DType
from ..errors import KernelShapeError
from .strides import Shape, broadcast_shape, broadcast_strides, check_axis, check_offsets, check_shape, row_major

PAD_MODES = ("constant", "edge", "reflect", "wrap")
WORDS = (FLOAT32, FLOAT16, INT32, UINT32)
MOVABLE = (*WORDS, INT8, UINT8)
_STRUCT_CODES = {FLOAT32: "f", FLOAT16: "e", INT32: "i", UINT32: "I", INT8: "b", UINT8: "B"}


def _check_dtype(op: str, field: str, dtype: DType, choices: tuple[DType, ...] = MOVABLE) -> None:
    if dtype not in choices:
        raise KernelShapeError(f"{op}: {field} must be of {', '.join(d.name for d in choices)}, got {dtype.name}")


@dataclass(frozen=True, slots=True)
class CopyProblem:
    """y[y_offset + i . y_strides] = x[x_offset + i . x_strides] for every index i of `shape`, bit for bit.

    op: the operator it stands for, for messages. Strides are in elements; x's may be 0 or negative.
    """

    op: str
    shape: Shape
    x_strides: Shape
    y_strides: Shape
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        _check_dtype(self.op, "dtype", self.dtype)
        check_shape(self.op, "shape", self.shape)
        if not len(self.shape) == len(self.x_strides) == len(self.y_strides):
            raise KernelShapeError(f"{self.op}: strides must have the rank of {self.shape}, got {self.x_strides}")
        if any(stride < 0 for stride in self.y_strides):
            raise KernelShapeError(f"{self.op}: y_strides must be non-negative, got {self.y_strides}")
        low, high = _reach(self.shape, self.x_strides)
        if self.x_offset + low < 0:
            raise KernelShapeError(f"{self.op}: x must be read from index 0 on, got {self.x_offset + low}")
        check_offsets(
            self.op,
            x_offset=(self.x_offset, high + 1),
            y_offset=(self.y_offset, _reach(self.shape, self.y_strides)[1] + 1),
        )


def _reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """The lowest and highest index, from the offset, that a walk over `shape` touches."""
    if 0 in shape:
        return 0, -1
    ends = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)


def transpose(shape: Shape, perm: Sequence[int], dtype: DType = FLOAT32) -> CopyProblem:
    """y's axis i is x's axis perm[i]. Source: ONNX Transpose-25."""
    if sorted(perm) != list(range(len(shape))):
        raise KernelShapeError(f"transpose: perm must order the axes of {shape}, got {tuple(perm)}")
    out, strides = tuple(shape[axis] for axis in perm), row_major(shape)
    return CopyProblem("transpose", out, tuple(strides[axis] for axis in perm), row_major(out), dtype)


def expand(shape: Shape, target: Shape, dtype: DType = FLOAT32) -> CopyProblem:
    """x repeated to the shape it and `target` broadcast to. Source: ONNX Expand-13."""
    out = broadcast_shape("expand", shape, target)
    return CopyProblem("expand", out, broadcast_strides(shape, out), row_major(out), dtype)


def tile(shape: Shape, repeats: Sequence[int], dtype: DType = FLOAT32) -> CopyProblem:
    """x repeated `repeats[i]` times along axis i. Source: ONNX Tile-13."""
    if len(repeats) != len(shape) or any(count < 0 for count in repeats):
        raise KernelShapeError(f"tile: repeats must be {len(shape)} non-negative integers, got {tuple(repeats)}")
    strides = row_major(shape)
    out = tuple(v for pair in zip(repeats, shape, strict=True) for v in pair)
    x_strides = tuple(v for stride in strides for v in (0, stride))
    return CopyProblem("tile", out, x_strides, row_major(out), dtype)


def slice_axes(shape: Shape, slices: Sequence[tuple[int, int, int]], dtype: DType = FLOAT32) -> CopyProblem:
    """x's elements at `slices`: (start, count, step) for each axis, steps of either sign."""
    if len(slices) != len(shape):
        raise KernelShapeError(f"slice: slices must be {len(shape)}, got {len(slices)}")
    strides = row_major(shape)
    for (start, count, step), size in zip(slices, shape, strict=True):
        if count > 0 and not (0 <= start < size and 0 <= start + (count - 1) * step < size):
            raise KernelShapeError(f"slice: slices must lie within {shape}, got {tuple(slices)}")
    out = tuple(count for _, count, _ in slices)
    offset = sum(start * stride for (start, count, _), stride in zip(slices, strides, strict=True) if count)
    x_strides = tuple(step * stride for (_, _, step), stride in zip(slices, strides, strict=True))
    return CopyProblem("slice", out, x_strides, row_major(out), dtype, 0 if 0 in out else offset)


def depth_to_space(shape: Shape, blocksize: int, mode: str = "DCR", dtype: DType = FLOAT32) -> CopyProblem:
    """(N, C * b * b, H, W) to (N, C, H * b, W * b). Source: ONNX DepthToSpace-13."""
    if len(shape) != 4 or blocksize < 1 or shape[1] % (blocksize * blocksize) or mode not in ("DCR", "CRD"):
        raise KernelShapeError(
            f"depth_to_space: x must be (N, C * b * b, H, W) and mode DCR or CRD, got {shape}, b = {blocksize}, {mode}"
        )
    n, depth, h, w = shape
    b, c = blocksize, depth // (blocksize * blocksize)
    split = (n, b, b, c, h, w) if mode == "DCR" else (n, c, b, b, h, w)
    perm = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    moved = transpose(split, perm, dtype)
    return CopyProblem("depth_to_space", moved.shape, moved.x_strides, moved.y_strides, dtype)


def space_to_depth(shape: Shape, blocksize: int, mode: str = "DCR", dtype: DType = FLOAT32) -> CopyProblem:
    """(N, C, H * b, W * b) to (N, b * b * C, H, W). Source: ONNX SpaceToDepth-13; its mode is newer."""
    if len(shape) != 4 or blocksize < 1 or shape[2] % blocksize or shape[3] % blocksize or mode not in ("DCR", "CRD"):
        raise KernelShapeError(
            f"space_to_depth: x must be (N, C, H * b, W * b) and mode DCR or CRD, got {shape}, b = {blocksize}, {mode}"
        )
    n, c, h, w = shape
    b = blocksize
    perm = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    moved = transpose((n, c, h // b, b, w // b, b), perm, dtype)
    return CopyProblem("space_to_depth", moved.shape, moved.x_strides, moved.y_strides, dtype)


@dataclass(frozen=True, slots=True)
class ConcatProblem:
    """The inputs x0, x1 ... one after the other along `axis`, bit for bit. Source: ONNX Concat-13.

    shapes: of the inputs, equal but along axis. x_offsets: element offsets, all 0 where empty.
    """

    shapes: tuple[Shape, ...]
    axis: int
    dtype: DType = FLOAT32
    x_offsets: tuple[int, ...] = ()
    y_offset: int = 0

    def __post_init__(self) -> None:
        _check_dtype("concat", "dtype", self.dtype)
        if not self.shapes or (self.x_offsets and len(self.x_offsets) != len(self.shapes)):
            raise KernelShapeError(f"concat: shapes must be one for each of the x_offsets, got {self.shapes}")
        axis = check_axis("concat", "axis", self.axis, len(self.shapes[0]))
        for shape in self.shapes:
            if len(shape) != len(self.shapes[0]) or any(
                a != b for i, (a, b) in enumerate(zip(shape, self.shapes[0], strict=True)) if i != axis
            ):
                raise KernelShapeError(f"concat: shapes must be equal but along axis {axis}, got {self.shapes}")
        check_offsets("concat", y_offset=(self.y_offset, check_shape("concat", "output_shape", self.output_shape)))
        self.copies()

    @property
    def op(self) -> str:
        return "concat"

    @property
    def output_shape(self) -> Shape:
        axis = self.axis % len(self.shapes[0])
        out = list(self.shapes[0])
        out[axis] = sum(shape[axis] for shape in self.shapes)
        return tuple(out)

    def copies(self) -> list[CopyProblem]:
        """One copy for each input."""
        axis = self.axis % len(self.shapes[0])
        y_strides, at = row_major(self.output_shape), self.y_offset
        copies = []
        for index, shape in enumerate(self.shapes):
            offset = self.x_offsets[index] if self.x_offsets else 0
            copies.append(CopyProblem("concat", shape, row_major(shape), y_strides, self.dtype, offset, at))
            at += shape[axis] * y_strides[axis]
        return copies


@dataclass(frozen=True, slots=True)
class PadProblem:
    """x with `pads` (begins, then ends) around it; negative ones crop, before the others pad.

    mode: of PAD_MODES. value: what constant puts there. Source: ONNX Pad-24.
    """

    x_shape: Shape
    pads: Shape
    mode: str = "constant"
    value: float = 0.0
    dtype: DType = FLOAT32
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        _check_dtype("pad", "dtype", self.dtype)
        if self.mode not in PAD_MODES:
            raise KernelShapeError(f"pad: mode must be of {', '.join(PAD_MODES)}, got {self.mode!r}")
        if len(self.pads) != 2 * len(self.x_shape):
            raise KernelShapeError(f"pad: pads must be {2 * len(self.x_shape)} integers, got {self.pads}")
        if min((*self.cropped_shape, *self.output_shape), default=1) < 0:
            raise KernelShapeError(f"pad: pads must leave sizes of 0 or more of {self.x_shape}, got {self.pads}")
        if self.mode != "constant" and any(
            size == 0 and out > 0 for size, out in zip(self.cropped_shape, self.output_shape, strict=True)
        ):
            raise KernelShapeError(f"pad: mode {self.mode} must have elements to repeat, got {self.x_shape}")
        try:
            _ = self.value_bits
        except (OverflowError, ValueError, struct.error) as error:
            raise KernelShapeError(f"pad: value must be a number of {self.dtype.name}, got {self.value}") from error
        x = check_shape("pad", "x_shape", self.x_shape)
        y = check_shape("pad", "output_shape", self.output_shape)
        check_offsets("pad", x_offset=(self.x_offset, x), y_offset=(self.y_offset, y))

    @property
    def op(self) -> str:
        return "pad"

    @property
    def begins(self) -> Shape:
        return self.pads[: len(self.x_shape)]

    @property
    def ends(self) -> Shape:
        return self.pads[len(self.x_shape) :]

    @property
    def value_bits(self) -> int:
        """The border value's bits in x's element type."""
        code = _STRUCT_CODES[self.dtype]
        return int.from_bytes(struct.pack(f"<{code}", self.value if code in "fe" else int(self.value)), "little")

    @property
    def cropped_shape(self) -> Shape:
        """x's shape after the negative pads."""
        sides = zip(self.x_shape, self.begins, self.ends, strict=True)
        return tuple(size + min(begin, 0) + min(end, 0) for size, begin, end in sides)

    @property
    def output_shape(self) -> Shape:
        sides = zip(self.x_shape, self.begins, self.ends, strict=True)
        return tuple(size + begin + end for size, begin, end in sides)


@dataclass(frozen=True, slots=True)
class GatherProblem:
    """y[o, i, j] = x[o, indices[i], j]: slices along `axis`, bit for bit. Source: ONNX Gather-13.

    indices: int32, negative ones count from the end; out of range ones are held to the ends.
    y: x_shape[:axis] + indices_shape + x_shape[axis + 1:].
    """

    x_shape: Shape
    indices_shape: Shape
    axis: int = 0
    dtype: DType = FLOAT32
    x_offset: int = 0
    indices_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        _check_dtype("gather", "dtype", self.dtype, WORDS)
        axis = check_axis("gather", "axis", self.axis, len(self.x_shape))
        if self.x_shape[axis] == 0:
            raise KernelShapeError(f"gather: axis {axis} must have elements, got {self.x_shape}")
        check_offsets(
            "gather",
            x_offset=(self.x_offset, check_shape("gather", "x_shape", self.x_shape)),
            indices_offset=(self.indices_offset, check_shape("gather", "indices_shape", self.indices_shape)),
            y_offset=(self.y_offset, check_shape("gather", "output_shape", self.output_shape)),
        )

    @property
    def op(self) -> str:
        return "gather"

    @property
    def output_shape(self) -> Shape:
        axis = self.axis % len(self.x_shape)
        return self.x_shape[:axis] + self.indices_shape + self.x_shape[axis + 1 :]

    @property
    def sizes(self) -> Shape:
        """Elements before the axis, of the axis, of the indices, behind the axis."""
        axis = self.axis % len(self.x_shape)
        before, behind = math.prod(self.x_shape[:axis]), math.prod(self.x_shape[axis + 1 :])
        return before, self.x_shape[axis], math.prod(self.indices_shape), behind


@dataclass(frozen=True, slots=True)
class CastProblem:
    """y = x in another element type; floats to integers go towards 0. Source: ONNX Cast-25.

    x may be int8 or uint8 too, four to a word. boolean: y is 1 where x is not 0, else 0.
    """

    elements: int
    x_dtype: DType
    dtype: DType
    boolean: bool = False
    x_offset: int = 0
    y_offset: int = 0

    def __post_init__(self) -> None:
        if self.x_dtype not in (INT8, UINT8):
            _check_dtype("cast", "x_dtype", self.x_dtype, WORDS)
        _check_dtype("cast", "dtype", self.dtype, WORDS)
        check_shape("cast", "elements", (self.elements,))
        check_offsets("cast", x_offset=(self.x_offset, self.elements), y_offset=(self.y_offset, self.elements))

    @property
    def op(self) -> str:
        return "cast"
