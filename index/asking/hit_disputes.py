"""Finds where answers to one question for the best documents contradict each other.

Pure: answers in, disputes out. An answer says which documents are the best of its slots, and that nothing else scores
above its bound: so it denies every document that it should have named and did not. Copies of a slot may honestly differ
in what was written lately, and an answerer may say that its copy is behind; who says that it is level with others and
denies what they have had for long does not tell the truth. Nor does who may have left out documents of a slot of which
others, asked just the same, scored every match.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dht import NodeId, Slot, slot_of
from index.shard.messages import AskBest, BestAnswer, HitRow

MAX_ROWS = 8  # of one dispute whose documents are read; one is enough


class Testimony(NamedTuple):
    """One peer's answer, and the slots for which it counts."""

    peer: NodeId
    answer: BestAnswer
    slots: frozenset[Slot]


@dataclass(slots=True)
class Disputes:
    """The disputed parts of answers: documents, as somebody names them, and numbers of slots."""

    rows: dict[Slot, list[HitRow]] = field(default_factory=dict)
    counts: set[Slot] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.rows or self.counts)

    def of_rows(self, rows: Collection[HitRow], slot_bits: int) -> "Disputes":
        """Return what is left where only these documents matter."""
        left = Disputes(counts=self.counts)
        for row in rows:
            left.rows.setdefault(slot_of_row(row, slot_bits), []).append(row)
        return left

    @property
    def slots(self) -> frozenset[Slot]:
        """In which slots anything is disputed."""
        return frozenset(self.rows) | self.counts


def slot_of_row(row: HitRow, slot_bits: int) -> Slot:
    """Return the slot of a document."""
    return slot_of(row.key, slot_bits)


def denied(answer: BestAnswer, rows: Iterable[HitRow], ask: AskBest) -> list[HitRow]:
    """Return those rows, best first, that whoever answered so should have named just like this, and did not."""
    named = {hit.id: hit for hit in answer.hits}
    last = answer.hits[-1].place if len(answer.hits) >= ask.k else None
    found = []
    for row in rows:
        if named.get(row.id) == row or row.score <= answer.bound or row.score <= ask.floor:
            continue
        if last is not None and row.place > last:
            continue
        if ask.per_host and _before(answer, row)[row.host] >= ask.per_host:
            continue
        found.append(row)
    return found


def find_disputes(one: Testimony, others: Sequence[Testimony], ask: AskBest) -> Disputes:
    """Hold one answer against those of others for the same slots."""
    disputes = Disputes()
    for other in others:
        shared = one.slots & other.slots
        for accuser, accused in ((other, one), (one, other)):
            rows = [hit for hit in accuser.answer.hits if slot_of_row(hit, ask.slot_bits) in shared]
            for row in denied(accused.answer, rows, ask):
                disputes.rows.setdefault(slot_of_row(row, ask.slot_bits), []).append(row)
        disputes.counts |= {slot for slot in shared if count_of(one.answer, slot) != count_of(other.answer, slot)}
    return disputes


def may_lack(answer: BestAnswer, ask: AskBest) -> bool:
    """Tell whether whoever answered so says that documents better than its last ones may be left out."""
    least = answer.hits[-1].score if len(answer.hits) >= ask.k else ask.floor
    return not answer.complete and answer.bound > least


def find_lacking(claims: Sequence[Testimony], ask: AskBest) -> tuple[NodeId, Slot] | None:
    """Return who says that it may have left out documents, and a slot of which another scored every match; of those
    slots one where it leaves out what the other names, if there is any."""
    if ask.by_date:
        return None  # of the newest any bound may be too much
    for claim in claims:
        others = [each for each in claims if each.answer.complete and each.slots & claim.slots]
        if others and may_lack(claim.answer, ask):
            rows = {slot_of_row(hit, ask.slot_bits) for each in others for hit in each.answer.hits}
            shared = {slot for each in others for slot in each.slots & claim.slots}
            return claim.peer, min(rows & shared or shared)
    return None


def best_rows(disputes: Disputes) -> list[HitRow]:
    """Return the disputed rows that stand first: whoever lies, lies about these."""
    rows = {(row.id, row): row for rows in disputes.rows.values() for row in rows}
    return sorted(rows.values(), key=lambda row: row.place)[:MAX_ROWS]


def who_denies(row: HitRow, claims: Iterable[Testimony], ask: AskBest) -> tuple[list[Testimony], list[Testimony]]:
    """Return who names a document just like this, and who denies it."""
    slot = slot_of_row(row, ask.slot_bits)
    heard = [claim for claim in claims if slot in claim.slots]
    naming = [claim for claim in heard if row in claim.answer.hits]
    return naming, [claim for claim in heard if denied(claim.answer, [row], ask)]


def who_miscounts(slot: Slot, claims: Iterable[Testimony]) -> Testimony | None:
    """Return who stands alone with its count of a slot, where two others agree."""
    heard = [claim for claim in claims if slot in claim.slots]
    if len(heard) != 3:
        return None
    counts = Counter(count_of(claim.answer, slot) for claim in heard)
    return next((claim for claim in heard if len(counts) == 2 and counts[count_of(claim.answer, slot)] == 1), None)


def says_level(claim: Testimony, slot: Slot, owners: Sequence[NodeId], others: Iterable[NodeId]) -> bool:
    """Tell whether an answer says that its copy of a slot is level with those of these others."""
    level: Mapping[int, int] = dict(zip(claim.answer.slots, claim.answer.agreement.level, strict=False))
    mask = level.get(slot, 0)
    own = {claim.peer} & {*owners}  # its own says that its index keeps up
    return all(peer in owners and mask >> owners.index(peer) & 1 for peer in own.union(others))


def count_of(answer: BestAnswer, slot: Slot) -> int:
    """Return how many matches an answer counts in a slot."""
    return answer.counts[answer.slots.index(slot)]


def _before(answer: BestAnswer, row: HitRow) -> Counter[bytes]:
    return Counter(hit.host for hit in answer.hits if hit.place < row.place)
