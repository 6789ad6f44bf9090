"""Connected components of a mask, found on runs of pixels instead of pixels.

A run is a stretch of set pixels in one row. A mask of two megapixels with text has a few thousand runs, and
everything below is a handful of numpy calls on arrays of that length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs in reading order; run i covers the pixels starts[i] to ends[i] - 1 of row rows[i]."""

    rows: Indices
    starts: Indices
    ends: Indices


def find_runs(mask: NDArray[np.bool_]) -> Runs:
    """Return the runs of set pixels in mask, (H, W)."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), np.bool_)
    padded[:, 1:-1] = mask
    # Every row begins and ends unset, so its changes are starts and ends by turns.
    rows, columns = np.divmod(np.flatnonzero(padded[:, 1:] != padded[:, :-1]), width + 1)
    return Runs(rows[::2].astype(np.int64), columns[::2].astype(np.int64), columns[1::2].astype(np.int64))


def label_runs(runs: Runs) -> Indices:
    """Number the connected components of runs (corners touch: 8 neighbours) from 0, in reading order.

    Returns: one label for each run.
    """
    upper, lower = _touching(runs)
    parents = np.arange(runs.rows.size, dtype=np.int64)
    # Each round hooks a root on the smaller root it touches, then flattens the trees; the trees halve at
    # least in number, so a spiral of a thousand runs takes ten rounds.
    while True:
        first, second = parents[upper], parents[lower]
        if np.array_equal(first, second):
            break
        np.minimum.at(parents, np.maximum(first, second), np.minimum(first, second))
        while True:
            flatter = parents[parents]
            if np.array_equal(flatter, parents):
                break
            parents = flatter
    labels: Indices = np.unique(parents, return_inverse=True)[1].astype(np.int64)
    return labels


def _touching(runs: Runs) -> tuple[Indices, Indices]:
    """Pairs of runs in neighbouring rows that touch: two arrays of run numbers."""
    if not runs.rows.size:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    span = int(runs.ends.max()) + 2
    # One sorted axis for all rows: a run of row r lies at r * span + x.
    starts, ends = runs.rows * span + runs.starts, runs.rows * span + runs.ends
    first = np.searchsorted(ends, starts + span, side="left")
    last = np.searchsorted(starts, ends + span, side="right")
    counts = np.maximum(last - first, 0)
    upper = np.repeat(np.arange(runs.rows.size, dtype=np.int64), counts)
    offsets = np.arange(counts.sum(), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    return upper, np.repeat(first, counts).astype(np.int64) + offsets
