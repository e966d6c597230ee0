"""How a query goes by the directory of terms: which slots were asked, and what the answer is worth.

Pure: values only.
"""

from dataclasses import dataclass
from typing import Any

from dht import Slot
from index.directory.slot_choice import DirectoryVerdict, SlotChoice


@dataclass(slots=True)
class DirectoryCourse:
    """Says which slots were asked so far, and as of when the rows are right that left out others, Unix seconds.
    `epoch`: whose statistics score; `statistics`: a digest of them, equal where scores are by equal ones."""

    choice: SlotChoice
    epoch: int
    statistics: bytes
    as_of: float
    asked: frozenset[Slot]
    verdict: DirectoryVerdict

    @property
    def has_all_matches(self) -> bool:
        """Whether every slot was asked that may hold a match."""
        return self.choice.verdict(None, self.asked).proven

    def as_json(self, *, is_sure: bool) -> dict[str, Any]:
        """Return what an answer says of it. `is_sure`: whether nothing else speaks against the answer."""
        return {
            "proven": is_sure and self.verdict.proven,
            "as_of": round(self.as_of, 1),
            "epoch": self.epoch,
            "statistics": self.statistics.hex(),
            "slots_asked": len(self.asked),
            "slots_not_asked": self.verdict.not_asked,
        }
