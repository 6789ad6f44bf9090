"""The wheel: pure Python, with shaders, scripts and the page in it, small for pages, rebuilt only when needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import onegpu_web
from onegpu_web.fetch import wheel as wheels

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 400_000  # that a page loads


@pytest.fixture(scope="module")
def wheel() -> Path:
    return wheels.wheel()


def members(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_is_pure(wheel: Path) -> None:
    assert wheel.name == f"onegpu_web-{onegpu_web.__version__}-py3-none-any.whl"
    content = members(wheel)
    (info,) = (text.decode() for name, text in content.items() if name.endswith(".dist-info/WHEEL"))
    assert "Root-Is-Purelib: true" in info
    kinds = {Path(name).suffix for name in content if ".dist-info/" not in name}
    assert kinds <= {".py", ".wgsl", ".js", ".html", ".css", ".svg", ".typed"}


def test_a_page_loads_a_small_wheel_without_what_a_desktop_uses(wheel: Path) -> None:
    page = wheels.page_wheel()
    assert page.name == wheel.name
    assert page.stat().st_size < MOST_BYTES
    whole, content = members(wheel), members(page)
    (record,) = (name for name in content if name.endswith("/RECORD"))
    left_out = set(whole) - set(content)
    assert left_out
    assert all(name.startswith(("onegpu_web/fetch/", "onegpu_web/cli/", "onegpu_web/__main__.py")) for name in left_out)
    listed = {line.split(",")[0] for line in content.pop(record).decode().splitlines()}
    assert listed == {*content, record}
    assert all(whole[name] == text for name, text in content.items())
    assert wheels.page_wheel().stat().st_mtime_ns == page.stat().st_mtime_ns


def test_a_page_s_modules_import_nothing_that_it_lacks(tmp_path: Path) -> None:
    with zipfile.ZipFile(wheels.page_wheel()) as archive:
        archive.extractall(tmp_path)
    code = """
import importlib, pkgutil, onegpu_web
for module in pkgutil.walk_packages(onegpu_web.__path__, "onegpu_web."):
    if module.name != "onegpu_web.demo.job_worker":  # a script of Pyodide's
        importlib.import_module(module.name)
print(onegpu_web.__file__)
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("folder", "pattern"), [("onegpu_web", "*.py"), ("wgsl", "*.wgsl"), ("web", "*.js"), ("demo", "*.js")]
)
def test_the_wheel_holds_every_source(wheel: Path, folder: str, pattern: str) -> None:
    content = members(wheel)
    left_out = {"__pycache__", "testing", "bench.py"}
    sources = [path for path in (ROOT / folder).rglob(pattern) if not left_out & set(path.relative_to(ROOT).parts)]
    assert sources
    inside = "" if folder == "onegpu_web" else "onegpu_web/"
    for path in sources:
        assert content[f"{inside}{path.relative_to(ROOT).as_posix()}"] == path.read_bytes()


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in members(wheel)}
    assert tops == {"onegpu_web", f"onegpu_web-{onegpu_web.__version__}.dist-info"}


def test_wheel_and_testing_archive_are_the_whole_package_and_share_nothing(wheel: Path, tmp_path: Path) -> None:
    inside, beside = set(members(wheel)), set(members(wheels.pack_testing(tmp_path / "testing.zip")))
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "onegpu_web").rglob("*.py")}
    assert not inside & beside
    assert {name for name in inside | beside if name.endswith(".py")} - sources <= {"onegpu_web/demo/job_worker.py"}
    assert sources <= inside | beside


def test_it_is_rebuilt_when_a_source_changes_and_only_then(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for name in ("onegpu_web", "wgsl", "web", "demo"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, checkout / name)
    command = [sys.executable, "-c", "from onegpu_web.fetch.wheel import wheel; print(wheel())"]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}

    def build() -> Path:
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        return Path(done.stdout.strip())

    first = build()
    built_at = first.stat().st_mtime_ns
    assert first.is_relative_to(checkout)
    assert build().stat().st_mtime_ns == built_at
    (checkout / "wgsl" / "fresh.wgsl").write_text("// a new kernel\n")
    second = build()
    assert second.stat().st_mtime_ns > built_at
    assert members(second)["onegpu_web/wgsl/fresh.wgsl"] == b"// a new kernel\n"
    (checkout / "pyproject.toml").write_text("[project]\n")
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "FetchError: wheel: it could not be built" in done.stderr


def test_an_installed_package_packs_itself_into_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(place)]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    command = [sys.executable, "-c", "from onegpu_web.fetch.wheel import wheel; print(wheel())"]
    environment = {**os.environ, "PYTHONPATH": str(place), "ONEGPU_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    packed = Path(done.stdout.strip())
    assert packed.is_relative_to(tmp_path / "cache")
    assert packed.name == wheel.name
    ours, theirs = members(packed), members(wheel)
    (record,) = (name for name in theirs if name.endswith("/RECORD"))
    assert sorted(ours.pop(record).splitlines()) == sorted(theirs.pop(record).splitlines())
    assert ours == theirs
