"""The package as Pyodide's Python sees it."""

from __future__ import annotations

from .browser import Python


def test_every_module_imports_in_pyodide(python: Python) -> None:
    names = python(
        """
import importlib, pkgutil, onegpu_web
names = [module.name for module in pkgutil.walk_packages(onegpu_web.__path__, "onegpu_web.")]
for name in names:
    importlib.import_module(name)
return names
"""
    )
    assert "onegpu_web.device.native" in names
    assert len(names) > 40


def test_the_wheel_holds_the_shaders_and_the_replayer(python: Python) -> None:
    counts = python(
        """
from onegpu_web import assets
from onegpu_web.testing import shaders
return [len(shaders.names()), len(assets.web("replay.js"))]
"""
    )
    assert counts[0] > 10
    assert counts[1] > 1000
