"""Grids folded over y, on devices that pretend to allow only a few workgroups along one axis.

A real fold needs more than 65,535 workgroups, which takes long on a software adapter; the arithmetic is the same.
"""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from onegpu_web.device import Device
from onegpu_web.testing.cases import table
from onegpu_web.testing.runner import run_table


@pytest.mark.parametrize(
    ("name", "case", "variant", "limit"),
    [
        ("unary", "odd_size_offsets", "plain", 2),
        ("binary", "per_channel", "plain", 2),
        ("copy", "many_workgroups", "plain", 17),
        ("copy", "nhwc_to_nchw", "tiled", 3),
        ("reduce", "many_rows", "plain", 4),
        ("reduce", "many_rows", "tree", 27),
        ("reduce", "two_launches", "tree", 3),
        ("softmax", "characters", "rows", 6),
        ("normalization", "instance", "rows", 4),
        ("matmul", "batches", "plain", 4),
        ("matmul", "batches", "tiled", 4),
        ("matmul", "vector_matrix", "skinny", 3),
        ("conv", "depthwise_dilated_2", "depthwise", 4),
        ("conv", "stride_1_dilation_1_pads_asymmetric", "dot", 17),
        ("conv", "depthwise_dilated_2", "direct", 4),
        ("conv", "long_windows", "split_k", 11),
        ("conv", "whole_tiles", "pointwise", 3),
        ("conv", "depthwise_dilated_2", "implicit_gemm", 4),
        ("conv", "constant_w", "implicit_gemm", 11),
        ("conv", "stride_1_dilation_1_pads_asymmetric", "im2col", 11),
        ("conv", "long_windows", "plain", 11),
        ("conv_transpose", "kernel_is_stride_wide", "transpose_pointwise", 6),
        ("conv_transpose", "long_sums", "gemm_col2im", 7),
        ("conv_transpose", "long_sums", "plain", 7),
        ("pool", "max_3x3_stride_2", "plain", 4),
        ("pool_global", "average_7x7", "tree", 5),
        ("pool_global", "max_cut_plane", "tree", 5),
        ("resize", "nearest_twice", "upscale", 9),
        ("resize", "nearest_twice", "planes", 11),
        ("resize", "nearest_five_axes", "plain", 5),
        ("resize", "linear_twice", "planes", 7),
        ("resize", "linear_twice", "plain", 9),
        ("grid_sample", "many_channels", "channels", 3),
        ("grid_sample", "many_channels", "plain", 6),
        ("col2im", "overlap", "plain", 3),
        ("max_unpool", "twice", "plain", 3),
        ("pad", "six_axes", "plain", 2),
    ],
)
def test_a_folded_grid_gives_the_same(
    device: Device, monkeypatch: pytest.MonkeyPatch, name: str, case: str, variant: str, limit: int
) -> None:
    limits = dataclasses.replace(device.caps.limits, max_compute_workgroups_per_dimension=limit)
    monkeypatch.setattr(device, "caps", dataclasses.replace(device.caps, limits=limits))
    problem = next(c.problem for c in table(name).CASES if c.name == case)
    lowering = table(name).FAMILY.choose(problem, device.caps, variant).lower(problem, device.caps)
    launches = (*lowering.launches, *([lowering.setup] if lowering.setup else []))
    assert any(launch.workgroups[1] > 1 for launch in launches)
    rows = asyncio.run(run_table(device, name, names=[case], variants=[variant]))
    assert [row["message"] for row in rows] == [""]
