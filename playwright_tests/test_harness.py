"""The harness itself: a fault in a page or a worker fails the test that caused it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .browser import Python, PythonError

FAULTY = Path(__file__).parent / "faulty" / "faulty_pages.py"


def test_every_fault_fails_its_test(site_folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FAULTY)]
    environment = {**os.environ, "ONEGPU_SITE": str(site_folder)}
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=FAULTY.parents[2], timeout=100
    )
    failed = set(re.findall(r"^ERROR \S+::test_fault\[(\w+-\w+)\]", run.stdout, re.M))
    faults = ("wgsl_warning", "uncaptured_error", "console_error", "console_warning", "page_error")
    assert failed == {f"{fault}-{where}" for fault in faults for where in ("page", "worker")}, run.stdout
    assert re.search(r"11 passed, 10 errors", run.stdout), run.stdout


def test_python_errors_fail_with_their_traceback(python: Python) -> None:
    with pytest.raises(PythonError, match="ZeroDivisionError"):
        python("return 1 / zero", zero=0)


def test_arguments_and_results_cross(python: Python) -> None:
    assert python("return [x * 2 for x in numbers]", numbers=[1, 2.5]) == [2, 5.0]
