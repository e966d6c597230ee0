"""Says on what and how much a run measures."""

from dataclasses import dataclass
from pathlib import Path

QUICK_QUERIES = 25  # of a kind


@dataclass(frozen=True, slots=True)
class Extent:
    """Says what to measure. `web`: one folder of pages per host; `judged`: folder of judged sets, where given; `plots`:
    where to put drawings."""

    web: Path
    judged: Path | None = None
    plots: Path | None = None
    quick: bool = False

    def most(self, count: int) -> int:
        """Return how many queries of `count` are asked."""
        return min(count, QUICK_QUERIES) if self.quick else count
