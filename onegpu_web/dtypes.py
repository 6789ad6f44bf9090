"""Element types: their names, their size on the GPU and their WGSL spelling. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    name: numpy's name. size_bytes: of one element, on the host and in a GPU buffer alike.
    wgsl: the type of an array element in a storage buffer. 8-bit types lie four to a u32 word.
    """

    name: str
    size_bytes: int
    wgsl: str


FLOAT32 = DType("float32", 4, "f32")
FLOAT16 = DType("float16", 2, "f16")
INT32 = DType("int32", 4, "i32")
UINT32 = DType("uint32", 4, "u32")
INT8 = DType("int8", 1, "u32")
UINT8 = DType("uint8", 1, "u32")

BY_NAME = {dtype.name: dtype for dtype in (FLOAT32, FLOAT16, INT32, UINT32, INT8, UINT8)}


def padded_bytes(size_bytes: int) -> int:
    """The size of the GPU buffer that holds size_bytes: a multiple of 4 (WebGPU's copy unit), at least 16."""
    return max(16, (size_bytes + 3) // 4 * 4)
