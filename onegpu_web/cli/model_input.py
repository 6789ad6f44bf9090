"""A picture as the input of a model that nothing is known about but the shape it declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..jobs.picture import Picture
from ..jobs.resample import resample

# Networks halve their input up to five times.
_MULTIPLE = 32
_LONGEST_SIDE = 1024
_DTYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
# Rec. 601, as Pillow's "L" mode has it.
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


class Port(Protocol):
    """An input as a session describes it."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> Sequence[int | str | None]: ...
    @property
    def type(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Preparation:
    """How pixels become numbers: (x - mean) / std with one value or one for each channel, x in 0..255.

    size: (height, width) where the model leaves it open, None for the picture's own in steps of 32 pixels.
    """

    size: tuple[int, int] | None = None
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (255.0,)


def model_input(picture: Picture, ports: Sequence[Port], preparation: Preparation) -> NDArray[Any]:
    """Resize a picture to a model's only input and normalise it: (1, C, H, W) or (1, H, W, C), C 3 (RGB) or 1 (gray).

    Raises: ModelError: not exactly one 4-D float input for one picture of one or three channels.
    """
    if len(ports) != 1:
        raise ModelError(f"run: the model must have one input, got {len(ports)}")
    port = ports[0]
    if len(port.shape) != 4 or port.type not in _DTYPES:
        raise ModelError(f"run: input {port.name} must be a 4-D float tensor, got {port.type} {list(port.shape)}")
    if isinstance(port.shape[0], int) and port.shape[0] != 1:
        raise ModelError(f"run: input {port.name} must take a batch of 1, got {port.shape[0]}")
    channel_axis = _channel_axis(port)
    channels = port.shape[channel_axis]
    height, width = _input_size(
        picture, [dim for axis, dim in enumerate(port.shape[1:], 1) if axis != channel_axis], preparation
    )
    pixels = resample(picture, height, width)
    if channels == 1:
        pixels = (pixels @ _LUMA)[:, :, None]
    # A value for each of three channels means nothing to a gray input but their mean.
    mean, std = (np.mean(value) if channels == 1 else np.array(value) for value in (preparation.mean, preparation.std))
    normal = ((pixels - mean) / std)[None]
    return np.ascontiguousarray(normal if channel_axis == 3 else normal.transpose(0, 3, 1, 2), _DTYPES[port.type])


def _channel_axis(port: Port) -> int:
    """1 for NCHW, 3 for NHWC; NCHW where both would do."""
    for axis in (1, 3):
        if port.shape[axis] in (1, 3):
            return axis
    raise ModelError(f"run: input {port.name} must have 1 or 3 channels first or last, got {list(port.shape)}")


def _input_size(picture: Picture, declared: Sequence[int | str | None], preparation: Preparation) -> tuple[int, int]:
    """Height and width: the model's, else those asked for, else the picture's rounded to a multiple of 32."""
    scale = min(1.0, _LONGEST_SIDE / max(picture.shape[:2]))
    own = [max(_MULTIPLE, round(side * scale / _MULTIPLE) * _MULTIPLE) for side in picture.shape[:2]]
    asked = preparation.size or own
    height, width = (dim if isinstance(dim, int) else other for dim, other in zip(declared, asked, strict=True))
    return height, width
