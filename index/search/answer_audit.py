"""Statistics are asked twice of whoever is new here, and now and then of everybody: nothing in them is signed.

How many documents there are and hold a word decides about every score. Copies of a slot with equal fingerprints hold
the same documents, so their numbers are equal; of copies that are behind each other they are nearly so. Where two
answers cannot both be true, a third settles it, and whoever stood alone is asked no more for a while.

Pure but for the clock and the numbers that it is given.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from dht import Clock, NodeId, Slot
from index.query.collection_statistics import Statistics
from index.search.messages import StatisticsAnswer
from index.search.replica_plan import Ready
from index.search.scatter_gather import Gathered

log = logging.getLogger(__name__)

NEW = 50  # answers of a peer that agreed with another's, before it is asked twice seldom
SHARE = 0.02  # of the others
AVOIDED_S = 3600.0
REMEMBERED = 4096  # peers
FACTOR, BESIDE = 2, 64  # by which copies that are behind each other may differ


class SlotStatistics(NamedTuple):
    """What one peer says of one slot."""

    fingerprint: bytes
    sums: Statistics


class AnswerAudit:
    """Remembers whose statistics agreed with others', and who was refuted."""

    def __init__(self, clock: Clock, draw: Callable[[], float]) -> None:
        """`draw` gives a random number from 0 to 1."""
        self._clock, self._draw = clock, draw
        self._agreed: OrderedDict[NodeId, int] = OrderedDict()
        self._refuted: OrderedDict[NodeId, float] = OrderedDict()  # until when (steady)

    @property
    def now(self) -> float:
        """The steady time."""
        return self._clock().steady

    def is_due(self, peer: NodeId) -> bool:
        """Tell whether another is asked the same as this peer."""
        return self._agreed.get(peer, 0) < NEW or self._draw() < SHARE

    def agreed(self, peer: NodeId) -> None:
        """Note that another said the same as this peer."""
        self._agreed[peer] = self._agreed.pop(peer, 0) + 1
        if len(self._agreed) > REMEMBERED:
            self._agreed.popitem(last=False)

    def refute(self, peer: NodeId) -> None:
        """Note that two others spoke against this peer, or signed documents did."""
        if peer not in self._refuted:
            log.warning("peer refuted, it is asked where nobody else is for %.0f s peer=%s", AVOIDED_S, peer.hex())
        self._agreed.pop(peer, None)
        self._refuted[peer] = self.now + AVOIDED_S
        if len(self._refuted) > REMEMBERED:
            self._refuted.popitem(last=False)

    def refuted(self) -> frozenset[NodeId]:
        """Return who is asked only where nobody else is."""
        now = self.now
        self._refuted = OrderedDict((peer, until) for peer, until in self._refuted.items() if until > now)
        return frozenset(self._refuted)


def of_slot(answer: StatisticsAnswer, slot: Slot) -> SlotStatistics:
    """Return what an answer says of one of its slots."""
    place = answer.slots.index(slot)
    df = tuple(found[place] for found in answer.df)
    return SlotStatistics(answer.fingerprints[place], Statistics(answer.documents[place], answer.lengths[place], df))


def can_both_be_true(one: SlotStatistics, other: SlotStatistics) -> bool:
    """Tell whether two peers may hold copies of one slot of which they say this."""
    if one.fingerprint == other.fingerprint:
        return one.sums == other.sums
    return all(max(a, b) <= FACTOR * min(a, b) + BESIDE for a, b in zip(_counts(one), _counts(other), strict=True))


def _counts(said: SlotStatistics) -> Sequence[int]:
    sums = said.sums
    per_document = (length // max(sums.documents, 1) for length in sums.lengths)
    return tuple(chain((sums.documents,), sums.df, per_document))


Told = tuple[NodeId, StatisticsAnswer]


Cover = Callable[[Ready], Awaitable[Gathered[StatisticsAnswer]]]
"""Asks for the statistics of slots, for as long as a confirmation may take."""


async def settle(
    audit: AnswerAudit, covered: Gathered[StatisticsAnswer], ready: Ready, me: NodeId, cover: Cover
) -> Mapping[Slot, Collection[NodeId]]:
    """Have some of the answers confirmed by others, and put those of others in place of what two refute. Return the
    slots of which no third told who is right, with those who say unlike things; the smaller number counts there."""
    first = _by_slot(covered)
    due = {peer for peer, _, _ in covered.answers if peer != me and audit.is_due(peer)}
    mute = covered.late | covered.failed
    asked = {slot: _others(ready, slot, peer, *mute) for slot, (peer, _) in first.items() if peer in due}
    second = _by_slot(await cover(asked)) if any(asked.values()) else {}
    unlike = [slot for slot, told in second.items() if not _agree(slot, first[slot], told)]
    for peer in {first[slot][0] for slot in second} - {first[slot][0] for slot in unlike}:
        audit.agreed(peer)
    if not unlike:
        return {}
    left = {slot: _others(ready, slot, first[slot][0], second[slot][0], *mute) for slot in unlike}
    third = _by_slot(await cover(left)) if any(left.values()) else {}
    disputed: dict[Slot, Collection[NodeId]] = {}
    for slot in unlike:
        one, other = first[slot], second[slot]
        first[slot], liar = _judge(slot, one, other, third.get(slot))
        if liar is None:
            disputed[slot] = {one[0], other[0]}
        else:
            audit.refute(liar)
    covered.answers = _gathered(first)
    return disputed


def _judge(slot: Slot, one: Told, other: Told, third: Told | None) -> tuple[Told, NodeId | None]:
    """Return which of two answers about a slot counts, and who is refuted; None where nobody can tell."""
    for right, wrong in ((one, other), (other, one)):
        if third is not None and _agree(slot, right, third) and not _agree(slot, wrong, third):
            return right, wrong[0]
    return min(one, other, key=lambda told: of_slot(told[1], slot).sums.documents), None


def _others(ready: Ready, slot: Slot, *without: NodeId) -> Sequence[NodeId]:
    return [peer for peer in ready[slot] if peer not in without]


def _by_slot(covered: Gathered[StatisticsAnswer]) -> dict[Slot, Told]:
    return {slot: (peer, answer) for peer, answer, slots in covered.answers for slot in slots}


def _agree(slot: Slot, one: Told, other: Told) -> bool:
    return can_both_be_true(of_slot(one[1], slot), of_slot(other[1], slot))


def _gathered(told: Mapping[Slot, Told]) -> list[tuple[NodeId, StatisticsAnswer, frozenset[Slot]]]:
    """Put the slots of each answer together again."""
    slots: dict[int, list[Slot]] = {}
    for slot, (_, answer) in told.items():
        slots.setdefault(id(answer), []).append(slot)
    answers = {id(answer): (peer, answer) for peer, answer in told.values()}
    return [(*answers[key], frozenset(found)) for key, found in slots.items()]
