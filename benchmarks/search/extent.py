"""Says on what and how much a run measures."""

from dataclasses import dataclass
from pathlib import Path

QUICK_QUERIES = 40  # of a set; enough to see that a figure is not broken


@dataclass(frozen=True, slots=True)
class Extent:
    """Says what to measure: folders of data that no run can do without, None where they were not given."""

    judged: Path | None = None
    web: Path | None = None
    engine: str = "tantivy"
    documents: int = 10_000
    quick: bool = False

    def most(self, count: int) -> int:
        """Return how many queries of `count` are asked."""
        return min(count, QUICK_QUERIES) if self.quick else count
