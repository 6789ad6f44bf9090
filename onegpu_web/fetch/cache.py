"""The cache outside the checkout: where each file lies, and whether what lies there is right.

A file is hashed in full once. After that its checksum, size and time of change are remembered beside it, so that a
start costs one stat for each file; `thorough` hashes again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from onegpu_web.errors import FetchError
from onegpu_web.fetch import catalog

_RECORD = "checked.json"
_MEND = "run `onegpu-web fetch` (in a checkout: `make setup`)"


def root() -> Path:
    """The cache folder: $ONEGPU_CACHE, or the user's cache folder for onegpu-web."""
    override = os.environ.get("ONEGPU_CACHE")
    if override:
        return Path(override).expanduser().resolve()
    try:
        from platformdirs import user_cache_dir
    except ImportError as error:
        raise FetchError(
            "fetch: platformdirs must be installed: pip install 'onegpu-web[demo]', or set ONEGPU_CACHE to a folder"
        ) from error
    return Path(user_cache_dir("onegpu-web", appauthor=False))


def location(file: catalog.File) -> Path:
    """Where the file lies or will lie."""
    return root() / file.folder / file.name


def path(name: str) -> Path:
    """The cached file of that name in the catalog, checked.

    Raises: FetchError for an unknown name, a file that is not there or one that is damaged; it says what to run.
    """
    file = catalog.BY_NAME.get(name)
    if file is None:
        raise FetchError(f"fetch: the name must be one of {', '.join(catalog.BY_NAME)}, got {name!r}")
    reason = fault(file)
    if reason:
        raise FetchError(f"fetch: {name} {reason}; {_MEND}")
    return location(file)


def fault(file: catalog.File, *, thorough: bool = False) -> str | None:
    """Why the cached file cannot be used ("is missing", "has 3 bytes, not 5"), or None where it can."""
    where = location(file)
    try:
        status = where.stat()
    except OSError:
        return "is missing"
    if status.st_size != file.bytes:
        return f"has {status.st_size} bytes, not {file.bytes}"
    if not thorough and _read_record().get(_key(file)) == _mark(file, status):
        return None
    found = sha256_of(where)
    if found != file.sha256:
        return f"has sha256 {found}, not {file.sha256}"
    _remember(file, status)
    return None


def store(file: catalog.File, content: bytes) -> Path:
    """Puts checked content into the cache in one step, so that no half-written file is ever seen.

    Raises: FetchError where size or checksum is not the catalog's; nothing is written then.
    """
    check(content, file.bytes, file.sha256, file.name)
    where = location(file)
    where.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(where, content)
    _remember(file, where.stat())
    return where


def check(content: bytes, size_bytes: int, sha256: str, what: str) -> None:
    """Raises FetchError unless content has that size and checksum."""
    found = hashlib.sha256(content).hexdigest()
    if len(content) != size_bytes or found != sha256:
        raise FetchError(
            f"fetch: {what} must have {size_bytes} bytes and sha256 {sha256}, got {len(content)} and {found}; "
            "it was refused"
        )


def sha256_of(where: Path) -> str:
    """The file's sha256 in hexadecimal."""
    with where.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_atomically(where: Path, content: bytes) -> None:
    """Writes beside the target and renames, readable for all like an ordinary file."""
    handle, name = tempfile.mkstemp(prefix=f".{where.name}-", dir=where.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(where)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _key(file: catalog.File) -> str:
    return f"{file.folder}/{file.name}"


def _read_record() -> dict[str, list[object]]:
    try:
        record = json.loads((root() / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _mark(file: catalog.File, status: os.stat_result) -> list[object]:
    return [file.sha256, status.st_size, status.st_mtime_ns]


def _remember(file: catalog.File, status: os.stat_result) -> None:
    record = {**_read_record(), _key(file): _mark(file, status)}
    # The record only saves time: in a cache that cannot be written, files are hashed at each use.
    with contextlib.suppress(OSError):
        write_atomically(root() / _RECORD, json.dumps(record, indent=1).encode())
