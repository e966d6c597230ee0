"""Whether a signed page bears out what an owner of its slot told of a term.

Pure: a claim and a page in, a verdict out. An owner names the page that has the level; who doubts it reads that page as
any other, and computes. Levels stay for an epoch while pages change and go, so a page that changed since the table was
begun proves nothing against its owner; one that stood before must have the level.
"""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from dht import NodeId, Slot, slot_of
from index.change_feed import Text
from index.directory.impact import impacts_in
from index.directory.impact_table import hashes_of
from index.query.search_rules import SearchRules
from index.text.forward_index import forward_of

COUNTING_S = 3600.0  # before a table is made its pages are counted, at most for so long


@dataclass(frozen=True, slots=True)
class LevelClaim:
    """Says that by one owner's table, `run`, a term (its hash as a number) has a level in a slot. `average`: the mean
    length by which it was computed; `made_at`: when all pages were counted, Unix seconds; `is_drawn`: whether it was
    drawn by chance, not for being odd."""

    owner: NodeId
    slot: Slot
    term: int
    level: int
    run: int
    average: float
    made_at: float
    is_drawn: bool = False


class WitnessVerdict(Enum):
    """What a check of a claim gave."""

    SHOWN = auto()
    UNSHOWN = auto()  # no page was named, nobody has it, or it changed since
    FALSE = auto()


def judge(claim: LevelClaim, text: Text | None, rules: SearchRules, slot_bits: int) -> WitnessVerdict:
    """Hold a claim to the page that its owner named, in the version that it named: another one may be a stale copy of
    somebody else's. None: nobody showed it."""
    if text is None:
        return WitnessVerdict.UNSHOWN
    if slot_of(text.key, slot_bits) != claim.slot:
        return WitnessVerdict.FALSE
    if SeenPage(text, claim.term, rules).level_by(claim.average)[0] >= claim.level:
        return WitnessVerdict.SHOWN
    return WitnessVerdict.FALSE if text.written_at < claim.made_at - COUNTING_S else WitnessVerdict.UNSHOWN


class SeenPage:
    """A page that was read, for one of its terms (its hash as a number)."""

    def __init__(self, text: Text, term: int, rules: SearchRules) -> None:
        self.written_at, self._term, self._rules = text.written_at, term, rules.ranking
        self._forward = forward_of(text, rules.analyzer)

    def level_by(self, average: float) -> tuple[int, bool]:
        """Return the level by a mean length of documents, 0 where the term is not there; and whether it names a front
        page."""
        terms, impacts = impacts_in(self._forward, self._rules, average)
        at = np.flatnonzero(hashes_of(terms) == np.uint64(self._term))
        return (int(impacts.levels[at[0]]), bool(impacts.is_name[at[0]])) if len(at) else (0, False)
