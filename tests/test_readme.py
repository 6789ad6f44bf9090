"""The README's examples run as they stand; playwright_tests/test_session_source.py runs Pyodide's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.gpu
def test_the_desktop_example_runs() -> None:
    example, _ = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["probabilities"].shape == (1, 1000)
    assert names["probabilities"].sum() == pytest.approx(1, abs=1e-4)
    names["session"].destroy()
