"""One line for each thing that is fetched: a bar on a terminal, plain text in a log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_BAR = 24
_REDRAW_S = 0.1


class Progress:
    """Writes to `stream`; with `stream=None` it says nothing."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._terminal = stream is not None and stream.isatty()
        self._drawn_at = 0.0

    def say(self, text: str) -> None:
        """A line of its own."""
        if self._stream is not None:
            print(text, file=self._stream, flush=True)

    @contextmanager
    def task(self, label: str, total_bytes: int) -> Iterator[Task]:
        """Draws while the task updates it; the last line says how long it took, or that it failed."""
        task, started = Task(self, label, total_bytes), time.monotonic()
        task.update(0)
        try:
            yield task
        except BaseException:
            self._finish(f"{label:<44} failed")
            raise
        self._finish(f"{label:<44} {_size(total_bytes):>9}  {time.monotonic() - started:5.1f} s")

    def draw(self, label: str, done_bytes: int, total_bytes: int) -> None:
        """Redraws the bar, at most ten times a second, on a terminal only."""
        if self._stream is None or not self._terminal or time.monotonic() - self._drawn_at < _REDRAW_S:
            return
        self._drawn_at = time.monotonic()
        share = min(1.0, done_bytes / total_bytes) if total_bytes else 1.0
        bar = "█" * round(share * _BAR)
        self._stream.write(f"\r{label:<44} {_size(total_bytes):>9}  {bar:·<{_BAR}} {share:4.0%}")
        self._stream.flush()

    def _finish(self, text: str) -> None:
        if self._stream is not None:
            print(f"\r\x1b[K{text}" if self._terminal else text, file=self._stream, flush=True)


class Task:
    """What a running download reports to."""

    def __init__(self, progress: Progress, label: str, total_bytes: int) -> None:
        self._progress, self._label, self._total_bytes = progress, label, total_bytes

    def update(self, done_bytes: int) -> None:
        """So many bytes are there now."""
        self._progress.draw(self._label, done_bytes, self._total_bytes)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.2f} MB" if size_bytes < 10e6 else f"{size_bytes / 1e6:.1f} MB"
