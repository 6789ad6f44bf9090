"""Our own wheel, whole and as pages load it: built from a checkout when its sources changed, packed again elsewhere."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

from onegpu_web.errors import FetchError
from onegpu_web.fetch import cache

_DISTRIBUTION = "onegpu-web"
_SOURCES = ("onegpu_web", "wgsl", "web", "demo", "pyproject.toml", "README.md", "LICENSE")
# What pip adds on installing, and RECORD, which is written anew.
_NOT_PACKED = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
# What only a desktop uses. A page would load 40 KB of it for nothing.
_NOT_IN_PAGES = ("onegpu_web/fetch/", "onegpu_web/cli/", "onegpu_web/__main__.py")
_EPOCH = (2020, 2, 2, 0, 0, 0)


def wheel() -> Path:
    """The wheel of the package that is running.

    In a checkout it is built and kept under build/wheel until a source changes. An installed package is packed into
    a wheel again from its own files, so that `onegpu-web demo` needs no checkout.
    """
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return _built(checkout)
    return pack_installed(cache.root() / "wheel")


def page_wheel() -> Path:
    """The wheel as a page loads it: without the command line and what fetches and serves."""
    whole = wheel()
    target = whole.parent / "page" / whole.name
    if target.is_file() and target.stat().st_mtime_ns >= whole.stat().st_mtime_ns:
        return target
    with zipfile.ZipFile(whole) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        kept = [name for name in archive.namelist() if name != record and not name.startswith(_NOT_IN_PAGES)]
        members = {name: archive.read(name) for name in kept}
    target.parent.mkdir(exist_ok=True)
    _write_wheel(target, members, record)
    return target


def _built(checkout: Path) -> Path:
    folder = checkout / "build" / "wheel"
    stamp, digest = folder / "sources.sha256", sources_digest(checkout)
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) == 1 and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return wheels[0]
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="try-", dir=folder) as staging:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", staging, str(checkout)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            (*_, reason) = ("", *(done.stderr or done.stdout).strip().splitlines())
            raise FetchError(f"wheel: it could not be built (pip install -e '.[dev]' brings the tools): {reason}")
        for old in wheels:
            old.unlink()
        (fresh,) = Path(staging).glob("*.whl")
        target = fresh.replace(folder / fresh.name)
    stamp.write_text(digest, encoding="utf-8")
    return target


def sources_digest(checkout: Path) -> str:
    """A checksum over the names and bytes of everything that goes into the wheel."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        top = checkout / name
        files = sorted(top.rglob("*")) if top.is_dir() else [top]
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                content = path.read_bytes()
                digest.update(f"{path.relative_to(checkout)}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()


def in_checkout() -> bool:
    """Whether the package has what its wheel leaves out."""
    return (Path(__file__).resolve().parents[1] / "bench.py").exists()


def pack_testing(target: Path) -> Path:
    """A zip of what pyproject.toml keeps out of the wheel, to be unpacked into site-packages beside it."""
    package = Path(__file__).resolve().parents[1]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in [package / "bench.py", *sorted((package / "testing").rglob("*.py"))]:
            archive.write(path, path.relative_to(package.parent))
    return target


def pack_installed(folder: Path) -> Path:
    """A wheel made of the installed distribution's own files.

    Raises: FetchError where the distribution is not installed, or a file of it is gone.
    """
    try:
        distribution = metadata.distribution(_DISTRIBUTION)
    except metadata.PackageNotFoundError as error:
        raise FetchError(f"wheel: {_DISTRIBUTION} must be installed: pip install {_DISTRIBUTION}") from error
    members: dict[str, bytes] = {}
    for entry in distribution.files or []:
        # Scripts lie outside site-packages ("../../bin/onegpu-web"); pip makes them from entry_points.txt.
        if ".." in entry.parts or "__pycache__" in entry.parts or entry.name in _NOT_PACKED:
            continue
        try:
            members[entry.as_posix()] = entry.locate().read_bytes()  # type: ignore[attr-defined]
        except OSError as error:
            raise FetchError(f"wheel: {entry} of the installed {_DISTRIBUTION} cannot be read: {error}") from error
    if not members:
        raise FetchError(f"wheel: the installed {_DISTRIBUTION} lists no files; install it anew")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"onegpu_web-{distribution.version}-py3-none-any.whl"
    _write_wheel(target, members, f"onegpu_web-{distribution.version}.dist-info/RECORD")
    return target


def _write_wheel(target: Path, members: dict[str, bytes], record: str) -> None:
    lines = [f"{name},{_record_hash(content)},{len(content)}" for name, content in sorted(members.items())]
    members = {**members, record: "\n".join([*lines, f"{record},,", ""]).encode()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)


def _record_hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
