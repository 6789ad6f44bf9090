"""Where a model's bytes come from: memory, a file or a URL."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from ..errors import ModelError

Source: TypeAlias = "str | Path | bytes | bytearray | memoryview"
Progress: TypeAlias = "Callable[[str, int, int | None], None]"

_CHUNK_BYTES = 1 << 20


async def read_source(source: Source, progress: Progress | None) -> tuple[bytes | memoryview, Path | None]:
    """The bytes of a model and the folder that its external data lies in (None without one).

    Raises: ModelError where the file or URL cannot be read.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return memoryview(source).cast("B").toreadonly(), None
    if isinstance(source, str) and _is_url(source):
        return await _fetch(source, progress), None
    if not isinstance(source, (str, PathLike)):
        raise ModelError(f"model: source must be a path, a URL or bytes, got {type(source).__name__}")
    path = Path(source)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a zero character in the name
        raise ModelError(f"model: {path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if progress is not None:
        progress("model", len(data), len(data))
    return data, path.parent


def _is_url(source: str) -> bool:
    """http and https anywhere; in a browser also what is no file of Pyodide's."""
    if source.startswith(("http://", "https://", "blob:", "data:")):
        return True
    return sys.platform == "emscripten" and not Path(source).exists()


async def _fetch(url: str, progress: Progress | None) -> bytes | memoryview:
    if sys.platform == "emscripten":
        from ..device.browser import fetch_bytes

        return await fetch_bytes(url, progress)
    chunks = []
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            total = int(response.headers.get("Content-Length") or 0) or None
            done = 0
            while chunk := response.read(_CHUNK_BYTES):
                chunks.append(chunk)
                done += len(chunk)
                if progress is not None:
                    progress("model", done, total)
    except (OSError, urllib.error.URLError, ValueError) as error:
        raise ModelError(f"model: {url} cannot be fetched: {error}") from error
    return b"".join(chunks)
