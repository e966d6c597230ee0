"""Says how fast a figure grows, by least squares over what was sampled after the start.

Pure: samples in, growth out. A node fills caches for its first hour, and a young process has few samples; so a figure
is judged from `WARM_UP_S` on, or from a third of a shorter run, and grows where it does so by more than twice its
standard error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

HOUR_S = 3600.0
WARM_UP_S = HOUR_S
LIMITS = {  # the most by which a figure of one node may grow an hour
    "memory MB": 1.0,
    "open files": 1.0,
    "threads": 0.5,
    "tasks": 2.0,
    "latency p99 ms": 30.0,
}

Point = tuple[float, float]  # seconds since the start, value


@dataclass(frozen=True, slots=True)
class Growth:
    """How one figure of one node grew after the start: an hour, with its standard error, and from what to what."""

    node: str
    figure: str
    per_hour: float
    error: float
    first: float
    last: float

    @property
    def limit(self) -> float:
        """The most that this figure may grow an hour; none for figures that are only drawn."""
        return LIMITS.get(self.figure, float("inf"))

    @property
    def is_too_much(self) -> bool:
        """Whether it grows faster than it may, beyond what chance would show."""
        return self.per_hour - 2 * self.error > self.limit

    def __str__(self) -> str:
        verdict = "grows" if self.is_too_much else "ok"
        span = f"{self.first:.1f} to {self.last:.1f}"
        return f"{self.node:8} {self.figure:16} {self.per_hour:+8.2f} ± {self.error:.2f} an hour  ({span})  {verdict}"


def slope(points: Sequence[Point]) -> tuple[float, float]:
    """Return the slope of the line that fits best, and its standard error; of fewer than three points 0 and 0."""
    count = len(points)
    if count < 3:
        return 0.0, 0.0
    mean_x, mean_y = (sum(values) / count for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return 0.0, 0.0
    found = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    left = sum((y - mean_y - found * (x - mean_x)) ** 2 for x, y in points)
    return found, sqrt(left / (count - 2) / spread)


def growth(node: str, figure: str, points: Sequence[Point], began_at: float = 0.0) -> Growth:
    """Return how a figure grew from when the process that has it was warm; `began_at`: when that process began."""
    end = points[-1][0] if points else 0.0
    warm_at = began_at + min(WARM_UP_S, (end - began_at) / 3)
    warm = [point for point in points if point[0] >= warm_at]
    per_s, error_s = slope(warm)
    first, last = (warm[0][1], warm[-1][1]) if warm else (0.0, 0.0)
    return Growth(node, figure, per_s * HOUR_S, error_s * HOUR_S, first, last)


def judged(series: Mapping[str, Mapping[str, Sequence[Point]]], began_at: Mapping[str, float]) -> list[Growth]:
    """Return the growth of every figure of every node; `began_at` says when a node that was restarted began again."""
    return [
        growth(node, figure, points, began_at.get(node, 0.0))
        for figure, nodes in series.items()
        for node, points in nodes.items()
    ]
