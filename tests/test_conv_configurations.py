"""The four ways in which convolutions are to run, each over the whole case tables.

The tables run variants by name, here and in Chromium; what is checked here is that nothing else runs: what a
configuration records for a case is what the table records for one of its variants.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from onegpu_web.caps import Caps
from onegpu_web.dtypes import FLOAT16
from onegpu_web.kernels.conv import ConvKernels
from onegpu_web.kernels.conv.families import ConvFamily
from onegpu_web.problems.conv import Convolution
from onegpu_web.testing.cases import Case, table
from onegpu_web.testing.runner import chosen_variants

OFFERED = frozenset({"shader-f16", "subgroups", "chromium-experimental-subgroup-matrix", "cooperative-matrix"})
TABLE_CAPS = Caps(features=frozenset({"shader-f16"}))
# Without the gathering product windows are written out, for the transposed the columns of a product.
COLUMNS = {"conv": "im2col", "conv_transpose": "gemm_col2im"}
CONFIGURATIONS = ["deterministic", "no matrix hardware, no f16", "not deterministic", "no implicit GEMM"]
TABLES = ("conv", "conv_models", "conv_nonfinite", "conv_transpose")


def kernels_of(configuration: str, family: str) -> ConvKernels:
    return {
        "deterministic": ConvKernels(Caps(features=OFFERED)),
        "no matrix hardware, no f16": ConvKernels(Caps()),
        "not deterministic": ConvKernels(Caps(features=OFFERED), deterministic=False),
        "no implicit GEMM": ConvKernels(Caps(features=OFFERED), variant=COLUMNS[family]),
    }[configuration]


def checked_variants(name: str) -> dict[Convolution, set[str]]:
    """The variants that the table runs each of its problems with."""
    found: dict[Convolution, set[str]] = {}
    for case in table(name).CASES:
        if is_whole(case):
            found.setdefault(case.problem, set()).update(chosen_variants(table(name).FAMILY, case, TABLE_CAPS))
    return found


def is_whole(case: Case) -> bool:
    """Whether the case is about a problem, not about a tile or a fold of the grid."""
    return case.variants is None or not (case.variants == ("plain",) or "@" in case.variants[0])


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("name", TABLES)
def test_a_configuration_runs_what_the_tables_check(name: str, configuration: str) -> None:
    family = table(name).FAMILY
    assert isinstance(family, ConvFamily)
    kernels, compared = kernels_of(configuration, family.name), 0
    for problem, variants in checked_variants(name).items():
        if problem.dtype == FLOAT16 and "shader-f16" not in kernels.caps.features:
            continue
        if name == "conv_models" and (kernels.variant or "") not in variants | {""}:
            continue  # batch 8 has cases of its own for the columns ...
        if variants == {"im2col"} and kernels.variant is None:
            continue  # ... and these are not for the others
        chosen = kernels.describe_variant(problem)
        assert chosen in variants, problem
        checked = family.choose_conv(problem, TABLE_CAPS, chosen).lower(problem, TABLE_CAPS)
        assert kernels.caps.deterministic == (configuration != "not deterministic")
        assert family.choose_conv(problem, kernels.caps, kernels.variant).lower(problem, kernels.caps) == checked
        compared += 1
    assert compared >= len(checked_variants(name)) // 3


def test_the_columns_run_every_layer_at_both_batches() -> None:
    by_variant: dict[str, set[tuple[object, ...]]] = {"im2col": set(), "preferred": set()}
    for case in table("conv_models").CASES:
        if case.problem.dtype == FLOAT16:
            continue
        layer = replace(case.problem, x_shape=(*case.problem.x_shape[:2], *case.problem.w_shape[2:]))
        key = (layer.x_shape[:2], layer.w_shape, layer.strides, layer.pads, layer.group)
        if "im2col" in (case.variants or ()):
            by_variant["im2col"].add(key)
        if case.variants != ("im2col",):
            by_variant["preferred"].add(key)
    assert by_variant["im2col"] == by_variant["preferred"]
