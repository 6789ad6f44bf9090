"""What a job asks of a session and of the world: onnxruntime's call shape, progress, and time by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..device import Device
from ..graph.source import Progress, Source


class Port(Protocol):
    """An input or output of a model."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> Sequence[int | str | None]: ...


class Session(Protocol):
    """The part of InferenceSession that the jobs use."""

    @property
    def metadata(self) -> Mapping[str, str]: ...
    @property
    def gpu_ms(self) -> float | None: ...
    def get_inputs(self) -> Sequence[Port]: ...
    def get_outputs(self) -> Sequence[Port]: ...
    async def run(
        self, output_names: Sequence[str] | None, feeds: Mapping[str, NDArray[Any]]
    ) -> list[NDArray[Any]]: ...
    def destroy(self) -> None: ...


class Stopwatch:
    """Milliseconds by stage; a stage entered more than once adds up."""

    def __init__(self) -> None:
        self._stages_ms: dict[str, float] = {}
        self._gpu_ms: float | None = None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stages_ms[name] = self._stages_ms.get(name, 0.0) + (time.perf_counter() - start) * 1e3

    def add_gpu(self, session: Session) -> None:
        """Add the GPU time of the session's last run, where its device has timestamps."""
        if session.gpu_ms is not None:
            self._gpu_ms = (self._gpu_ms or 0.0) + session.gpu_ms

    def ms(self) -> dict[str, float]:
        """Stage names to milliseconds, with "gpu" where it was measured."""
        stages = dict(self._stages_ms)
        if self._gpu_ms is not None:
            stages["gpu"] = self._gpu_ms
        return {name: round(value, 3) for name, value in stages.items()}


async def run_one(session: Session, feed: NDArray[np.float32], stopwatch: Stopwatch, stage: str) -> list[NDArray[Any]]:
    """Feed a session's only input and return all its outputs, with the time booked to stage."""
    with stopwatch.stage(stage):
        outputs = await session.run(None, {session.get_inputs()[0].name: feed})
    stopwatch.add_gpu(session)
    return outputs


def report(progress: Progress | None, stage: str, done: int, total: int) -> None:
    """Tell whoever listens that `done` of `total` steps of a stage are over."""
    if progress is not None:
        progress(stage, done, total)


async def create_session(source: Source, *, device: Device | None = None, progress: Progress | None = None) -> Session:
    """Load a model on the GPU."""
    # Imported here: a job that is given its sessions runs without the GPU side of the package.
    from ..graph.session import InferenceSession

    session: Session = await InferenceSession.create(source, device=device, progress=progress)
    return session
