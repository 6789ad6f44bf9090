"""Fuses steps whose shapes are known: residual, bias, PRelu slope and activation into the step before.

A step is fused into the only maker of a value that nobody else reads, so each fusion saves a
dispatch and a round through memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..problems.activation import IDENTITY, KINDS, Activation
from ..problems.conv import Convolution
from ..problems.elementwise import COMPARISONS, BinaryProblem, UnaryProblem
from ..problems.matmul import MatmulProblem
from .lowering import Alias, Lowered, Name, Step, Value
from .specialise import Program


def fuse(program: Program) -> Program:
    """The same program with fewer steps; values keep their names."""
    state = _State.of(program)
    for index, step in enumerate(program.steps):
        if isinstance(step, Step):
            fusions = (_fuse_residual, _fuse_bias, _fuse_slope, _fuse_activation)
            fused = next((made for fusion in fusions if (made := fusion(state, step)) is not None), None)
            if fused is not None:
                state.put(index, fused)
    return replace(program, steps=tuple(step for step in state.steps if step is not None))


@dataclass(slots=True)
class _State:
    """Steps under change: None where one was fused away; who makes and how often a value is read."""

    steps: list[Lowered | None]
    values: Mapping[Name, Value]
    makers: dict[Name, int]
    reads: Counter[Name]

    @classmethod
    def of(cls, program: Program) -> _State:
        reads: Counter[Name] = Counter([*program.outputs, *(check.value.name for check in program.checks)])
        makers: dict[Name, int] = {}
        for index, step in enumerate(program.steps):
            if isinstance(step, Alias):
                reads[step.source] += 1
            else:
                reads.update(step.reads.values())
                makers.update({value.name: index for value in step.writes.values()})
        return cls(list(program.steps), program.values, makers, reads)

    def sole_maker(self, name: Name) -> Step | None:
        """The step that makes `name`, where the value is read just once."""
        step = self.steps[self.makers[name]] if name in self.makers and self.reads[name] == 1 else None
        return step if isinstance(step, Step) else None

    def put(self, index: int, step: Step) -> None:
        """Put a fused step where the later of its two parts stood."""
        self.steps[index] = step
        self.makers.update({value.name: index for value in step.writes.values()})

    def drop_maker(self, name: Name) -> None:
        self.steps[self.makers.pop(name)] = None


def _open_end(step: Step | None) -> bool:
    """Whether nothing has been fused behind a step's sum yet."""
    problem: Any = None if step is None else step.problem
    if isinstance(problem, BinaryProblem):
        floats = problem.dtype.name.startswith("float")
        return floats and problem.kind not in COMPARISONS and problem.activation == IDENTITY
    if isinstance(problem, Convolution):
        return problem.activation == IDENTITY and not problem.has_slope
    return isinstance(problem, MatmulProblem) and problem.activation == IDENTITY


def _fuse_activation(state: _State, step: Step) -> Step | None:
    problem = step.problem
    if not isinstance(problem, UnaryProblem) or problem.kind not in KINDS:
        return None
    maker = state.sole_maker(step.reads["x"])
    if maker is None or not _open_end(maker):
        return None
    state.drop_maker(step.reads["x"])
    activation = Activation(problem.kind, problem.alpha, problem.beta)
    return replace(maker, problem=replace(maker.problem, activation=activation), writes=step.writes)


def _fuse_residual(state: _State, step: Step) -> Step | None:
    problem = step.problem
    if not isinstance(problem, BinaryProblem) or problem.kind != "add" or problem.a_shape != problem.b_shape:
        return None
    if problem.activation != IDENTITY:
        return None
    for this, other in (("a", "b"), ("b", "a")):
        maker = state.sole_maker(step.reads[this])
        conv = None if maker is None else maker.problem
        if not isinstance(conv, Convolution) or conv.has_residual or not _open_end(maker) or maker is None:
            continue
        if conv.output_shape != problem.output_shape:
            continue
        state.drop_maker(step.reads[this])
        reads = {**maker.reads, "residual": step.reads[other]}
        return replace(maker, problem=replace(conv, has_residual=True), reads=reads, writes=step.writes)
    return None


def _fuse_bias(state: _State, step: Step) -> Step | None:
    """An addend of a matrix product that is a row, or a matrix without batches, becomes its bias."""
    problem = step.problem
    if not isinstance(problem, BinaryProblem) or problem.kind != "add" or problem.activation != IDENTITY:
        return None
    for this, other, shape in (("a", "b", problem.b_shape), ("b", "a", problem.a_shape)):
        maker = state.sole_maker(step.reads[this])
        product = None if maker is None else maker.problem
        if maker is None or not isinstance(product, MatmulProblem) or not _open_end(maker):
            continue
        # A bias with rows of its own keeps the batches of a from becoming rows of one product.
        keeps_batches = math.prod(shape[:-1]) != 1 and math.prod(product.batch) != 1
        if product.bias_shape is not None or keeps_batches or problem.output_shape != product.output_shape:
            continue
        state.drop_maker(step.reads[this])
        reads = {**maker.reads, "bias": step.reads[other]}
        return replace(maker, problem=replace(product, bias_shape=shape, beta=1.0), reads=reads, writes=step.writes)
    return None


def _fuse_slope(state: _State, step: Step) -> Step | None:
    problem = step.problem
    if not isinstance(problem, BinaryProblem) or problem.kind != "prelu":
        return None
    maker = state.sole_maker(step.reads["a"])
    conv = None if maker is None else maker.problem
    if not isinstance(conv, Convolution) or not _open_end(maker) or maker is None:
        return None
    spatial, slope = len(conv.output_shape) - 2, problem.b_shape
    by_channel = len(slope) > spatial and slope[-spatial - 1] == conv.out_channels == math.prod(slope)
    if not by_channel or problem.output_shape != conv.output_shape:
        return None
    state.drop_maker(step.reads["a"])
    reads = {**maker.reads, "slope": step.reads["b"]}
    return replace(maker, problem=replace(conv, has_slope=True), reads=reads, writes=step.writes)
