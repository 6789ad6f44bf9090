"""Sessions made from URLs, as a page's own Python makes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from .browser import Faults, Python

README = Path(__file__).parents[1] / "README.md"
ASK_RESULT = """
session.destroy()
return [list(probabilities.shape), float(probabilities.sum())]
"""

PROGRESS = """
import js, numpy as np
from onegpu_web import InferenceSession

seen = []
url = js.URL.new("/models/blazeface_back.onnx", js.location.href).href
session = await InferenceSession.create(url, progress=lambda *stage: seen.append(stage))
inputs = len(session.get_inputs())
session.destroy()
return [stage for stage in seen if stage[0] == "model"], inputs
"""

REFUSED = """
from onegpu_web import InferenceSession
from onegpu_web.errors import ModelError

try:
    await InferenceSession.create(url)
except ModelError as error:
    return str(error)
"""


@pytest.mark.parametrize("where", ["worker", "page"])
def test_the_readme_example_runs(start_python: Any, where: str) -> None:
    _, example = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    shape, total = start_python(where)(example + ASK_RESULT)
    assert shape == [1, 1000]
    assert total == pytest.approx(1, abs=1e-4)


def test_progress_counts_the_bytes_of_a_url(python: Python) -> None:
    seen, inputs = python(PROGRESS)
    assert inputs == 1
    done = [stage[1] for stage in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1][2] > 600_000


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("/models/none.onnx", "model: /models/none.onnx cannot be fetched: the server answers 404"),
        ("http://localhost:1/a.onnx", "model: http://localhost:1/a.onnx cannot be fetched: "),
        ("/licences.json", "model"),
    ],
)
def test_a_url_without_a_model_is_refused(python: Python, faults: Faults, url: str, message: str) -> None:
    assert (python(REFUSED, url=url) or "").startswith(message)
    for fault in faults.take():  # the browser's own words about the response
        assert "Failed to load resource" in fault
