"""A reference borrows nothing from what it checks: no import, no method, no property, no default."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_layers import imports

from onegpu_web import windows as subject
from onegpu_web.testing import reference
from onegpu_web.testing.reference.windows import axes_of

FILES = sorted(Path(reference.__file__).parent.glob("*.py"))
OWN = "onegpu_web.testing.reference."


def problem_types(tree: ast.Module) -> dict[str, Any]:
    """The classes that a reference imports to annotate with, by name."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 3:
            module = importlib.import_module(f"onegpu_web.{node.module}")
            found |= {alias.name: getattr(module, alias.name) for alias in node.names}
    return found


def borrowed(tree: ast.Module) -> Iterator[str]:
    """What is read of a problem that is no field of it, as its caller gave it."""
    types = problem_types(tree)
    every = {field.name for kind in types.values() for field in dataclasses.fields(kind)}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        names = {a.arg: ast.unparse(a.annotation) for a in function.args.args if a.annotation is not None}
        for node in ast.walk(function):
            if not isinstance(node, ast.Attribute):
                continue
            of = ast.unparse(node.value)
            kind = types.get(names.get(of, ""))
            fields = {field.name for field in dataclasses.fields(kind)} if kind else every
            if (kind or of == "self.problem") and node.attr not in fields:
                yield f"{function.name}: {of}.{node.attr}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_reference_reads_nothing_but_fields(path: Path) -> None:
    for name in imports(path, at_import=True):
        assert not name.startswith("onegpu_web.") or name.startswith(OWN), f"{path.name} must not import {name}"
    assert not list(borrowed(ast.parse(path.read_text(encoding="utf-8"))))


def test_the_walk_sees_what_is_borrowed() -> None:
    source = (
        "from ...problems.pool import PoolProblem\n"
        "def f(problem: PoolProblem) -> None:\n    problem.pads, problem.windows\n"
        "class C:\n    def g(self) -> None:\n        self.problem.output_shape\n"
    )
    assert list(borrowed(ast.parse(source))) == ["f: problem.windows", "g: self.problem.output_shape"]


@pytest.mark.parametrize("auto_pad", subject.AUTO_PADS)
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_two_ways_to_count_windows_agree(auto_pad: str, ceil_mode: bool) -> None:
    pads = itertools.product(range(3), range(3)) if auto_pad == "NOTSET" else [(0, 0)]
    for begin, end in pads:
        for size, kernel, stride, dilation in itertools.product(range(1, 9), range(1, 5), range(1, 4), range(1, 3)):
            window = subject.Window(kernel, stride, dilation, begin, end).with_auto_pad(auto_pad, size)
            out = window.output_extent(size, ceil_mode=ceil_mode and auto_pad == "NOTSET")
            (axis,) = axes_of(
                (size,), (kernel,), (stride,), (dilation,), (begin, end), auto_pad=auto_pad, ceil_mode=ceil_mode
            )
            assert (max(axis.out, 0), axis.begin, axis.end) == (max(out, 0), window.pad_begin, window.pad_end), (
                size, kernel, stride, dilation, begin, end,
            )  # fmt: skip


def test_defaults_are_onnxs() -> None:
    from onnx.defs import get_schema

    from onegpu_web.testing.reference.elementwise import _DEFAULTS

    names = {"hard_sigmoid": "HardSigmoid", "leaky_relu": "LeakyRelu", "elu": "Elu", "selu": "Selu", "celu": "Celu"}
    for kind, name in (names | {"thresholded_relu": "ThresholdedRelu"}).items():
        attributes = get_schema(name).attributes
        wanted = [attributes[key].default_value.f for key in ("alpha", "beta", "gamma") if key in attributes]
        assert np.array_equal(np.float32(_DEFAULTS[kind][: len(wanted)]), np.float32(wanted)), kind
