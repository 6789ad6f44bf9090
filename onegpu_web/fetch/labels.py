"""The thousand ImageNet names as a JSON list, out of a JSON object keyed by class number."""

from __future__ import annotations

import json
from pathlib import Path

from onegpu_web.errors import ModelError

_CLASSES = 1000
# WordNet lists up to seven synonyms, the last often the Latin name; two tell a class apart and fit a bar.
_SYNONYMS = 2


def convert(source: Path) -> bytes:
    """A JSON list of 1000 strings: ``"tabby, tabby cat"`` at 281.

    source: a JSON object ``{"281": "tabby, tabby cat", ...}``.
    """
    names = json.loads(source.read_text(encoding="utf-8"))
    if not isinstance(names, dict) or set(names) != {str(number) for number in range(_CLASSES)}:
        raise ModelError(f"labels: {source.name} must name the classes 0 to {_CLASSES - 1}")
    labels = [", ".join(str(names[str(number)]).split(", ")[:_SYNONYMS]) for number in range(_CLASSES)]
    return json.dumps(labels, ensure_ascii=False, indent=0).encode("utf-8")
