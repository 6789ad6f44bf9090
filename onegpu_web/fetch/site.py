"""The page as a folder of static files, and the server that shows it on this machine.

/index.html /demo.css /demo.js ...          demo/
/web/*.js                                   web/
/pyodide/                                   the distribution, its lock naming our wheel
/models/ /pictures/ /licences.json          the cache and the catalog
/testing.zip                                for bench.html, in a checkout: what the wheel leaves out
"""

from __future__ import annotations

import errno
import json
import shutil
import sys
import threading
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from onegpu_web import assets
from onegpu_web.errors import OnegpuError
from onegpu_web.fetch import cache, catalog, pyodide, wheel

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".wgsl": "text/wgsl; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
    ".whl": "application/zip",
    ".zip": "application/zip",
    ".onnx": "application/octet-stream",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".svg": "image/svg+xml",
    "": "application/octet-stream",
}
_HEADERS = {
    # Cross-origin isolated: performance.now() counts in 5 us instead of 100.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    # The browser asks each time whether a file changed, so that a rebuilt wheel is never missed.
    "Cache-Control": "no-cache",
}


def build_site(dest: Path) -> Path:
    """Fills `dest` with everything that the page needs, nothing of it from another origin; returns `dest`.

    Raises: FetchError where a model, a picture or Pyodide is not in the cache.
    """
    dest.mkdir(parents=True, exist_ok=True)
    demo = assets.folder("demo")
    if demo.is_dir():
        shutil.copytree(demo, dest, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    (dest / "web").mkdir(exist_ok=True)
    for script in sorted(assets.folder("web").glob("*.js")):
        shutil.copyfile(script, dest / "web" / script.name)
    for file in catalog.MODELS + catalog.PICTURES:
        (dest / file.folder).mkdir(exist_ok=True)
        shutil.copyfile(cache.path(file.name), dest / file.folder / file.name)
    (dest / "licences.json").write_text(json.dumps(catalog.licences(), indent=1), encoding="utf-8")
    pyodide.write_distribution(dest / "pyodide", wheel.page_wheel())
    if wheel.in_checkout():
        wheel.pack_testing(dest / "testing.zip")  # for bench.html
    return dest


class Server:
    """Serves the folder `root` on 127.0.0.1, in threads of its own; port 0 takes any free port.

    The port is taken at once, requests are answered after `start`. Use it in a `with`, or call `close`.
    """

    def __init__(self, root: Path, port: int) -> None:
        handler = type("Handler", (_Handler,), {"root": root.resolve()})
        try:
            self._server = _HTTPServer(("127.0.0.1", port), handler)
        except OverflowError as error:
            raise OnegpuError(f"demo: port must be 0 to 65535, got {port}") from error
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            why = "is in use by another program" if error.errno == errno.EADDRINUSE else "may not be used by this user"
            raise OnegpuError(f"demo: port {port} {why}; choose another with --port") from error
        self.port: int = self._server.server_address[1]
        self.url = f"http://localhost:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)

    def start(self) -> Server:
        """Begins to answer."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stops answering and frees the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def serve(root: Path, port: int = 8000) -> Server:
    """A started server of the folder: ``with serve(root, 0) as server: open(server.url)``.

    Raises: OnegpuError where the port is in use.
    """
    return Server(root, port).start()


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A browser that closes a page drops its connections; that is no error of ours.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(SimpleHTTPRequestHandler):
    root: Path
    protocol_version = "HTTP/1.1"
    extensions_map = _TYPES

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, directory=str(self.root), **kwargs)

    def translate_path(self, path: str) -> str:
        """The file asked for. The base class keeps `..` inside; this also stops a link that leads outside."""
        inside = Path(super().translate_path(path))
        return str(inside if inside.resolve().is_relative_to(self.root) else self.root / "outside the site")

    def list_directory(self, path: Any) -> None:
        """Folders are not listed."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Requests are not logged; log_error still is."""
