"""Says how fast a figure grows, by least squares over what was sampled after the start.

Pure: samples in, growth out. A run consists of blocks, and each block starts the processes anew. A node fills caches
for its first hour, so of each block the samples from `WARM_UP_S` on are judged; of a block that is hardly longer, the
last two thirds. One slope fits all blocks, each with a level of its own. A figure grows where its slope exceeds the
limit by more than twice its standard error.
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


def slope(lines: Sequence[Sequence[Point]]) -> tuple[float, float]:
    """Return the slope that fits all lines best, each with a level of its own, and its standard error.

    Of fewer than three points 0 and 0.
    """
    centred = [point for line in lines if line for point in _centred(line)]
    spread, free = sum(x * x for x, _ in centred), len(centred) - len(lines) - 1
    if spread == 0 or free < 1:
        return 0.0, 0.0
    found = sum(x * y for x, y in centred) / spread
    return found, sqrt(sum((y - found * x) ** 2 for x, y in centred) / free / spread)


def growth(node: str, figure: str, points: Sequence[Point], starts: Sequence[float] = (0.0,)) -> Growth:
    """Return how a figure grew in all blocks; `starts`: when each of them began."""
    ends = [*starts[1:], float("inf")]
    blocks = [[point for point in points if start <= point[0] < end] for start, end in zip(starts, ends, strict=True)]
    warm = [_warm(block, start) for block, start in zip(blocks, starts, strict=True) if block]
    per_s, error_s = slope(warm)
    levels = [value for line in warm for _, value in line] or [0.0]
    return Growth(node, figure, per_s * HOUR_S, error_s * HOUR_S, levels[0], levels[-1])


def judged(series: Mapping[str, Mapping[str, Sequence[Point]]], starts: Sequence[float] = (0.0,)) -> list[Growth]:
    """Return the growth of every figure of every node."""
    return [growth(node, figure, points, starts) for figure, nodes in series.items() for node, points in nodes.items()]


def _warm(block: Sequence[Point], start: float) -> list[Point]:
    lasts_s = block[-1][0] - start
    warm_at = start + (WARM_UP_S if lasts_s > 1.5 * WARM_UP_S else lasts_s / 3)
    return [point for point in block if point[0] >= warm_at]


def _centred(line: Sequence[Point]) -> list[Point]:
    mean_x, mean_y = (sum(values) / len(line) for values in zip(*line, strict=True))
    return [(x - mean_x, y - mean_y) for x, y in line]
