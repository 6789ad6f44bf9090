"""What convolution variants add to a family's: when they are preferred, and scratch by whole images."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...caps import Caps
from ...errors import KernelShapeError
from ...plan import Launch
from ...problems.conv import Convolution
from ..family import Lowering
from .parameters import C, half_reason

_MOST_ELEMENTS = 2**31 - 1  # kernels index with 32-bit integers
OWN_SCRATCH_BYTES = 64 << 20  # the most that a plan takes for itself; beyond it the batch runs in chunks


@dataclass(frozen=True, slots=True)
class ConvVariant:
    """One algorithm. Scratch counts float32 elements."""

    name: str

    def supports(self, problem: Convolution, caps: Caps, /) -> str | None:
        """None, or the reason why not."""
        need, limits = self.image_scratch(problem, caps), caps.limits
        most = min(_MOST_ELEMENTS, limits.max_storage_buffer_binding_size // 4, limits.max_buffer_size // 4)
        if need > most:
            return f"the scratch of one image must be at most {most:,} float32 elements, got {need:,}"
        return half_reason(problem, caps)

    def suits(self, problem: Convolution, /) -> bool:
        """Whether it is preferred over the variants behind it. The problem's sizes alone decide."""
        return True

    def image_scratch(self, problem: Convolution, caps: Caps, /) -> int:
        """Scratch elements for one image of the batch."""
        return 0

    def launches(self, problem: Convolution, whole: Convolution, caps: Caps, scratch_offset: int, /) -> list[Launch]:
        """The launches for `problem`, some images of `whole`, which decides the order of sums.

        Only where caps.deterministic is False may the part choose for itself.
        """
        raise NotImplementedError

    def setup(self, problem: Convolution, caps: Caps, /) -> Launch | None:
        """A launch when the plan is loaded, which writes `laid_out` (constant weights, as large as w)."""
        return None

    def lower(self, problem: Convolution, caps: Caps, /) -> Lowering:
        """The launches with scratch of the plan's own."""
        one = self.image_scratch(problem, caps)
        count = min(problem.x_shape[0], max(1, OWN_SCRATCH_BYTES // max(1, 4 * one)))
        return self.lower_within(problem, caps, one * count, 0)

    def lower_within(self, problem: Convolution, caps: Caps, elements: int, scratch_offset: int) -> Lowering:
        """The launches with `elements` of scratch at an offset, in chunks of as many whole images as fit.

        Raises: KernelShapeError where one image needs more.
        """
        one, images = self.image_scratch(problem, caps), problem.x_shape[0]
        if elements < one:
            raise KernelShapeError(
                f"{problem.op}: scratch must hold at least {one:,} elements (one image, variant {self.name}), "
                f"got {elements:,}"
            )
        step = images if one == 0 else min(images, min(elements, _MOST_ELEMENTS - scratch_offset) // one)
        made: list[Launch] = []
        for first in range(0, images, step):
            part = some_images(problem, first, min(step, images - first))
            made += self.launches(part, problem, caps, scratch_offset)
        scratch_bytes = 4 * (scratch_offset + one * step) if one else 0
        laid_out_bytes = math.prod(problem.w_shape) * problem.dtype.size_bytes
        return Lowering(tuple(made), scratch_bytes, setup=self.setup(problem, caps), laid_out_bytes=laid_out_bytes)


def some_images(problem: C, first: int, count: int) -> C:
    """`count` images of the batch from `first` on, as a problem of their own over the same buffers."""
    y_image = math.prod(problem.output_shape[1:])
    return replace(
        problem,
        x_shape=(count, *problem.x_shape[1:]),
        x_offset=problem.x_offset + first * math.prod(problem.x_shape[1:]),
        residual_offset=problem.residual_offset + first * y_image * problem.has_residual,
        y_offset=problem.y_offset + first * y_image,
    )
