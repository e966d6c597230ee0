"""The ranks of hosts at one node: what the holders of all slots tell of their hosts, and what comes of it.

Pure: words in, ranks out. Every node that holds a slot hears all and computes for itself, so that all come to the same.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from crawl import domain_of
from dht import Slot, placement_key, slot_of
from index import levels_of, rank_told_hosts
from node.ranking.host_links import HostLinks
from node.ranking.messages import HostsWord, hosts_word, votes_in

HOSTS_S = 300.0  # between two tellings of one slot, and between two computations
MOST_BYTES = 20_000_000  # of all that was told: some 500,000 links between as many hosts


class HostRank(NamedTuple):
    """A host's rank beside that of an average host, and its level."""

    rank: float
    level: int


class HostRanking:
    """Tells of the hosts of this node's slots and ranks all. `links`: of those slots."""

    def __init__(self, links: HostLinks, slot_bits: int) -> None:
        self._links, self._slot_bits = links, slot_bits
        self._told: dict[Slot, HostsWord] = {}
        self._size = 0
        self._said: dict[Slot, HostsWord] = {}  # of this node's slots
        self._ranks: dict[str, HostRank] = {}
        self._told_at = self._looked_at = -inf
        self._by: tuple[dict[int, HostsWord], dict[int, int]] = {}, {}  # words and counts that were computed by last
        self.refused: frozenset[int] = frozenset()
        self.left_out = 0

    @property
    def hosts(self) -> int:
        """How many hosts have ranks."""
        return len(self._ranks)

    @property
    def slots(self) -> int:
        """How many slots were told of."""
        return len(self._told)

    def find(self, host: str) -> HostRank | None:
        """Return a host's rank and level, None where it has none."""
        return self._ranks.get(host)

    def news(self, held: Mapping[Slot, int], now: float) -> list[HostsWord]:
        """Return what has to be told of slots that are held, with their epochs: of some now and then, of others
        nothing."""
        if now < self._told_at + HOSTS_S:
            return []
        self._said = {slot: word for slot, word in self._said.items() if held.get(slot) == word.epoch}
        changed = self._links.take_changed(held) | (held.keys() - self._said.keys())
        words = [hosts_word(slot, held[slot], self._links.votes(slot)) for slot in changed]
        found = [word for word in words if word != self._said.get(Slot(word.slot))]
        if found:
            self._told_at = now
        for word in found:
            self._said[Slot(word.slot)] = word
            self._put(word)
        return found

    def hear(self, word: HostsWord) -> None:
        """Take what a slot's holder tells; raises BadMessage where it is none."""
        had = self._told.get(Slot(word.slot))
        if had is not None and word.epoch < had.epoch:
            return
        votes_in(word)
        self._put(word)

    def compute(self, documents: Callable[[int], int], now: float) -> bool:
        """Rank all hosts, if anything changed since and some time has passed; return whether it was done.
        `documents`: how many a slot has, by its owners."""
        if now < self._looked_at + HOSTS_S or not self._told:
            return False
        self._looked_at = now
        by = {int(slot): word for slot, word in self._told.items()}, {int(slot): documents(slot) for slot in self._told}
        if by == self._by:
            return False
        self._by = by
        told = {slot: votes_in(word) for slot, word in by[0].items()}
        found = rank_told_hosts(told, by[1], self._home, lambda host: domain_of(host.partition(":")[0]))
        self.refused, self.left_out = found.refused, found.left_out
        if found.ranks is None:
            self._ranks = {}
            return True
        before = np.array([self._ranks[h].level if h in self._ranks else -1 for h in found.hosts], np.int8)
        ranks = found.ranks * len(found.hosts)
        levels = levels_of(ranks, 1.0, before)
        told_ranks = zip(ranks.tolist(), levels.tolist(), strict=True)
        self._ranks = dict(zip(found.hosts, map(HostRank._make, told_ranks), strict=True))
        return True

    def _home(self, host: str) -> int:
        return slot_of(placement_key(f"http://{host}/"), self._slot_bits)

    def _put(self, word: HostsWord) -> None:
        had = self._told.get(Slot(word.slot))
        size = self._size + _size(word) - (_size(had) if had is not None else 0)
        if size <= MOST_BYTES:
            self._told[Slot(word.slot)], self._size = word, size


def _size(word: HostsWord) -> int:
    return len(word.hosts) + len(word.counts) + len(word.targets)
