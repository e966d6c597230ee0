"""Says on what and how much a run measures.

Pure: values only.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Extent:
    """Says what to measure: `web` is a folder of pages, one subfolder a host."""

    web: Path
    quick: bool = False

    def of(self, quick: int, full: int) -> int:
        """Return a size, which a quick run has smaller."""
        return quick if self.quick else full

    @property
    def rounds(self) -> int:
        """How often each side has its turn."""
        return self.of(2, 5)
