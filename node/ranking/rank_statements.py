"""What all holders say of their slots, added up: how far the ranks of the network are proved, and what each slot may
give.

Pure: statements in, numbers out.
"""

from collections.abc import Collection, Sequence

import numpy as np

from dht import NodeId, Slot
from index import SlotStatement, allowed_flows, error_of

CLOCKS_S = 20.0  # by which clocks of nodes differ; whoever is further off does nothing in the network's name
EAGER_SLOTS = 512  # so many may be judged anew for each message that says something: a millisecond or two
REFUSED = 1e-6  # of all that pages have: what is refused beyond that is a lie, and not what is on its way


class RankStatements:
    """The newest statement of each slot, and how many documents its owners count there."""

    def __init__(self, slot_count: int) -> None:
        self._count = slot_count
        self._said: dict[int, SlotStatement] = {}
        self._documents: dict[int, dict[NodeId, int]] = {}
        self._allowed = np.zeros((slot_count, slot_count))
        self._is_old = False
        self.judged = 0  # how often limits were computed: another number means other limits

    def hear(self, statement: SlotStatement) -> None:
        """Take a statement where it is newer."""
        had = self._said.get(statement.slot)
        if had is None or (statement.epoch, statement.at) > (had.epoch, had.at):
            self._said[statement.slot] = statement
            self._is_old |= had is None or had.given != statement.given

    def hear_documents(self, peer: NodeId, slot: int, count: int) -> None:
        """Take an owner's word for how many documents lie in a slot."""
        words = self._documents.setdefault(slot, {})
        self._is_old |= words.get(peer) != count
        words[peer] = count

    def documents(self, slot: int) -> int:
        """Return how many documents a slot has, by the median of its owners' words: one alone raises it by nothing."""
        counts = sorted(self._documents.get(slot, {}).values())
        return counts[(len(counts) - 1) // 2] if counts else 0

    def keep_owners(self, owners: Sequence[Collection[NodeId]]) -> None:
        """Forget the words of those who own slots no more. `owners`: of each slot."""
        for slot, words in self._documents.items():
            for peer in words.keys() - set(owners[slot]):
                del words[peer]
                self._is_old = True

    def limit(self, source: int, target: int) -> float:
        """Return what a slot may give another one, by what all say."""
        if self._is_old and self._count <= EAGER_SLOTS:
            self.refresh()
        return float(self._allowed[source, target])

    def refresh(self) -> None:
        """Judge anew what each slot may give, where anybody said something else."""
        if not self._is_old:
            return
        claims = np.zeros((self._count, self._count))
        for slot, said in self._said.items():
            claims[slot, list(said.given)] = list(said.given.values())
        documents = np.array([self.documents(slot) for slot in range(self._count)], np.float64)
        self._allowed, self._is_old = allowed_flows(claims, documents), False
        self.judged += 1

    @property
    def latest_from(self) -> float:
        """The latest instant from which any holder speaks."""
        return max((said.from_at for said in self._said.values()), default=0.0)

    @property
    def distance(self) -> float:
        """By how much the ranks of all are wrong together at most, infinite where that is not proved."""
        return error_of(self._said.values(), CLOCKS_S) if len(self._said) == self._count else np.inf

    @property
    def silent(self) -> list[Slot]:
        """The slots of which nobody has said anything."""
        return [Slot(slot) for slot in range(self._count) if slot not in self._said]

    @property
    def unheard(self) -> list[Slot]:
        """The slots that gave others something which these have not acknowledged once."""
        return [Slot(slot) for slot, said in sorted(self._said.items()) if said.missing == np.inf]

    @property
    def refused(self) -> float:
        """How much of all ranks is refused, because those who give it may not give so much."""
        return sum(said.refused for said in self._said.values()) / max(self.mass, 1e-300)

    @property
    def mass(self) -> float:
        """What all pages have together."""
        return sum(said.mass for said in self._said.values())

    @property
    def pages(self) -> int:
        """How many pages there are, in all slots that anything is said of."""
        return sum(said.pages for said in self._said.values())
