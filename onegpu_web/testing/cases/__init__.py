"""Case tables by family. A table module has FAMILY, CASES, `arrays` and `expected`."""

from __future__ import annotations

import importlib
import pkgutil

from .case import Case, Table

__all__ = ["TABLES", "Case", "Table", "table"]

TABLES = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "case"))


def table(name: str) -> Table:
    """The table module of that name."""
    module: Table = importlib.import_module(f"{__name__}.{name}")
    return module
