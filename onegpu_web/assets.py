"""Text files that belong to the package: WGSL sources and the JavaScript of the browser backend."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder `name` (wgsl, web, demo): inside an installed package, beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


@lru_cache(maxsize=256)
def wgsl(name: str) -> str:
    """The text of wgsl/NAME.wgsl."""
    return (folder("wgsl") / f"{name}.wgsl").read_text(encoding="utf-8")


def web(name: str) -> str:
    """The text of web/NAME."""
    return (folder("web") / name).read_text(encoding="utf-8")
