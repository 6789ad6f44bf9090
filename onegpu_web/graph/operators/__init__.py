"""ONNX operators as steps of kernel families: HANDLERS by operator name, gathered from this folder."""

from __future__ import annotations

import importlib
import pkgutil

from ..lowering import Handler

HANDLERS: dict[str, Handler] = {}
for _module in pkgutil.iter_modules(__path__):
    HANDLERS.update(importlib.import_module(f"{__name__}.{_module.name}").HANDLERS)
