"""Rotated rectangles: the smallest one around a shape, and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle about its centre (x, y), with its width along `angle` and its height across.

    angle: radians from the x axis towards the y axis (clockwise on the screen), within -pi/4..pi/4.
    """

    x: float
    y: float
    width: float
    height: float
    angle: float

    def corners(self) -> Points:
        """(4, 2): top left, top right, bottom right, bottom left."""
        cos, sin = np.cos(self.angle), np.sin(self.angle)
        right = np.array([cos, sin]) * (self.width / 2)
        down = np.array([-sin, cos]) * (self.height / 2)
        corners: Points = np.array([-right - down, right - down, right + down, down - right])
        return np.array([self.x, self.y]) + corners

    def grown(self, margin: float) -> Rectangle:
        """The rectangle with margin added on each of its four sides."""
        return Rectangle(self.x, self.y, self.width + 2 * margin, self.height + 2 * margin, self.angle)

    def scaled(self, factor: float) -> Rectangle:
        """The rectangle after the coordinates were multiplied by factor."""
        return Rectangle(self.x * factor, self.y * factor, self.width * factor, self.height * factor, self.angle)


def outline(rows: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[Points, Points]:
    """Left and right border of one component of runs, as points (x, y) at the rows' edges, from top to bottom.

    rows, starts, ends: its runs in reading order, which must cover every row between the first and the last.
    """
    row_starts = np.concatenate(([0], np.nonzero(np.diff(rows))[0] + 1))
    left, right = np.minimum.reduceat(starts, row_starts), np.maximum.reduceat(ends, row_starts)
    y = np.arange(rows[0], rows[-1] + 2)
    left = np.minimum(np.append(left, left[-1]), np.insert(left, 0, left[0]))
    right = np.maximum(np.append(right, right[-1]), np.insert(right, 0, right[0]))
    return np.stack((left, y), axis=1).astype(np.float64), np.stack((right, y), axis=1).astype(np.float64)


def convex_hull(left: Points, right: Points) -> Points:
    """(n, 2) corners of the convex hull of a shape given by its two borders, each sorted from top to bottom."""
    down = _bulge(left, 1.0)
    up = _bulge(right, -1.0)[::-1]
    return np.array(down + up)


def _bulge(border: Points, side: float) -> list[tuple[float, float]]:
    """The points of a border that its convex hull keeps (one side of Andrew's monotone chain)."""
    kept: list[tuple[float, float]] = []
    for x, y in border.tolist():
        while len(kept) >= 2:
            (x0, y0), (x1, y1) = kept[-2], kept[-1]
            if side * ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) < 0:
                break
            kept.pop()
        kept.append((x, y))
    return kept


def smallest_rectangle(hull: Points) -> Rectangle:
    """The rectangle of least area around a convex shape; one of its sides lies on a side of the shape.

    hull: (n, 2) corners in order, n >= 2. Source: Freeman and Shapira, 1975 (rotating calipers, here all at once).
    """
    sides = np.roll(hull, -1, axis=0) - hull
    sides = sides[np.hypot(sides[:, 0], sides[:, 1]) > 0]
    # A side and the side a quarter turn on give the same rectangle: keep the direction nearest to x.
    angles = np.arctan2(sides[:, 1], sides[:, 0])
    angles = np.unique(np.round(angles - np.round(angles / (np.pi / 2)) * (np.pi / 2), 9))
    angles = angles[np.argsort(np.abs(angles), kind="stable")]
    cos, sin = np.cos(angles), np.sin(angles)
    along = hull @ np.stack((cos, sin))
    across = hull @ np.stack((-sin, cos))
    widths, heights = np.ptp(along, axis=0), np.ptp(across, axis=0)
    best = int(np.argmin(widths * heights))
    u = (along[:, best].min() + along[:, best].max()) / 2
    v = (across[:, best].min() + across[:, best].max()) / 2
    return Rectangle(
        x=float(u * cos[best] - v * sin[best]),
        y=float(u * sin[best] + v * cos[best]),
        width=float(widths[best]),
        height=float(heights[best]),
        angle=float(angles[best]),
    )
