"""Statistics are asked twice of whoever is new here, and now and then of everybody: nothing in them is signed.

How many documents there are and hold a word decides about every score. Copies of a slot with equal fingerprints hold
the same documents, so their numbers are equal; of copies that are behind each other they are nearly so. Where two
answers cannot both be true, a third settles it, and whoever stood alone is asked no more for a while.

Pure but for the clock and the numbers that it is given.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from dht import NodeId, PeerAudit, Slot, Topic
from index.asking.scatter_gather import Gathered
from index.asking.slot_bitmaps import Ready, bitmap_of, slots_of
from index.query.collection_statistics import Statistics
from index.shard.messages import BestAnswer, StatisticsAnswer
from index.shard.shard_search import added_up

FACTOR, BESIDE = 2, 64  # by which copies that are behind each other may differ
CHANGED, LONG = 4, 4096  # documents that may have changed besides, and terms in a field of one


class SlotStatistics(NamedTuple):
    """One peer's statement about one slot."""

    fingerprint: bytes
    sums: Statistics


def of_slot(answer: StatisticsAnswer, slot: Slot) -> SlotStatistics:
    """Return what an answer says of one of its slots."""
    place = answer.slots.index(slot)
    df = tuple(found[place] for found in answer.df)
    sums = Statistics(answer.documents[place], answer.lengths[place], df)
    return SlotStatistics(answer.fingerprints[place], sums)


def can_both_be_true(one: SlotStatistics, other: SlotStatistics) -> bool:
    """Tell whether two peers may hold copies of one slot of which they say this."""
    return not is_impossible(one, other) and (_are_near(_means(one), _means(other)) or _is_explained(one, other))


def is_impossible(one: SlotStatistics, other: SlotStatistics) -> bool:
    """Return whether the reports of two peers about their copies of a slot contradict each other. Lengths do not count
    here: in a slot of few documents one more or less may change the mean length by far."""
    if one.fingerprint == other.fingerprint:
        return one.sums != other.sums
    mine, theirs = ((said.sums.documents, *said.sums.df) for said in (one, other))
    return not _are_near(mine, theirs)


def _are_near(some: Sequence[int], others: Sequence[int]) -> bool:
    return all(max(a, b) <= FACTOR * min(a, b) + BESIDE for a, b in zip(some, others, strict=True))


def _is_explained(one: SlotStatistics, other: SlotStatistics) -> bool:
    """Return whether additional documents of one copy, and a few changed ones, can explain the difference in lengths.
    In a slot of few documents the mean proves little, in an empty one nothing."""
    documents = min(abs(one.sums.documents - other.sums.documents), BESIDE) + CHANGED
    pairs = zip(one.sums.lengths, other.sums.lengths, strict=True)
    return all(max(pair) <= FACTOR * min(pair) + LONG * documents for pair in pairs)


def _means(said: SlotStatistics) -> Sequence[int]:
    """How long a document is in each field."""
    return tuple(length // max(said.sums.documents, 1) for length in said.sums.lengths)


Told = tuple[NodeId, StatisticsAnswer]


Cover = Callable[[Ready], Awaitable[Gathered[StatisticsAnswer]]]
"""Asks for the statistics of slots, for as long as a confirmation or a judgement may take."""


async def settle(
    audit: PeerAudit,
    covered: Gathered[StatisticsAnswer],
    ready: Ready,
    due: Collection[NodeId],
    confirm: Cover,
    judge: Cover,
) -> Mapping[Slot, Collection[NodeId]]:
    """Have the answers of those who are due confirmed by others, and put those of others in place of what two refute.
    Return the slots of which no third told who is right, with those who say unlike things; the smaller number counts
    there."""
    if not due:
        return {}
    first, mute = _by_slot(covered), covered.late | covered.failed
    asked = Ready({slot: _others(ready, slot, peer, *mute) for slot, (peer, _) in first.items() if peer in due})
    second = _by_slot(await confirm(asked)) if asked.askable else {}
    unlike = [slot for slot, told in second.items() if not _agree(slot, first[slot], told)]
    for peer in {first[slot][0] for slot in second} - {first[slot][0] for slot in unlike}:
        audit.agreed(peer, Topic.STATISTICS)
    if not unlike:
        return {}
    left = Ready({slot: _others(ready, slot, first[slot][0], second[slot][0], *mute) for slot in unlike})
    third = _by_slot(await judge(left))
    disputed: dict[Slot, Collection[NodeId]] = {}
    struck: dict[NodeId, tuple[Slot, NodeId, NodeId]] = {}
    for slot in unlike:
        one, other = first[slot], second[slot]
        right = _judge(slot, one, other, third.get(slot))
        first[slot] = right or min(one, other, key=lambda told: of_slot(told[1], slot).sums.documents)
        if right is None:
            disputed[slot] = {one[0], other[0]}
        else:
            alone = other if right is one else one
            struck[alone[0]] = slot, right[0], third[slot][0]
            said, truth = of_slot(alone[1], slot), of_slot(right[1], slot)
            if is_impossible(said, truth):
                is_behind = said.fingerprint != truth.fingerprint  # by far, as an owner may be while much is crawled
                reason = f"other numbers of slot {slot}"
                audit.refute(alone[0], Topic.STATISTICS, reason, struck[alone[0]][1:], is_behind=is_behind)
    for peer, (slot, *against) in struck.items():
        audit.differs(peer, Topic.STATISTICS, f"other lengths of documents in slot {slot}", against)
    covered.answers = _gathered(first)
    return disputed


def hold_to(audit: PeerAudit, covered: Gathered[StatisticsAnswer], doubted: Mapping[NodeId, BestAnswer]) -> None:
    """Refute who brought other sums with its best documents than it counts now in the very same copies."""
    for peer, answer, _ in covered.answers:
        said = doubted[peer].sums if peer in doubted and doubted[peer].slots == answer.slots else None
        now = added_up(answer) if said is not None else None
        if said is not None and now is not None and said.tag == now.tag and said != now:
            audit.refute(peer, Topic.STATISTICS, "other sums than those of its slots")


def _judge(slot: Slot, one: Told, other: Told, third: Told | None) -> Told | None:
    """Return which of two answers about a slot a third agrees with alone; None where nobody can tell."""
    for right, wrong in ((one, other), (other, one)):
        if third is not None and _agree(slot, right, third) and not _agree(slot, wrong, third):
            return right
    return None


def _others(ready: Ready, slot: Slot, *without: NodeId) -> Sequence[NodeId]:
    return [peer for peer in ready[slot] if peer not in without]


def _by_slot(covered: Gathered[StatisticsAnswer]) -> dict[Slot, Told]:
    return {slot: (peer, answer) for peer, answer, slots in covered.answers for slot in slots_of(slots)}


def _agree(slot: Slot, one: Told, other: Told) -> bool:
    return can_both_be_true(of_slot(one[1], slot), of_slot(other[1], slot))


def _gathered(told: Mapping[Slot, Told]) -> list[tuple[NodeId, StatisticsAnswer, int]]:
    """Put the slots of each answer together again."""
    slots: dict[int, list[Slot]] = {}
    for slot, (_, answer) in told.items():
        slots.setdefault(id(answer), []).append(slot)
    answers = {id(answer): (peer, answer) for peer, answer in told.values()}
    return [(*answers[key], bitmap_of(found)) for key, found in slots.items()]
