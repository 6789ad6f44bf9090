"""The site's folder, and the server: right types, isolated from other origins, nothing from outside its folder."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from onegpu_web import assets
from onegpu_web.errors import OnegpuError
from onegpu_web.fetch.site import Server, build_site, serve


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """site/ with a file of each type, and secrets beside it that must never be served."""
    top = tmp_path_factory.mktemp("served")
    root = top / "site"
    (root / "folder").mkdir(parents=True)
    for name in ("a.html", "a.css", "a.js", "a.mjs", "a.wasm", "a.wgsl", "a.whl", "a.onnx", "a.json", "a.py", "a.png"):
        (root / name).write_text("served")
    (root / "folder" / "a.txt").write_text("served")
    (top / "secret.txt").write_text("secret")
    (top / "site-secret").mkdir()
    (top / "site-secret" / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(top / "secret.txt")
    (root / "linked").symlink_to(top / "site-secret")
    return root


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    with serve(root, 0) as server:
        yield server


def get(server: Server, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """Asks for the path exactly as it is written, which a URL library would tidy."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.putrequest(method, path)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.html", "text/html; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.mjs", "text/javascript; charset=utf-8"),
        ("a.wasm", "application/wasm"),
        ("a.wgsl", "text/wgsl; charset=utf-8"),
        ("a.whl", "application/zip"),
        ("a.onnx", "application/octet-stream"),
        ("a.json", "application/json"),
        ("a.py", "text/x-python; charset=utf-8"),
        ("a.png", "image/png"),
    ],
)
def test_files_come_with_their_type_and_isolated(server: Server, name: str, kind: str) -> None:
    status, headers, body = get(server, f"/{name}?version=1")
    assert (status, headers["content-type"], body) == (200, kind, b"served")
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-embedder-policy"] == "require-corp"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/folder/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/%2e%2e%2fsecret.txt",
        "/..%2f..%2fsecret.txt",
        "/folder/..%5c..%5csecret.txt",
        "//../secret.txt",
        "/../site-secret/secret.txt",
        "/link.txt",
        "/linked/secret.txt",
        "/linked/",
    ],
)
def test_nothing_outside_the_folder_is_served(server: Server, path: str) -> None:
    status, _, body = get(server, path)
    assert status == 404
    assert b"secret\n" not in body + b"\n"


def test_folders_are_not_listed(server: Server) -> None:
    status, _, body = get(server, "/folder/")
    assert status == 404
    assert b"a.txt" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_written(server: Server, method: str) -> None:
    assert get(server, "/a.html", method)[0] == 501


def test_only_this_machine_can_connect(server: Server) -> None:
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", server.port), timeout=2):
        pass


def test_a_dropped_connection_leaves_no_trace(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET /a.html HTTP/1.1\r\n")
        # SO_LINGER of 0 makes close() a reset, as a browser's closed tab does.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert get(server, "/a.html")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_a_port_in_use_is_named_with_the_way_out(root: Path, server: Server) -> None:
    with pytest.raises(OnegpuError, match=f"port {server.port} is in use by another program; choose"):
        Server(root, server.port)
    with pytest.raises(OnegpuError, match="port must be 0 to 65535, got 70000"):
        Server(root, 70000)


def test_a_closed_server_frees_its_port(root: Path) -> None:
    with serve(root, 0) as first:
        port = first.port
    with serve(root, port) as second:
        assert get(second, "/a.html")[0] == 200


def test_the_site_holds_the_page_and_everything_it_loads(tmp_path: Path) -> None:
    site = build_site(tmp_path / "site")
    for folder, inside in (("demo", site), ("web", site / "web")):
        for source in assets.folder(folder).glob("*.js"):
            assert (inside / source.name).read_bytes() == source.read_bytes()
    assert (site / "pyodide" / "pyodide.mjs").is_file()
    for licence in json.loads((site / "licences.json").read_text(encoding="utf-8")):
        if licence["kind"] != "pyodide":
            folder = "pictures" if licence["kind"] == "picture" else "models"
            assert (site / folder / licence["name"]).is_file()
    labels = json.loads((site / "models" / "imagenet_labels.json").read_text(encoding="utf-8"))
    assert len(labels) == 1000
    assert not list(site.rglob("__pycache__"))
    assert build_site(site) == site  # a second build over the first
