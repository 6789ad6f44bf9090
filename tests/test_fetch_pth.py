"""PyTorch checkpoints without torch: the right tensors from both formats, only ModelError from bad files."""

from __future__ import annotations

import collections
import io
import os
import pickle
import random
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onegpu_web.errors import ModelError
from onegpu_web.fetch.pth import read_pth

_MAGIC = 0x1950A86A20F9469CFC6C

Tensor = tuple[str, int, tuple[int, ...], tuple[int, ...]]
STORAGES = {"0": np.arange(24, dtype=np.float32), "1": np.array([7, -3], np.int64)}
TENSORS: dict[str, Tensor] = {
    "conv.weight": ("0", 0, (2, 3, 4), (12, 4, 1)),
    "conv.transposed": ("0", 4, (4, 2), (1, 4)),
    "steps": ("1", 1, (), ()),
}


class _Storage:
    def __init__(self, key: str) -> None:
        self.key = key


class _Reduced:
    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.reduced = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.reduced


@pytest.fixture
def torch_names(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Modules named like torch's, so that pickle writes the names that torch would."""
    torch, inner = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in ("FloatStorage", "LongStorage"):
        setattr(torch, name, type(name, (), {"__module__": "torch"}))

    def rebuild(*_: object) -> None:
        raise AssertionError("the reader called what it must not call")

    rebuild.__module__, rebuild.__name__, rebuild.__qualname__ = (
        "torch._utils",
        "_rebuild_tensor_v2",
        "_rebuild_tensor_v2",
    )
    inner._rebuild_tensor_v2 = rebuild  # type: ignore[attr-defined]
    torch._utils = inner  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", inner)
    return torch


def state_pickle(torch: types.ModuleType, tensors: dict[str, Tensor], *, legacy: bool) -> bytes:
    class Pickler(pickle.Pickler):
        def persistent_id(self, thing: object) -> tuple[Any, ...] | None:
            if not isinstance(thing, _Storage):
                return None
            kind = torch.FloatStorage if STORAGES[thing.key].dtype == np.float32 else torch.LongStorage
            pid = ("storage", kind, thing.key, "cpu", STORAGES[thing.key].size)
            return (*pid, None) if legacy else pid

    state: Any = collections.OrderedDict()
    for name, (key, offset, shape, strides) in tensors.items():
        hooks: Any = collections.OrderedDict()
        rebuild = torch._utils._rebuild_tensor_v2
        state[name] = _Reduced(rebuild, (_Storage(key), offset, shape, strides, False, hooks))
    state._metadata = collections.OrderedDict([("", {"version": 1})])
    stream = io.BytesIO()
    Pickler(stream, protocol=2).dump(state)
    return stream.getvalue()


def legacy_file(state: bytes) -> bytes:
    machine = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    heads = [pickle.dumps(part, protocol=2) for part in (_MAGIC, 1001, machine)]
    tails = [len(array).to_bytes(8, "little") + array.tobytes() for array in STORAGES.values()]
    return b"".join([*heads, state, pickle.dumps(list(STORAGES), protocol=2), *tails])


def zip_file(state: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr("model/data.pkl", state)
        archive.writestr("model/byteorder", b"little")
        for key, array in STORAGES.items():
            archive.writestr(f"model/data/{key}", array.tobytes())
    return stream.getvalue()


def read(tmp_path: Path, content: bytes) -> dict[str, Any]:
    path = tmp_path / "model.pth"
    path.write_bytes(content)
    return read_pth(path)


@pytest.mark.parametrize("form", ["legacy", "zip"])
def test_tensors_come_back_with_shape_strides_and_offset(
    tmp_path: Path, torch_names: types.ModuleType, form: str
) -> None:
    state = state_pickle(torch_names, TENSORS, legacy=form == "legacy")
    tensors = read(tmp_path, legacy_file(state) if form == "legacy" else zip_file(state))
    assert list(tensors) == list(TENSORS)
    np.testing.assert_array_equal(tensors["conv.weight"], np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    np.testing.assert_array_equal(tensors["conv.transposed"], np.arange(4, 12, dtype=np.float32).reshape(2, 4).T)
    assert tensors["steps"].shape == ()
    assert tensors["steps"].dtype == np.int64
    assert tensors["steps"] == -3
    assert not tensors["conv.weight"].flags.writeable


@pytest.mark.parametrize("function", [os.mkdir, eval, exec, print], ids=lambda function: function.__name__)
@pytest.mark.parametrize("form", ["legacy", "zip"])
def test_a_pickle_that_calls_something_is_refused_and_calls_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], function: Callable[..., Any], form: str
) -> None:
    made = tmp_path / "made"
    argument = str(made) if function is os.mkdir else f"__import__('os').mkdir({str(made)!r})"
    state = pickle.dumps({"w": _Reduced(function, (argument,))}, protocol=2)
    with pytest.raises(ModelError, match="has no place in a state dict; nothing was called"):
        read(tmp_path, legacy_file(state) if form == "legacy" else zip_file(state))
    assert not made.exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("protocol", [0, 3, 4, 5])
def test_other_pickle_protocols_are_refused(tmp_path: Path, protocol: int) -> None:
    with pytest.raises(ModelError, match="pickle: "):
        read(tmp_path, legacy_file(pickle.dumps({"w": [1.5]}, protocol=protocol)))


@pytest.mark.parametrize(
    "tensor",
    [
        ("0", 0, (25,), (1,)),
        ("0", 20, (5,), (1,)),
        ("0", 0, (2, 3), (24, 1)),
        ("0", 0, (4096, 4096), (0, 0)),
        ("0", -1, (2,), (1,)),
        ("0", 0, (2,), (-1,)),
        ("0", 0, (-2,), (1,)),
        ("0", 0, (2, 2), (1,)),
        ("0", 0, (1,) * 9, (1,) * 9),
        ("0", 0, (2**62,), (1,)),
        ("0", True, (2,), (1,)),
        ("0", 0, (2.0,), (1,)),
    ],
)
def test_a_tensor_outside_its_storage_is_refused(tmp_path: Path, torch_names: types.ModuleType, tensor: Tensor) -> None:
    tensors = {**TENSORS, "bad": tensor}
    with pytest.raises(ModelError, match="pth: bad must"):
        read(tmp_path, legacy_file(state_pickle(torch_names, tensors, legacy=True)))


def test_every_truncation_is_refused(tmp_path: Path, torch_names: types.ModuleType) -> None:
    content = legacy_file(state_pickle(torch_names, TENSORS, legacy=True))
    for length in range(len(content)):
        with pytest.raises(ModelError):
            read(tmp_path, content[:length])


def test_bytes_after_the_last_storage_are_refused(tmp_path: Path, torch_names: types.ModuleType) -> None:
    content = legacy_file(state_pickle(torch_names, TENSORS, legacy=True))
    with pytest.raises(ModelError, match="1 more bytes"):
        read(tmp_path, content + b"\0")


@pytest.mark.parametrize("form", ["legacy", "zip"])
def test_damaged_files_raise_nothing_but_model_error(tmp_path: Path, torch_names: types.ModuleType, form: str) -> None:
    state = state_pickle(torch_names, TENSORS, legacy=form == "legacy")
    content = legacy_file(state) if form == "legacy" else zip_file(state)
    draw = random.Random(314)
    refused = 0
    for _ in range(1500):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            read(tmp_path, bytes(damaged))
        except ModelError:
            refused += 1
    assert refused > 700


def test_a_compressed_zip_is_refused(tmp_path: Path, torch_names: types.ModuleType) -> None:
    state = state_pickle(torch_names, TENSORS, legacy=False)
    with pytest.raises(ModelError, match="stored without compression"):
        read(tmp_path, zip_file(state, zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"PK\x03\x04", b"PK\x03\x04" + b"\0" * 100, b"GIF89a" * 9])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ModelError):
        read(tmp_path, content)
