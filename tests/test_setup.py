"""`make setup`'s script: what is there is left alone, what cannot be done is said with the way to get it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """tools/setup.py as a module whose .venv lies in a temporary folder."""
    spec = importlib.util.spec_from_file_location("setup_script", ROOT / "tools" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    return module


def test_nothing_is_installed_where_all_is_there(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "missing_packages", list)
    monkeypatch.setattr(setup, "apt_install", lambda _: pytest.fail("apt was asked"))
    setup.install_system_packages()


@pytest.mark.parametrize(
    ("tools", "user", "reason"),
    [
        ([], 0, "there is no apt-get"),
        (["apt-get"], 1000, "neither root nor is there sudo"),
    ],
)
def test_without_apt_or_root_the_packages_are_named(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tools: list[str], user: int, reason: str
) -> None:
    monkeypatch.setattr(setup.shutil, "which", lambda name: f"/usr/bin/{name}" if name in tools else None)
    monkeypatch.setattr(setup.os, "geteuid", lambda: user)
    with pytest.raises(setup.SetupError, match=f"{reason}: install chromium libvulkan1 .*apt-get install chromium"):
        setup.apt_install(["chromium", "libvulkan1"])


def test_a_failing_apt_is_reported(setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    apt = tmp_path / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$*" in *update*) exit 0;; esac\nexit 100\n')
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(setup.os, "geteuid", lambda: 0)
    with pytest.raises(setup.SetupError, match=r"apt-get install failed .*apt-get install libvulkan1"):
        setup.apt_install(["libvulkan1"])
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0].endswith(" update")
    assert asked[1].endswith(" install -y --no-install-recommends libvulkan1")


@pytest.mark.parametrize("wanted", ["/nowhere/python3", "/bin/true"])
def test_an_interpreter_that_does_not_suit_is_refused(setup: ModuleType, wanted: str) -> None:
    with pytest.raises(setup.SetupError, match=f"{wanted} must be Python 3.11 or newer with its venv module"):
        setup.find_python(wanted)


def fake_python(folder: Path, version: str, *, venv: bool = True) -> None:
    """A script that answers like `pythonX.Y -c ...` for the questions that the set-up asks."""
    script = folder / f"python{version}"
    answer = f'case "$2" in *version_info*) echo {version.replace(".", " ")};; *) exit {0 if venv else 1};; esac'
    script.write_text(f"#!/bin/sh\n{answer}\n")
    script.chmod(0o755)


def test_the_newest_tested_python_that_makes_venvs_is_picked(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on_path, pyenv = tmp_path / "bin", tmp_path / "pyenv" / "versions" / "3.12.4" / "bin"
    on_path.mkdir()
    pyenv.mkdir(parents=True)
    monkeypatch.setenv("PATH", str(on_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    with pytest.raises(setup.SetupError, match=r"an interpreter must be Python 3.11 or newer"):
        setup.find_python("")
    fake_python(on_path, "3.15")
    assert setup.find_python("") == str(on_path / "python3.15")
    fake_python(on_path, "3.11")
    assert setup.find_python("") == str(on_path / "python3.11")
    fake_python(pyenv, "3.12")
    assert setup.find_python("") == str(pyenv / "python3.12")
    fake_python(on_path, "3.13", venv=False)
    assert setup.find_python("") == str(pyenv / "python3.12")


def test_a_missing_npm_is_reported(setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(setup.SetupError, match=r"npm is missing: install Node.js 20"):
        setup.install_prettier()


def test_steps_are_done_again_only_when_their_inputs_change(setup: ModuleType) -> None:
    setup.VENV.mkdir()
    assert not setup.is_done("python", "a")
    setup.mark_done("python", "a")
    assert setup.is_done("python", "a")
    assert not setup.is_done("python", "b")


def test_the_script_runs_on_pythons_too_old_for_the_project() -> None:
    """It must be able to say that the interpreter is too old, so it uses no newer syntax than Python 3.8's."""
    source = (ROOT / "tools" / "setup.py").read_text(encoding="utf-8")
    check = f"import ast; ast.parse({source!r}, feature_version=(3, 8))"
    subprocess.run([sys.executable, "-c", check], check=True)
