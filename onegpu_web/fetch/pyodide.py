"""The Pyodide that is served: the pinned distribution, cut down to what is used, with our wheel in its lock.

With our wheel in the lock, ``pyodide.loadPackage("onegpu-web")`` finds it by name and pulls numpy. The entry is
written here rather than by pyodide-lock, which is a development tool only (a test holds the two equal).
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

from onegpu_web.errors import FetchError
from onegpu_web.fetch import cache
from onegpu_web.fetch.catalog import FILES, PYODIDE_CORE, PYODIDE_WHEELS, File

# What the page and the tests load besides our own wheel; the lock that is served names nothing else, so that a
# package which is not there fails by name instead of as a broken download.
KEPT_PACKAGES = ("micropip", "numpy", "packaging")
_OVERRIDE = "ONEGPU_PYODIDE"
_LOCK = "pyodide-lock.json"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def needed_files() -> tuple[File, ...]:
    """The catalog, without Pyodide's files where $ONEGPU_PYODIDE names a ready distribution."""
    return tuple(file for file in FILES if file.kind != "pyodide" or not os.environ.get(_OVERRIDE))


def distribution() -> Path:
    """The folder of the Pyodide to serve: $ONEGPU_PYODIDE, or the cache's.

    Raises: FetchError where a file is missing or is not what the distribution's own lock says.
    """
    override = os.environ.get(_OVERRIDE)
    if override:
        folder = Path(override).expanduser().resolve()
    else:
        for file in PYODIDE_CORE + PYODIDE_WHEELS:
            cache.path(file.name)
        folder = cache.location(PYODIDE_CORE[0]).parent
    check_distribution(folder)
    return folder


def check_distribution(folder: Path) -> None:
    """Raises FetchError unless the folder has the core, a lock, and each kept wheel with the lock's checksum."""
    for file in PYODIDE_CORE:
        if not (folder / file.name).is_file():
            raise FetchError(f"fetch: {folder} must be a Pyodide distribution, but {file.name} is missing")
    packages = read_lock(folder)["packages"]
    for name in KEPT_PACKAGES:
        if name not in packages:
            raise FetchError(f"fetch: the lock of {folder} must list {name}")
        wheel, sha256 = folder / packages[name]["file_name"], packages[name]["sha256"]
        if not wheel.is_file():
            raise FetchError(f"fetch: {folder} must hold {wheel.name}, which its lock names")
        found = cache.sha256_of(wheel)
        if found != sha256:
            raise FetchError(f"fetch: {wheel.name} must have the lock's sha256 {sha256}, got {found}")


def read_lock(folder: Path) -> dict[str, Any]:
    """The distribution's pyodide-lock.json."""
    try:
        lock = json.loads((folder / _LOCK).read_text(encoding="utf-8"))
    except ValueError as error:
        raise FetchError(f"fetch: {folder / _LOCK} must be JSON: {error}") from error
    if not isinstance(lock, dict) or not isinstance(lock.get("packages"), dict):
        raise FetchError(f"fetch: {folder / _LOCK} must list packages")
    return lock


def served_lock(lock: dict[str, Any], wheel: Path) -> dict[str, Any]:
    """The lock cut down to KEPT_PACKAGES, and our wheel added."""
    entry = lock_entry(wheel)
    packages = {name: lock["packages"][name] for name in KEPT_PACKAGES}
    return {**lock, "packages": {**packages, entry["name"]: entry}}


def lock_entry(wheel: Path) -> dict[str, Any]:
    """What a lock says of our wheel. Its dependencies are those that hold everywhere: wgpu is for the desktop."""
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        headers = email.message_from_bytes(archive.read(metadata))
    requirements = headers.get_all("Requires-Dist") or []
    return {
        "name": headers["Name"],
        "version": headers["Version"],
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": cache.sha256_of(wheel),
        "package_type": "package",
        "imports": ["onegpu_web"],
        # Names alone: Pyodide looks a dependency up as it stands here, so "numpy>=2.0" is not found.
        "depends": sorted(
            name.group().lower() for text in requirements if ";" not in text and (name := _NAME.match(text.strip()))
        ),
        "unvendored_tests": False,
    }


def write_distribution(folder: Path, wheel: Path) -> None:
    """Fills the folder with the distribution, our wheel and the served lock."""
    source = distribution()
    lock = read_lock(source)
    folder.mkdir(parents=True, exist_ok=True)
    wheels = [lock["packages"][name]["file_name"] for name in KEPT_PACKAGES]
    for name in [file.name for file in PYODIDE_CORE if file.name != _LOCK] + wheels:
        shutil.copyfile(source / name, folder / name)
    shutil.copyfile(wheel, folder / wheel.name)
    (folder / _LOCK).write_text(json.dumps(served_lock(lock, wheel)), encoding="utf-8")
