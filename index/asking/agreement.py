"""Judges whether an answer is exact: compares the answerers' reports about their copies with the asker's own view.

Pure: a view and answers in, doubts out. `min_acks` owners of a slot acknowledge each write. An answerer must agree with
so many of the slot's sticky owners that any two such groups share an owner. Then it has every acknowledged write, and
two such answers are equal. Former owners and stand-ins never count, since both sides of a cut could have them. Owners
that all took the place of others within an hour are not believed: they may have taken the slot over.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from dht import NodeId, Slot, View, counting_owners
from index.shard.messages import Agreement

OWNERS_BYTES = 8
YOUNG_S = 15.0  # younger writes may be on their way to an owner or an index: comparisons leave them out
MAX_PEERS_NAMED = 64  # with one reason


class Reason(StrEnum):
    """Why an answer may not be what one index over all documents would give. The words are part of the API."""

    UNANSWERED = "unanswered"  # nobody who has these slots answered in time
    UNREAD = "unread"  # documents were found, and could not be read in time
    ORDER = "order"  # more candidates than are looked at could stand among the best
    CHANGED = "changed"  # a document is gone, or changed some time ago, and an index does not know it
    REFUTED = "refuted"  # a peer's numbers of a document contradict the signed document
    DISPUTED = "disputed"  # two peers contradict each other about a slot, and no third one settled it
    RULES = "rules"  # it goes by other rules of search than those in force, as nodes that have these do
    STRATEGY = "strategy"  # a peer goes by another version of the strategy
    OWNERS = "owners"  # a peer takes others for the owners of a slot
    ASLEEP = "asleep"  # too few owners of a slot are live
    BEHIND = "behind"  # too few live owners' copies are known to be equal
    UNLIKE = "unlike"  # another copy of a slot has differed for a while
    REPLACED = "replaced"  # all owners of a slot became so within an hour, in place of others
    APART = "apart"  # this node never met its network, its clock is off, or another runs with its identity
    VANISHED = "vanished"  # half of the members, or more, went silent for good: another part of the network may live on


class Said(NamedTuple):
    """One answer's report about its copies of slots. `counted`: the slots for which this answer counts."""

    peer: NodeId
    slots: tuple[int, ...]
    counted: Collection[Slot]
    agreement: Agreement


