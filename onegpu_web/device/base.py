"""The device layer's protocol: a Device owns buffers and loads plans; a LoadedPlan replays one.

Two backends speak it: device/browser.py (Pyodide, over web/replay.js) and device/native.py
(wgpu-py). Host data is anything with the buffer protocol, C-contiguous; numpy is not needed here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ..caps import Caps, Limits
from ..dtypes import padded_bytes
from ..errors import DeviceError, FeedError, KernelShapeError
from ..plan import Plan, check_buffer_size

HostArray = Any  # anything with the buffer protocol

# What kernels or timing can use; a device asks for those of them that its adapter has.
WANTED_FEATURES = (
    "shader-f16",
    "subgroups",
    "timestamp-query",
    "chromium-experimental-subgroup-matrix",
)

# wgpu-native offers it where the driver has it, but refuses a device with it: its experimental features cannot be
# enabled from wgpu-py 0.32.
_NOT_TO_BE_HAD = ("cooperative-matrix",)

POWER_PREFERENCES = ("high-performance", "low-power")


WAITING: ContextVar[bool] = ContextVar("WAITING", default=False)
"""Whether the desktop backend must block rather than suspend: set while `device.wait` drives a coroutine."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """Who computes: the adapter in the words of WebGPU's GPUAdapterInfo, and the backend (`browser`, `native`).

    offered: the useful features that the adapter names, whether the device has them or not; some cannot be enabled.
    """

    vendor: str
    architecture: str
    device: str
    description: str
    backend: str
    offered: tuple[str, ...] = ()


class Buffer:
    """A GPU allocation of `size_bytes` (a multiple of 4). `destroy` frees it; so does the garbage collector."""

    __slots__ = ("__weakref__", "device", "handle", "size_bytes")

    def __init__(self, device: Device, handle: Any, size_bytes: int) -> None:
        self.device = device
        self.handle = handle
        self.size_bytes = size_bytes

    def destroy(self) -> None:
        """Free the memory now. Using the buffer afterwards is an error; destroying it again is not."""
        with self.device.lock:
            self._drop()

    def _drop(self) -> None:
        handle, self.handle = self.handle, None
        if handle is not None:
            self.device._free(handle)

    def __del__(self) -> None:
        # Without the lock: the collector runs anywhere, also where another device's lock is held.
        self._drop()


class LoadedPlan(ABC):
    """A plan with its pipelines, bind groups and buffers on a device. `destroy` frees all that it owns."""

    plan: Plan
    gpu_ms: float | None = None
    """GPU time of the last finished run between the pass's two timestamps; None without timestamp-query."""

    @abstractmethod
    async def run(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> None:
        """Upload `inputs` in the plan's order, run, and fill the writable `outputs`.

        One crossing, one submit, one readback (none without outputs, then only queued). Runs may be started
        before earlier ones have finished; each sees its own inputs.
        Raises: FeedError for a wrong number or size of arrays and for arrays that are not C-contiguous or that
        are outputs and read-only, DeviceError, DeviceLostError.
        """

    @abstractmethod
    def run_sync(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> None:
        """The same, waiting. In a browser only where Pyodide can suspend (JSPI), else DeviceError."""

    @abstractmethod
    async def measure(self, repeats: int) -> list[list[float]]:
        """GPU milliseconds of each dispatch, for `repeats` runs in one submit: [run][dispatch].

        Each dispatch is its own pass with two timestamps. Raises: DeviceError without timestamp-query.
        """

    @abstractmethod
    def destroy(self) -> None:
        """Free the plan's buffers; the garbage collector does so too. Running it afterwards is a DeviceError."""

    def __del__(self) -> None:
        self.destroy()

    def check_run(self, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> None:
        """Raise FeedError unless the arrays fit the plan's transfers, DeviceError where a buffer of others is gone.

        Browsers report a destroyed buffer later; wgpu-native aborts the process.
        """
        for slot, external in self.plan.externals.items():
            if isinstance(external, Buffer) and external.handle is None:
                raise DeviceError(f"run: the external buffer in slot {slot} was destroyed")
        for what, arrays, transfers in (
            ("inputs", inputs, self.plan.uploads),
            ("outputs", outputs, self.plan.readbacks),
        ):
            if len(arrays) != len(transfers):
                raise FeedError(f"run: {what} must be {len(transfers)} arrays, got {len(arrays)}")
            for index, (array, transfer) in enumerate(zip(arrays, transfers, strict=True)):
                size_bytes = check_array(f"run: {what}[{index}]", array, writable=what == "outputs")
                if size_bytes != transfer.size_bytes:
                    raise FeedError(f"run: {what}[{index}] must be {transfer.size_bytes} bytes, got {size_bytes}")


class Device(ABC):
    """A WebGPU device. Errors that the GPU reports later are raised by the run awaited then, or by the next call."""

    info: DeviceInfo
    features: frozenset[str]
    limits: Mapping[str, int]
    caps: Caps
    lock: AbstractContextManager[Any] = nullcontext()
    """Held by whoever uses the device; of threads one at a time. A browser's device has one thread."""

    @property
    def messages(self) -> list[str]:
        """Warnings that shader compilers gave so far."""
        return []

    @abstractmethod
    def _create(self, size_bytes: int, label: str) -> Any: ...

    @abstractmethod
    def _free(self, handle: Any) -> None: ...

    @abstractmethod
    def write(self, buffer: Buffer, data: HostArray, offset_bytes: int = 0) -> None:
        """Queue a copy of contiguous host bytes into a buffer; offset a multiple of 4, any byte length.

        Up to 3 bytes behind data whose length is not a multiple of 4 are set to zero.
        """

    @abstractmethod
    async def read(self, buffer: Buffer, out: HostArray, offset_bytes: int = 0) -> None:
        """Fill the writable contiguous `out` from the buffer; offset a multiple of 4, any byte length."""

    @abstractmethod
    def read_sync(self, buffer: Buffer, out: HostArray, offset_bytes: int = 0) -> None:
        """The same, waiting."""

    @abstractmethod
    async def load(self, plan: Plan) -> LoadedPlan:
        """Compile the plan's shaders (each text once per device), make its buffers, run its set-up.

        Raises: ShaderError with the numbered text, DeviceError, DeviceLostError.
        """

    @abstractmethod
    def load_sync(self, plan: Plan) -> LoadedPlan:
        """The same, waiting."""

    @abstractmethod
    def live_buffers(self) -> int:
        """GPU buffers that this device holds now, those of loaded plans and staging included."""

    @abstractmethod
    def destroy(self) -> None:
        """Give the device back; everything on it is gone."""

    def create_buffer(self, size_bytes: int, label: str = "") -> Buffer:
        """A zeroed storage buffer of `size_bytes`, rounded up to a multiple of 4 (at least 16).

        Raises: KernelShapeError beyond the device's limits, DeviceError where memory is out.
        """
        if isinstance(size_bytes, bool) or not isinstance(size_bytes, int) or size_bytes < 0:
            raise KernelShapeError(f"create_buffer: size_bytes must be a non-negative integer, got {size_bytes!r}")
        padded = padded_bytes(size_bytes)
        check_buffer_size(label or "buffer", padded, self.caps.limits)
        return Buffer(self, self._create(padded, label), padded)

    def check_write(self, buffer: Buffer, data: HostArray, offset_bytes: int) -> int:
        """The size of `data`, which may be written to `buffer`. Raises: FeedError, KernelShapeError, DeviceError."""
        size_bytes = check_array("write: data", data)
        self.check_range("write", buffer, size_bytes, offset_bytes)
        return size_bytes

    def check_read(self, buffer: Buffer, out: HostArray, offset_bytes: int) -> int:
        """The size of `out`, which may be read from `buffer`. Raises: FeedError, KernelShapeError, DeviceError."""
        size_bytes = check_array("read: out", out, writable=True)
        self.check_range("read", buffer, size_bytes, offset_bytes)
        return size_bytes

    def external(self, operand: object) -> Buffer:
        """`operand` of a plan as a live Buffer of this device. Raises: DeviceError."""
        if not isinstance(operand, Buffer):
            raise DeviceError(f"load: an external operand must be a Buffer, got {type(operand).__name__}")
        self.check_range("load", operand, 0, 0)
        return operand

    def check_range(self, what: str, buffer: Buffer, size_bytes: int, offset_bytes: int) -> None:
        """Raise unless [offset_bytes, offset_bytes + size_bytes) lies in a live buffer of this device."""
        if not isinstance(buffer, Buffer):
            raise DeviceError(f"{what}: the buffer must be a Buffer, got {type(buffer).__name__}")
        if buffer.device is not self or buffer.handle is None:
            raise DeviceError(f"{what}: the buffer must be a live one of this device")
        if offset_bytes % 4 or offset_bytes < 0 or offset_bytes + size_bytes > buffer.size_bytes:
            raise KernelShapeError(
                f"{what}: the range must start at a multiple of 4 and lie within {buffer.size_bytes} bytes, "
                f"got offset {offset_bytes} and {size_bytes} bytes"
            )


def check_array(what: str, array: HostArray, *, writable: bool = False) -> int:
    """The size in bytes of a host array. Raises: FeedError unless its bytes lie in a row, writable where asked."""
    try:
        view = memoryview(array)
    except TypeError:
        raise FeedError(f"{what} must have the buffer protocol, got {type(array).__name__}") from None
    if not view.c_contiguous:
        raise FeedError(f"{what} must be C-contiguous, got strides {view.strides}")
    if writable and view.readonly:
        raise FeedError(f"{what} must be writable, got a read-only {type(array).__name__}")
    return view.nbytes


def check_power_preference(asked: str) -> None:
    """Raise DeviceError for a word that WebGPU does not know."""
    if asked not in POWER_PREFERENCES:
        raise DeviceError(
            f"request_device: power_preference must be one of {', '.join(POWER_PREFERENCES)}, got {asked!r}"
        )


def offered_features(adapter: frozenset[str]) -> tuple[str, ...]:
    """The features of an adapter that kernels or timing could use, those that cannot be enabled included."""
    return tuple(name for name in WANTED_FEATURES + _NOT_TO_BE_HAD if name in adapter)


def choose_features(asked: Sequence[str] | None, offered: frozenset[str]) -> tuple[str, ...]:
    """The features to require: those asked for, or all wanted ones that the adapter offers.

    Raises: DeviceError for one that was asked for and is not offered.
    """
    if asked is None:
        return tuple(name for name in WANTED_FEATURES if name in offered)
    if isinstance(asked, str) or not isinstance(asked, Iterable):
        raise DeviceError(f"request_device: features must be a list of names or None, got {asked!r}")
    asked = tuple(asked)
    missing = [str(name) for name in asked if name not in offered]
    if missing:
        raise DeviceError(f"request_device: features must be offered by the adapter, got {', '.join(missing)}")
    return asked


def choose_limits(asked: Mapping[str, int] | None, offered: Mapping[str, int]) -> dict[str, int]:
    """The limits to require, in snake_case: the adapter's, or those asked for over the browser's defaults.

    Raises: DeviceError for one that is unknown or beyond the adapter's.
    """
    names = Limits.__dataclass_fields__
    if asked is None:
        return {name: value for name, value in offered.items() if name in names}
    if not isinstance(asked, Mapping):
        raise DeviceError(f"request_device: limits must be a mapping from names to sizes or None, got {asked!r}")
    defaults = Limits()
    chosen = {name: int(getattr(defaults, name)) for name in names}
    for name, value in asked.items():
        if name not in names:
            raise DeviceError(f"request_device: limits must be of {', '.join(names)}, got {name!r}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise DeviceError(f"request_device: {name} must be a positive integer, got {value!r}")
        least = name.startswith("min_")
        if name in offered and (value < offered[name] if least else value > offered[name]):
            bound = "at least" if least else "at most"
            raise DeviceError(f"request_device: {name} must be {bound} the adapter's {offered[name]}, got {value}")
        chosen[name] = value
    return chosen
