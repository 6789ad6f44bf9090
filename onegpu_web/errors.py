"""Every error that the package raises on purpose.

A message says what was asked, what the rule is and what came:
``conv: pads must be 4 non-negative integers, got (1, 1)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class OnegpuError(Exception):
    """Base of all errors of this package."""


class KernelShapeError(OnegpuError, ValueError):
    """A kernel was asked for shapes, attributes or buffers that break its rules. Nothing was recorded."""


class UnsupportedError(OnegpuError):
    """A model needs operators, attributes or types that are not there.

    missing: every one of them, so that one attempt shows the whole gap.
    """

    def __init__(self, what: str, missing: Iterable[str] = ()) -> None:
        self.missing = tuple(missing)
        super().__init__(what + "".join(f"\n  - {item}" for item in self.missing))


class ShaderError(OnegpuError):
    """A WGSL text did not compile; the message carries the compiler's words and the numbered text."""

    def __init__(self, label: str, message: str, text: str) -> None:
        self.label, self.text = label, text
        numbered = "\n".join(f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), 1))
        super().__init__(f"{label}: {message}\n{numbered}")


class DeviceError(OnegpuError):
    """The GPU, its driver or the browser refused something, or there is no GPU to be had."""


class DeviceLostError(DeviceError):
    """The device is gone (reset, driver crash, destroyed); request a new one."""


class OutOfHostMemoryError(OnegpuError, MemoryError):
    """Arrays of Python's found no place, in a browser in the 4 GiB of wasm memory. What was there before is intact."""


@contextmanager
def host_memory(what: str) -> Iterator[None]:
    """Raise MemoryError as OutOfHostMemoryError."""
    try:
        yield
    except OutOfHostMemoryError:
        raise
    except MemoryError as error:
        raise OutOfHostMemoryError(
            f"{what}: Python's memory must have room for the arrays, got {error or 'no more'}; drop arrays or feed less"
        ) from error


class ModelError(OnegpuError, ValueError):
    """An ONNX file is malformed: truncated, cyclic, dangling, or at odds with itself."""


class FeedError(OnegpuError, ValueError):
    """An array fed to a session has a wrong name, dtype or shape."""


class PictureError(OnegpuError, ValueError):
    """A picture cannot be read, or is not an (H, W, 3) uint8 array of a size that makes sense."""


class FetchError(OnegpuError):
    """A model, picture or Pyodide file is missing, could not be fetched or has a wrong checksum."""
