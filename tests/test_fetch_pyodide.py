"""The Pyodide that is served: pinned files, a lock that names our wheel and numpy, and refusals of anything else."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from pyodide_lock import PyodideLockSpec
from pyodide_lock.utils import add_wheels_to_spec

import onegpu_web
from onegpu_web.errors import FetchError
from onegpu_web.fetch import cache, catalog, pyodide
from onegpu_web.fetch.wheel import wheel

NUMPY_SHA256 = "0cad9c1b91f0082e4f959bc0e0bf5835a2efbba6ab3b1e9d1fe6e7e564cca98e"


@pytest.fixture(scope="module")
def own_wheel() -> Path:
    return wheel()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, own_wheel: Path) -> Path:
    folder = tmp_path_factory.mktemp("served") / "pyodide"
    pyodide.write_distribution(folder, own_wheel)
    return folder


@pytest.fixture
def ready(tmp_path: Path, served: Path) -> Path:
    """A copy of the served distribution, to be changed."""
    return Path(shutil.copytree(served, tmp_path / "ready"))


def read_lock(folder: Path) -> dict[str, Any]:
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    assert isinstance(lock, dict)
    return lock


def test_the_served_lock_names_us_and_numpy_with_the_bytes_that_are_served(served: Path) -> None:
    packages = read_lock(served)["packages"]
    assert sorted(packages) == ["micropip", "numpy", "onegpu-web", "packaging"]
    assert packages["numpy"]["sha256"] == NUMPY_SHA256
    for entry in packages.values():
        assert cache.sha256_of(served / entry["file_name"]) == entry["sha256"]
        assert set(entry["depends"]) <= set(packages)
    assert packages["onegpu-web"]["depends"] == ["numpy"]
    assert packages["onegpu-web"]["version"] == onegpu_web.__version__


def test_the_folder_holds_the_core_and_nothing_unused(served: Path) -> None:
    core = {"pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"}
    wheels = {entry["file_name"] for entry in read_lock(served)["packages"].values()}
    assert {path.name for path in served.iterdir()} == core | wheels


def test_every_wheel_of_the_catalog_is_the_one_that_the_lock_pins() -> None:
    packages = pyodide.read_lock(pyodide.distribution())["packages"]
    pinned = {packages[name]["file_name"]: packages[name]["sha256"] for name in pyodide.KEPT_PACKAGES}
    assert pinned == {file.name: file.sha256 for file in catalog.PYODIDE_WHEELS}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="pyodide-lock for Python 3.11 (0.1) cannot read this lock")
def test_our_entry_is_the_one_that_pyodide_lock_would_write(served: Path, own_wheel: Path, tmp_path: Path) -> None:
    upstream = PyodideLockSpec.from_json(pyodide.distribution() / "pyodide-lock.json")
    theirs = add_wheels_to_spec(upstream, [own_wheel]).packages["onegpu-web"]
    ours = PyodideLockSpec.from_json(served / "pyodide-lock.json").packages["onegpu-web"]
    for field in ("name", "version", "install_dir", "sha256", "package_type", "imports", "unvendored_tests"):
        assert getattr(ours, field) == getattr(theirs, field), field
    assert sorted(ours.depends) == sorted(theirs.depends)
    assert Path(theirs.file_name).name == ours.file_name


def test_wgpu_is_required_everywhere_but_in_the_browser(own_wheel: Path) -> None:
    with zipfile.ZipFile(own_wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        lines = archive.read(name).decode().splitlines()
    required = [Requirement(line.removeprefix("Requires-Dist: ")) for line in lines if line.startswith("Requires-Dist")]

    def names(platform: str) -> set[str]:
        environment = {"sys_platform": platform, "extra": ""}
        return {need.name for need in required if need.marker is None or need.marker.evaluate(environment)}

    assert names("emscripten") == {"numpy"}
    assert names("linux") == names("darwin") == {"numpy", "wgpu"}


def test_a_ready_distribution_takes_the_place_of_the_cache(
    ready: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ONEGPU_PYODIDE", str(ready))
    monkeypatch.setenv("ONEGPU_CACHE", str(tmp_path / "empty"))
    assert pyodide.distribution() == ready
    assert {file.kind for file in pyodide.needed_files()} == {"model", "labels", "picture"}


def test_without_the_cache_the_message_says_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ONEGPU_PYODIDE", raising=False)
    monkeypatch.setenv("ONEGPU_CACHE", str(tmp_path))
    with pytest.raises(FetchError, match=r"pyodide.mjs is missing; run `onegpu-web fetch`"):
        pyodide.distribution()


def test_a_wheel_that_is_not_the_locks_is_refused(ready: Path) -> None:
    (numpy,) = ready.glob("numpy-*.whl")
    content = bytearray(numpy.read_bytes())
    content[1000] ^= 1
    numpy.write_bytes(content)
    with pytest.raises(FetchError, match=f"numpy-.* must have the lock's sha256 {NUMPY_SHA256}"):
        pyodide.check_distribution(ready)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "pyodide.asm.wasm").unlink(), "pyodide.asm.wasm is missing"),
        (lambda folder: next(folder.glob("numpy-*")).unlink(), "must hold numpy-"),
        (lambda folder: (folder / "pyodide-lock.json").write_text("{"), "must be JSON"),
        (lambda folder: (folder / "pyodide-lock.json").write_text("[]"), "must list packages"),
        (lambda folder: (folder / "pyodide-lock.json").write_text('{"packages": {}}'), "must list micropip"),
    ],
)
def test_an_incomplete_distribution_is_refused(ready: Path, damage: Any, message: str) -> None:
    damage(ready)
    with pytest.raises(FetchError, match=message):
        pyodide.check_distribution(ready)
