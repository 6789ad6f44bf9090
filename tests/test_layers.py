"""Who may import whom: docs/architecture.md draws the layers, this test holds them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import onegpu_web

PACKAGE = Path(onegpu_web.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# A module may import from the layers that its own names, and from its own. Parts are modules or folders.
LAYERS = {
    "base": {"errors", "dtypes", "windows", "assets", "caps"},
    "problems": {"problems"},
    "plans": {"shader", "plan"},
    "kernels": {"kernels"},
    "devices": {"device"},
    "graphs": {"ops", "graph"},
}
BELOW = {
    "base": set(),
    "problems": {"base"},
    "plans": {"base"},
    "kernels": {"base", "problems", "plans"},
    "devices": {"base", "plans"},
    "graphs": {"base", "problems", "plans", "kernels", "devices"},
}
ONLY_IN = {"js": "device/browser.py", "pyodide": "device/browser.py", "wgpu": "device/native.py"}
# What Pyodide lacks, or has only when it is loaded by name; imported where it is used.
NOT_AT_IMPORT = {"PIL", "onnx", "onnxruntime", "platformdirs", "subprocess", "torch"}


def imports(path: Path, at_import: bool = False) -> Iterator[str]:
    """The absolute names of the modules that `path` imports.

    at_import: only when it is imported itself, so neither in functions nor for type checkers.
    """
    package = ("onegpu_web", *path.relative_to(PACKAGE).parent.parts)
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")), everywhere=not at_import):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            base = ".".join(part for part in (start, node.module) if part)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _statements(node: ast.AST, everywhere: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if everywhere or not (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or _for_types(child)):
            yield from _statements(child, everywhere)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def layer(part: str) -> str | None:
    """The layer of a module or folder of the package; None for those on top."""
    return next((name for name, parts in LAYERS.items() if part in parts), None)


def part_of(path: Path) -> str:
    """The module or folder right under the package that `path` is or lies in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_downwards(path: Path) -> None:
    own = layer(part_of(path))
    for name in imports(path):
        top, _, rest = name.partition(".")
        part = rest.partition(".")[0]
        if own is not None and top == "onegpu_web":
            assert layer(part) in BELOW[own] | {own}, f"{own} must not import {name}"
        if own not in (None, "graphs"):
            assert top != "numpy", f"{own} must not import numpy"
        if own in ("base", "problems", "plans", "kernels") and top != "onegpu_web":
            assert top in sys.stdlib_module_names, f"{own} must import the standard library only, not {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_platforms_are_imported_in_one_place_and_inside_functions(path: Path) -> None:
    where = path.relative_to(PACKAGE).as_posix()
    for name in imports(path):
        home = ONLY_IN.get(name.partition(".")[0])
        assert home is None or where == home, f"{name} must be imported in {home} only"
    for name in imports(path, at_import=True):
        top = name.partition(".")[0]
        assert top not in ONLY_IN, f"{name} must be imported inside a function"
        if part_of(path) != "fetch":
            assert top not in NOT_AT_IMPORT, f"{name} must be imported inside a function"


def test_the_walk_sees_imports_of_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "kernels" / "odd.py"
    source.parent.mkdir()
    source.write_text(
        "import wgpu.utils\nfrom .. import device\nfrom ..device import native\nfrom . import family\n"
        "class C:\n    from onegpu_web.ops import conv\n    def f(self):\n        if True:\n            import js\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    at_import = ["wgpu.utils", "onegpu_web.device", "onegpu_web.device.native", "onegpu_web.kernels.family"]
    at_import.append("onegpu_web.ops.conv")
    assert list(imports(source, at_import=True)) == at_import
    assert list(imports(source)) == [*at_import, "js"]


def test_the_package_imports_without_what_pyodide_lacks() -> None:
    code = """
import importlib, pkgutil, sys
for name in ("wgpu", "js", "pyodide", "PIL", "onnx", "onnxruntime", "platformdirs"):
    sys.modules[name] = None
import onegpu_web
for module in pkgutil.walk_packages(onegpu_web.__path__, "onegpu_web."):
    importlib.import_module(module.name)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=PACKAGE.parent)
    assert run.returncode == 0, run.stderr