@dataclass(slots=True)
class Doubts:
    """The reasons why an answer is not exact; none where it is."""

    slots: dict[Reason, set[int]] = field(default_factory=dict)
    peers: dict[Reason, set[NodeId]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.slots)

    @property
    def reasons(self) -> frozenset[Reason]:
        """Return the reasons alone."""
        return frozenset(self.slots)

    def add(self, reason: Reason, slots: Iterable[int] = (), peers: Iterable[NodeId] = ()) -> None:
        """Note a reason, the slots that it concerns and the peers that it lies with."""
        self.slots.setdefault(reason, set()).update(slots)
        self.peers.setdefault(reason, set()).update(peers)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the `why` of an answer, in the order of the vocabulary."""
        return [
            {
                "reason": reason.value,
                "slots": len(self.slots[reason]),
                "peers": [peer.hex() for peer in sorted(self.peers[reason])[:MAX_PEERS_NAMED]],
                "peer_count": len(self.peers[reason]),
            }
            for reason in Reason
            if reason in self.slots
        ]


def owners_digest(owners: Sequence[tuple[NodeId, ...]], slots: Iterable[int]) -> bytes:
    """Digest who owns some slots, in order: equal where two nodes see the same owners."""
    return _digest_of(tuple([owners[slot] for slot in slots]))


@lru_cache(1 << 5)  # nearly all queries are about the same slots, whose owners stay for hours
def _digest_of(owners: tuple[tuple[NodeId, ...], ...]) -> bytes:
    return blake2b(b"".join([b"".join((*each, b"/")) for each in owners]), digest_size=OWNERS_BYTES).digest()


def is_remnant(view: View) -> bool:
    """Tell whether half of all members that this node remembers, or more, fell silent for good."""
    return len(view.peers.vanished()) >= max(len(view.members()), 1)


def weigh(said: Iterable[Said], view: View, doubts: Doubts) -> None:
    """Add the doubts about these answers."""
    heard, owners = list[Said](), view.owners_by_slot()
    for each in dict.fromkeys(said):  # both rounds mostly say the same
        if reason := _other_rules(each, view.strategy.version, owners):
            doubts.add(reason, each.counted, [each.peer])
            continue
        heard.append(each)
        if unlike := frozenset(each.agreement.unlike).intersection(each.counted):
            doubts.add(Reason.UNLIKE, unlike, [each.peer])
        if each.agreement.vanished:
            doubts.add(Reason.VANISHED, (), [each.peer])
        if replaced := view.replaced().intersection(each.counted):
            doubts.add(Reason.REPLACED, replaced, {peer for slot in replaced for peer in owners[slot]})
    if not all(_are_level(each, owners, view) for each in heard):
        _count_owners(_masks(heard), owners, view, doubts)


def _are_level(said: Said, by_slot: Sequence[tuple[NodeId, ...]], view: View) -> bool:
    """Whether enough owners surely agree in all slots of an answer: each mask would do for each kind of team."""
    away, min_acks = view.uncounted(), view.strategy.min_acks
    teams, masks = [by_slot[slot] for slot in said.slots], set(said.agreement.level)
    kinds = {(len(team), _places_of(team, away)) for team in teams} if away else {(n, 0) for n in set(map(len, teams))}
    return all(_is_enough(mask, owners, min_acks, places) for owners, places in kinds for mask in masks)


def _masks(said: Iterable[Said]) -> dict[int, int]:
    """The owners that agree in each slot; of both rounds' answers the one with fewer such owners counts."""
    masks: dict[int, int] = {}
    for each in said:
        counted = frozenset(each.counted)
        for slot, mask in zip(each.slots, each.agreement.level, strict=True):
            if slot in counted and ((known := masks.get(slot)) is None or mask.bit_count() < known.bit_count()):
                masks[slot] = mask
    return masks


def _other_rules(said: Said, strategy: int, owners: Sequence[tuple[NodeId, ...]]) -> Reason | None:
    agreement = said.agreement
    is_same = agreement.strategy == strategy and len(agreement.level) == len(said.slots)
    if not is_same or max(said.slots, default=0) >= len(owners):
        return Reason.STRATEGY
    return Reason.OWNERS if agreement.owners != owners_digest(owners, said.slots) else None


def _count_owners(masks: Mapping[int, int], by_slot: Sequence[tuple[NodeId, ...]], view: View, doubts: Doubts) -> None:
    min_acks, away = view.strategy.min_acks, view.uncounted()
    for slot, mask in masks.items():
        owners = by_slot[slot]
        if _is_enough(mask, len(owners), min_acks, _places_of(owners, away)):
            continue
        live = [peer for peer in counting_owners(owners, away) if view.is_live(peer)]
        if len(live) < needed_owners(len(counting_owners(owners, away)), min_acks):
            doubts.add(Reason.ASLEEP, [slot], [peer for peer in owners if peer not in live])
        else:
            others = (peer for place, peer in enumerate(owners) if not mask >> place & 1)
            doubts.add(Reason.BEHIND, [slot], [peer for peer in others if view.is_live(peer)])


def needed_owners(owners: int, min_acks: int) -> int:
    """Return how many of a slot's counted sticky owners an answerer must agree with.

    That is a majority, so that the other side of a cut has none, and at least one of any `min_acks` owners that
    acknowledged a write."""
    return max(owners // 2 + 1, owners - min_acks + 1)


def _places_of(owners: Sequence[NodeId], away: Set[NodeId]) -> int:
    """A mask of the owners that are away, the first owner's bit the lowest."""
    return sum(1 << place for place, owner in enumerate(owners) if owner in away) if away else 0


def _is_enough(mask: int, owners: int, min_acks: int, away: int) -> bool:
    """Whether enough owners agree. `mask` and `away` have a bit for each owner; owners that are away do not count."""
    counting = (1 << owners) - 1 & ~away
    return (mask & counting).bit_count() >= needed_owners(counting.bit_count(), min_acks)
