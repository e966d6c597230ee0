"""Answers about the best documents are asked twice, after the user has theirs: of whoever is new here, and of everybody
now and then.

Where two answers differ, the signed documents are read and a third peer is asked. A peer whose own answer shows that it
may have left something out is asked for one slot alone, as deep as any node looks. So are others.

An answer says which documents are the best of its slots, and that nothing else scores above its bound. So it denies
every document that it should have named and did not. Copies of a slot may honestly differ in what was written lately,
and an answerer may say that its copy is behind. An answerer lies that is level with others and denies what they have
had for long. So does one that may have left out documents of a slot of which others, asked just the same, scored every
match.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from dht import DocumentId, Key, NodeId, Overlay, PeerAudit, Slot, Topic, slot_of
from index.asking.scatter_gather import Gathered, ScatterGather, SlotQuestion, stored_only
from index.asking.slot_bitmaps import Ready, slots_of
from index.change_feed import Read
from index.engine.analysed_pages import AnalysedPages
from index.query.parser import Query
from index.results.answer_checks import wrong_best, wrong_hit
from index.shard.messages import AskBest, BestAnswer, HitRow

PATIENCE_S = 5.0
YOUNG_S = 60.0  # what was written later than so long ago may be on its way
MAX_ROWS = 8  # of one dispute whose documents are read; one is enough

AskOf = Callable[[Sequence[Slot]], AskBest]


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
            left.rows.setdefault(slot_of(row.key, slot_bits), []).append(row)
        return left

    @property
    def slots(self) -> frozenset[Slot]:
        """In which slots anything is disputed."""
        return frozenset(self.rows) | self.counts


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
            rows = [hit for hit in accuser.answer.hits if slot_of(hit.key, ask.slot_bits) in shared]
            for row in denied(accused.answer, rows, ask):
                disputes.rows.setdefault(slot_of(row.key, ask.slot_bits), []).append(row)
        disputes.counts |= {slot for slot in shared if count_of(one.answer, slot) != count_of(other.answer, slot)}
    return disputes


def may_lack(answer: BestAnswer, ask: AskBest) -> bool:
    """Tell whether whoever answered so says that documents better than its last ones may be left out."""
    least = answer.hits[-1].score if len(answer.hits) >= ask.k else ask.floor
    return not answer.complete and answer.bound > least


def find_lacking(claims: Sequence[Testimony], ask: AskBest) -> tuple[NodeId, Slot] | None:
    """Return a peer whose answer may leave out documents by its own bound, and a slot of which another peer scored
    every match. Of several slots one counts in which the other peer named a hit, if there is any. None: there is no
    such peer."""
    if ask.by_date:
        return None  # of the newest any bound may be too much
    for claim in claims:
        others = [each for each in claims if each.answer.complete and each.slots & claim.slots]
        if others and may_lack(claim.answer, ask):
            rows = {slot_of(hit.key, ask.slot_bits) for each in others for hit in each.answer.hits}
            shared = {slot for each in others for slot in each.slots & claim.slots}
            return claim.peer, min(rows & shared or shared)
    return None


def best_rows(disputes: Disputes) -> list[HitRow]:
    """Return the disputed rows that stand first: whoever lies, lies about these."""
    rows = {(row.id, row): row for rows in disputes.rows.values() for row in rows}
    return sorted(rows.values(), key=lambda row: row.place)[:MAX_ROWS]


def who_denies(row: HitRow, claims: Iterable[Testimony], ask: AskBest) -> tuple[list[Testimony], list[Testimony]]:
    """Return who names a document just like this, and who denies it."""
    slot = slot_of(row.key, ask.slot_bits)
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


@dataclass(frozen=True, slots=True)
class _Given:
    """An answer that was used, and the question that it answers."""

    claim: Testimony
    query: Query
    ask: AskOf

    @property
    def asked(self) -> AskBest:
        """The question about its slots."""
        return self.ask(sorted(self.claim.slots))


def best_question(query: Query, ask: AskOf, counted: int = 0) -> SlotQuestion[BestAnswer]:
    """Return the question for the best documents, with the check that its answers must pass. `counted`: leaves and
    probes of which they bring sums."""

    def wrong(answer: BestAnswer, slots: Sequence[Slot]) -> str | None:
        return wrong_best(answer, ask(slots), query, counted)

    return SlotQuestion(ask, BestAnswer, wrong)


class HitAudit:
    """Asks others for what peers answered, and refutes a peer that stands alone."""

    def __init__(
        self,
        audit: PeerAudit,
        overlay: Overlay,
        gather: ScatterGather,
        read: Read,
        max_depth: int,
        analysed: AnalysedPages,
    ) -> None:
        """`read` gives documents whose signatures were verified; `max_depth`: candidates that a peer looks at."""
        self._audit, self._overlay, self._gather, self._read = audit, overlay, gather, read
        self._max_depth, self._analysed = max_depth, analysed

    def offer(self, covered: Gathered[BestAnswer], query: Query, ask: AskOf) -> None:
        """Take in the answers of a round that are due to be asked twice, as many as there is room for."""
        me = self._overlay.view.node_id

        def without_sums(slots: Sequence[Slot]) -> AskBest:
            return replace(ask(slots), sums=False, probes=())

        for peer, answer, slots in covered.answers:
            if self._audit.checks.has_room(Topic.HITS) and peer != me and self._audit.is_due(peer, Topic.HITS):
                given = _Given(Testimony(peer, answer, frozenset(slots_of(slots))), query, without_sums)
                self._audit.checks.offer(Topic.HITS, partial(self._confirm, given))

    async def _confirm(self, given: _Given) -> None:
        first = given.claim
        if self._audit.is_avoided(first.peer):
            return
        second = await self._ask(given, first.slots, {first.peer})
        disputes = find_disputes(first, second, given.asked)
        if disputes:
            await self._settle(given, [first, *second], disputes)
        elif lacking := find_lacking([first, *second], given.asked):
            await self._ask_deeper(given, *lacking)
        elif second:
            self._audit.agreed(first.peer, Topic.HITS)

    async def _ask_deeper(self, given: _Given, peer: NodeId, slot: Slot) -> None:
        """Ask a peer that may have left out something for one slot alone, and two others the same."""
        deeper = _Given(given.claim, given.query, lambda slots: replace(given.ask(slots), depth=self._max_depth))
        claims, before = await self._ask_of(deeper, Ready({slot: [peer]})), {peer}
        if not claims or not may_lack(claims[0].answer, deeper.ask([slot])):
            return
        for _ in range(2):
            claims += await self._ask(deeper, [slot], before)
            before = {claim.peer for claim in claims}
        against = [claim.peer for claim in claims[1:] if claim.answer.complete]
        if len(against) > 1:
            what = f"that it may have left out matches in slot {slot}, of which others left out none"
            self._audit.refute(peer, Topic.HITS, what, against, is_behind=True)

    async def _settle(self, given: _Given, claims: list[Testimony], disputes: Disputes) -> None:
        true = await self._true_rows(given, claims, best_rows(disputes))
        left = disputes.of_rows(true, given.asked.slot_bits)
        if not left:
            return
        claims += await self._ask(given, left.slots, {claim.peer for claim in claims})
        stored = await self._ask_stored(given, true)
        for row in true:
            self._judge(row, [*claims, *stored], given.asked)
        alone = {each.peer: slot for slot in left.counts if (each := who_miscounts(slot, claims))}
        for peer, slot in alone.items():
            others = [claim.peer for claim in claims if slot in claim.slots and claim.peer != peer]
            self._audit.differs(peer, Topic.HITS, f"another number of matches in slot {slot}", others)

    async def _true_rows(self, given: _Given, claims: Sequence[Testimony], rows: Sequence[HitRow]) -> list[HitRow]:
        """Return those rows that say what their signed documents do, and did so a while ago; refute who made up any."""
        texts = await self._read([(DocumentId(row.id), Key(row.key)) for row in rows]) if rows else {}
        true = []
        for row in rows:
            await asyncio.sleep(0)  # each takes a millisecond
            text = texts.get(DocumentId(row.id))
            if text is None or text.version != row.version:
                continue  # it changed, or nobody has it: what is shown is checked
            forward = self._analysed.forward_of(text, given.query.rules.analyzer)
            if reason := wrong_hit(row, text, forward, given.query):
                for claim in who_denies(row, claims, given.asked)[0]:
                    self._audit.refute(claim.peer, Topic.HITS, reason)
            elif text.written_at < self._audit.wall - YOUNG_S:
                true.append(row)
        return true

    def _judge(self, row: HitRow, claims: Sequence[Testimony], ask: AskBest) -> None:
        """Refute who alone denies a document that two others name."""
        naming, denying = who_denies(row, claims, ask)
        if len(naming) < 2 or len(denying) != 1:
            return
        (alone,), against = denying, [claim.peer for claim in naming]
        slot = slot_of(row.key, ask.slot_bits)
        is_lie = says_level(alone, slot, self._overlay.view.owners(slot), against)
        self._audit.refute(
            alone.peer, Topic.HITS, f"that it does not have document {row.id.hex()}", against, is_behind=not is_lie
        )

    async def _ask_stored(self, given: _Given, rows: Sequence[HitRow]) -> list[Testimony]:
        """Ask those who only store the slots of some documents whether they have these, as the rows say."""
        bits, named = given.asked.slot_bits, tuple(row.id for row in rows)
        if self._overlay.view.strategy.slot_bits != bits:
            return []
        slots = {slot_of(row.key, bits) for row in rows}
        stored = stored_only(self._overlay.view, slots, self._audit.refuted())
        asked = _Given(given.claim, given.query, lambda slots: replace(given.ask(slots), named=named, facets=False))
        return await self._ask_of(asked, stored)

    async def _ask(self, given: _Given, slots: Collection[Slot], without: Iterable[NodeId]) -> list[Testimony]:
        """Ask others the same of these slots; of each slot one answers."""
        view, others = self._overlay.view, frozenset(without) | self._audit.refuted()
        if view.strategy.slot_bits != given.asked.slot_bits:
            return []
        ready = {
            slot: [peer for peer in view.ready(slot, answering=True) if peer not in others] for slot in sorted(slots)
        }
        return await self._ask_of(given, Ready({slot: peers for slot, peers in ready.items() if peers}))

    async def _ask_of(self, given: _Given, ready: Ready) -> list[Testimony]:
        if not ready:
            return []
        question = best_question(given.query, given.ask)
        covered = await self._gather.cover(ready, question, self._audit.now + PATIENCE_S)
        return [Testimony(peer, answer, frozenset(slots_of(slots))) for peer, answer, slots in covered.answers]
