"""Reads the tensors of a PyTorch checkpoint (.pth) without torch: both its formats, nothing but state dicts.

The legacy format (before torch 1.6) is one file: four pickles (magic number, version, machine, state dict), the list
of storage keys, then for each key an 8-byte element count and the elements. The newer one is a zip whose data.pkl is
the state dict and whose data/KEY are the storages, stored without compression.

Source: torch/serialization.py, `_legacy_load` and `_load`.
"""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from onegpu_web.errors import ModelError
from onegpu_web.fetch.pickle_reader import Storage, TensorRecord, read_pickle

_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001
_MAX_RANK = 8


def read_pth(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The state dict: name to array, read-only views of the file's bytes.

    Raises: ModelError where the file is malformed, truncated, holds anything but tensors, or has a tensor that
    reaches outside its storage.
    """
    content = path.read_bytes()
    state, storages = _read_zip(content) if content[:4] == b"PK\x03\x04" else _read_legacy(content)
    if not isinstance(state, dict):
        raise ModelError(f"{path.name}: it must hold a state dict, got {type(state).__name__}")
    tensors: dict[str, npt.NDArray[Any]] = {}
    for name, record in state.items():
        if not isinstance(name, str) or not isinstance(record, TensorRecord):
            raise ModelError(f"{path.name}: {name!r:.100} must be a tensor, got {type(record).__name__}")
        tensors[name] = _view(name, record, storages)
    return tensors


def _read_legacy(content: bytes) -> tuple[object, dict[str, npt.NDArray[Any]]]:
    stream = io.BytesIO(content)
    if read_pickle(stream) != _MAGIC:
        raise ModelError("pth: it must start with PyTorch's magic number or be a zip")
    version = read_pickle(stream)
    if version != _LEGACY_VERSION:
        raise ModelError(f"pth: the version must be {_LEGACY_VERSION}, got another")
    machine = read_pickle(stream)
    if not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise ModelError("pth: it must have been written on a little-endian machine")
    state = read_pickle(stream)
    keys = read_pickle(stream)
    declared = _declared(state)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or sorted(keys) != sorted(declared):
        raise ModelError("pth: its list of storages must name each storage of the state dict once")
    storages: dict[str, npt.NDArray[Any]] = {}
    for key in keys:
        storage = declared[key]
        count = int.from_bytes(stream.read(8), "little")
        if count != storage.elements:
            raise ModelError(f"pth: storage {key:.50} must have {storage.elements} elements, got {count}")
        size_bytes = count * np.dtype(storage.dtype).itemsize
        if size_bytes > len(content) - stream.tell():
            raise ModelError(f"pth: storage {key:.50} must have {size_bytes} bytes, got {len(content) - stream.tell()}")
        storages[key] = np.frombuffer(content, storage.dtype, count, stream.tell())
        stream.seek(size_bytes, io.SEEK_CUR)
    if stream.tell() != len(content):
        raise ModelError(f"pth: it must end with its last storage, got {len(content) - stream.tell()} more bytes")
    return state, storages


def _read_zip(content: bytes) -> tuple[object, dict[str, npt.NDArray[Any]]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
            if len(pickles) != 1:
                raise ModelError(f"pth: the zip must hold one data.pkl, got {len(pickles)}")
            folder = pickles[0].removesuffix("data.pkl")
            if f"{folder}byteorder" in archive.namelist() and _stored(archive, f"{folder}byteorder") != b"little":
                raise ModelError("pth: it must have been written on a little-endian machine")
            state = read_pickle(io.BytesIO(_stored(archive, pickles[0])))
            storages: dict[str, npt.NDArray[Any]] = {}
            for key, storage in _declared(state).items():
                raw = _stored(archive, f"{folder}data/{key}")
                size_bytes = storage.elements * np.dtype(storage.dtype).itemsize
                if len(raw) != size_bytes:
                    raise ModelError(f"pth: storage {key:.50} must have {size_bytes} bytes, got {len(raw)}")
                storages[key] = np.frombuffer(raw, storage.dtype)
            return state, storages
    except ModelError:
        raise
    except (zipfile.BadZipFile, ValueError, OverflowError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"pth: the zip is damaged: {error}") from error


def _stored(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member's bytes. Only uncompressed members are read, so that no small file can unpack to a huge one."""
    try:
        member = archive.getinfo(name)
    except KeyError as error:
        raise ModelError(f"pth: the zip must hold {name:.100}") from error
    if member.compress_type != zipfile.ZIP_STORED:
        raise ModelError(f"pth: {name:.100} must be stored without compression")
    return archive.read(member)


def _declared(state: object) -> dict[str, Storage]:
    """Every storage that the state dict's tensors name; one key must always mean the same storage."""
    declared: dict[str, Storage] = {}
    for record in state.values() if isinstance(state, dict) else ():
        if isinstance(record, TensorRecord):
            storage = declared.setdefault(record.storage.key, record.storage)
            if storage != record.storage:
                raise ModelError(f"pth: storage {storage.key:.50} has two types or sizes")
    return declared


def _view(name: str, record: TensorRecord, storages: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The tensor as a read-only view of its storage, after proof that it stays inside."""
    shape, strides = _naturals(name, record.shape), _naturals(name, record.strides)
    (offset,) = _naturals(name, (record.offset,))
    if len(shape) != len(strides) or len(shape) > _MAX_RANK:
        raise ModelError(f"pth: {name:.100} must have as many strides as dimensions, at most {_MAX_RANK}")
    storage = storages[record.storage.key]
    end = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1
    # The second test keeps a stride of 0 from turning one element into a petabyte.
    if 0 not in shape and (end > len(storage) or math.prod(shape) > len(storage)):
        raise ModelError(f"pth: {name:.100} must lie inside its {len(storage)} elements, got {shape} from {offset}")
    if 0 in shape:
        return np.zeros(shape, storage.dtype)
    strides_bytes = tuple(stride * storage.dtype.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, strides_bytes, writeable=False)


def _naturals(name: str, values: object) -> tuple[int, ...]:
    if isinstance(values, tuple) and all(type(value) is int and 0 <= value < 2**48 for value in values):
        return values
    raise ModelError(f"pth: {name:.100} must have natural numbers as shape, strides and offset")
