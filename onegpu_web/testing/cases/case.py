"""What a case and a table of cases are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...kernels.family import Family

Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class Case:
    """One problem to compute.

    tolerance: the largest scaled error, max|out - ref| / max|ref|; 0 asks for the same bits.
    variants: names to run; None for every variant that supports the problem.
    """

    name: str
    problem: Any
    tolerance: float = 1e-5
    variants: tuple[str, ...] | None = None


class Table(Protocol):
    """What a module of this folder holds."""

    FAMILY: Family[Any]
    CASES: Sequence[Case]

    def arrays(self, problem: Any, rng: np.random.Generator) -> Arrays:
        """Operands read, by role, in the storage layout: flat or shaped, element offsets included."""
        ...

    def expected(self, problem: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
        """Operands written, by role: float64, or the exact dtype where bits must agree."""
        ...
