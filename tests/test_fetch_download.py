"""The cache and its downloads: what is wrong is refused and never stored, what is right is fetched once."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import socket
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from onegpu_web import fetch
from onegpu_web.errors import FetchError
from onegpu_web.fetch import cache, catalog, download
from onegpu_web.fetch.catalog import File, Package
from onegpu_web.fetch.obtain import obtain
from onegpu_web.fetch.progress import Progress
from onegpu_web.fetch.site import serve

CONTENT = b"weights " * 1000
QUIET = Progress(None)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ONEGPU_CACHE", str(folder))
    return folder


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def tgz(member: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        entry = tarfile.TarInfo(member)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture
def npm_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> File:
    """A file of an npm package, and an `npm` on the PATH that packs it and counts its calls in calls.txt."""
    archive = tgz("package/model.onnx", CONTENT)
    (tmp_path / "archive.tgz").write_bytes(archive)
    script = f"""#!{sys.executable}
import pathlib, shutil, sys
here = pathlib.Path({str(tmp_path)!r})
with (here / "calls.txt").open("a") as calls:
    print(*sys.argv[1:], file=calls)
destination = pathlib.Path(sys.argv[sys.argv.index("--pack-destination") + 1])
shutil.copyfile(here / "archive.tgz", destination / "some-model-1.0.0.tgz")
"""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(script)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=os.pathsep)
    package = Package("npm", "some-model", "1.0.0", "MIT", len(archive), sha256(archive))
    return File("model.onnx", "model", package, "package/model.onnx", len(CONTENT), sha256(CONTENT), "MIT", "nobody")


def calls(tmp_path: Path) -> int:
    return len((tmp_path / "calls.txt").read_text().splitlines())


def stored(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_right_archive_is_stored_once_and_kept(tmp_path: Path, own_cache: Path, npm_file: File) -> None:
    assert obtain([npm_file], QUIET) == 1
    assert cache.location(npm_file).read_bytes() == CONTENT
    assert stored(own_cache) == ["checked.json", "model.onnx"]
    assert obtain([npm_file], QUIET) == 0
    assert obtain([npm_file], QUIET, thorough=True) == 0
    assert calls(tmp_path) == 1


def test_a_corrupted_archive_is_refused_and_nothing_is_stored(tmp_path: Path, own_cache: Path, npm_file: File) -> None:
    archive = bytearray((tmp_path / "archive.tgz").read_bytes())
    archive[len(archive) // 2] ^= 1
    (tmp_path / "archive.tgz").write_bytes(archive)
    with pytest.raises(FetchError, match=r"must have sha256 .* it was refused"):
        obtain([npm_file], QUIET)
    assert stored(own_cache) == []


def test_a_member_with_other_bytes_is_refused(own_cache: Path, npm_file: File) -> None:
    other = dataclasses.replace(npm_file, member_sha256=sha256(b"something else"))
    with pytest.raises(FetchError, match=r"package/model.onnx of npm some-model 1.0.0 must have"):
        obtain([other], QUIET)
    assert "model.onnx" not in stored(own_cache)


def test_a_member_that_is_not_there_is_an_error(npm_file: File) -> None:
    with pytest.raises(FetchError, match="must hold package/none"):
        obtain([dataclasses.replace(npm_file, member="package/none")], QUIET)


def test_an_archive_left_by_an_interrupted_fetch_is_used(tmp_path: Path, npm_file: File) -> None:
    download.fetch_archive(npm_file.package, QUIET)
    assert obtain([npm_file], QUIET) == 1
    assert calls(tmp_path) == 1


def test_a_cached_file_that_changed_is_fetched_again(tmp_path: Path, npm_file: File) -> None:
    obtain([npm_file], QUIET)
    where = cache.location(npm_file)
    changed = b"X" + CONTENT[1:]
    where.write_bytes(changed)
    assert "has sha256" in str(cache.fault(npm_file))
    where.write_bytes(CONTENT[:-1])
    assert cache.fault(npm_file) == f"has {len(CONTENT) - 1} bytes, not {len(CONTENT)}"
    assert obtain([npm_file], QUIET) == 1
    assert where.read_bytes() == CONTENT
    assert calls(tmp_path) == 2


def test_verify_finds_a_change_that_kept_size_and_time(npm_file: File) -> None:
    obtain([npm_file], QUIET)
    where = cache.location(npm_file)
    time_ns = where.stat().st_mtime_ns
    where.write_bytes(b"X" + CONTENT[1:])
    os.utime(where, ns=(time_ns, time_ns))
    assert cache.fault(npm_file) is None
    assert "has sha256" in str(cache.fault(npm_file, thorough=True))


def test_a_damaged_record_costs_only_a_hash(own_cache: Path, npm_file: File) -> None:
    obtain([npm_file], QUIET)
    (own_cache / "checked.json").write_text("[not json")
    assert cache.fault(npm_file) is None
    assert json.loads((own_cache / "checked.json").read_text())["models/model.onnx"][0] == npm_file.sha256


def test_without_npm_the_message_says_what_to_install(
    npm_file: File, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(FetchError, match=r"npm must be on the PATH for npm some-model 1.0.0: install Node.js"):
        obtain([npm_file], QUIET)


def pip_file(links: Path, monkeypatch: pytest.MonkeyPatch) -> File:
    """A file of a wheel that pip finds in a folder, with no index to ask."""
    links.mkdir()
    wheel = links / "some_pictures-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some_pictures/cat.png", CONTENT)
        info = "some_pictures-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: some-pictures\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    package = Package("pypi", "some-pictures", "1.0", "CC0-1.0", wheel.stat().st_size, cache.sha256_of(wheel))
    member = "some_pictures/cat.png"
    return File("cat.png", "picture", package, member, len(CONTENT), sha256(CONTENT), "CC0-1.0", "nobody")


def test_pip_fetches_a_picture_out_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = pip_file(tmp_path / "links", monkeypatch)
    assert obtain([file], QUIET) == 1
    assert cache.location(file).read_bytes() == CONTENT


def test_a_failing_client_is_reported_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = pip_file(tmp_path / "links", monkeypatch)
    missing = dataclasses.replace(file, package=dataclasses.replace(file.package, version="9.9"))
    with pytest.raises(FetchError, match=r"is the network there.*ERROR: .*some-pictures==9.9"):
        obtain([missing], QUIET)


WHEEL = catalog.PYODIDE_WHEELS[2]


def test_the_cdn_gives_a_wheel_only_with_the_right_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = dataclasses.replace(WHEEL, member_bytes=len(CONTENT), member_sha256=sha256(CONTENT))
    site = tmp_path / "cdn"
    site.mkdir()
    with serve(site, 0) as server:
        monkeypatch.setattr(download, "PYODIDE_CDN", server.url)
        assert download.fetch_from_cdn(file, QUIET) is None  # 404
        (site / file.name).write_bytes(CONTENT)
        assert download.fetch_from_cdn(file, QUIET) == CONTENT
        for wrong in (b"X" + CONTENT[1:], CONTENT + b"X", CONTENT[:-1]):
            (site / file.name).write_bytes(wrong)
            assert download.fetch_from_cdn(file, QUIET) is None


def test_a_cdn_that_never_answers_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_CDN_ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(download, "PYODIDE_CDN", f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert download.fetch_from_cdn(WHEEL, QUIET) is None


def test_progress_is_plain_in_a_log_and_a_bar_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, has_bar in ((io.StringIO(), False), (Terminal(), True)):
        with Progress(stream).task("npm some-model 1.0.0", 4_000_000) as task:
            task.update(1_000_000)
        assert ("·" in stream.getvalue()) is has_bar
        assert ("\r" in stream.getvalue()) is has_bar
        assert "npm some-model 1.0.0" in stream.getvalue().splitlines()[-1]
        assert "4.00 MB" in stream.getvalue()


def test_path_names_the_command_for_a_missing_file() -> None:
    with pytest.raises(FetchError, match=r"coffee.png is missing; run `onegpu-web fetch`"):
        fetch.path("coffee.png")
    with pytest.raises(FetchError, match=r"name must be one of .*coffee.png.*, got 'tea.png'"):
        fetch.path("tea.png")


def test_the_catalog_is_complete_and_unambiguous() -> None:
    assert len(catalog.BY_NAME) == len(catalog.FILES)
    for file in catalog.FILES:
        for checksum in (file.sha256, file.member_sha256, file.package.sha256):
            assert len(checksum) == 64
            assert int(checksum, 16) > 0
        assert file.bytes > 0
        assert file.licence
        assert file.credit
    shown = {entry["name"] for entry in catalog.licences()}
    assert {file.name for file in catalog.MODELS + catalog.PICTURES} < shown
    assert {"Pyodide 314.0.4", "numpy 2.4.3"} < shown
