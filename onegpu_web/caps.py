"""What a device can do, as kernels see it: its limits and features. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Limits:
    """WebGPU's limits that matter here, in wgpu-py's snake_case; the defaults are what every browser grants."""

    max_buffer_size: int = 268_435_456
    max_storage_buffer_binding_size: int = 134_217_728
    max_storage_buffers_per_shader_stage: int = 8
    max_uniform_buffer_binding_size: int = 65_536
    min_uniform_buffer_offset_alignment: int = 256
    min_storage_buffer_offset_alignment: int = 256
    max_compute_workgroup_storage_size: int = 16_384
    max_compute_invocations_per_workgroup: int = 256
    max_compute_workgroup_size_x: int = 256
    max_compute_workgroup_size_y: int = 256
    max_compute_workgroup_size_z: int = 64
    max_compute_workgroups_per_dimension: int = 65_535

    @classmethod
    def of(cls, values: Mapping[str, int]) -> Limits:
        """The limits named in `values`; the browser's default for any other."""
        return cls(**{f.name: int(values[f.name]) for f in fields(cls) if f.name in values})


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits and WebGPU feature names (`shader-f16`, `subgroups`, `timestamp-query`, ...) of a device.

    deterministic: on one device (adapter, driver, version of this package) the order of every sum is fixed by the
    problem and whether its weights are constant. False lets parts of a problem, such as the chunks of a batch, be
    cut up as suits the part, which may move last bits.
    """

    limits: Limits = field(default_factory=Limits)
    features: frozenset[str] = frozenset()
    deterministic: bool = True
