"""Answers about the best documents are asked twice, after the user has theirs: of whoever is new here, and of everybody
now and then.

Where two answers differ, the signed documents are read and a third peer is asked (`hit_disputes.py`). A peer that may
have left out something by its own word is asked for one slot alone, as deep as any node looks, and so are others.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from dht import DocumentId, Key, NodeId, Overlay, PeerAudit, Slot, Topic
from index.asking.hit_disputes import (
    Disputes,
    Testimony,
    best_rows,
    find_disputes,
    find_lacking,
    may_lack,
    says_level,
    slot_of_row,
    who_denies,
    who_miscounts,
)
from index.asking.replica_plan import Ready
from index.asking.scatter_gather import Gathered, ScatterGather, SlotQuestion
from index.change_feed import Read
from index.query.parser import Query
from index.results.answer_checks import wrong_best, wrong_hit
from index.shard.messages import AskBest, BestAnswer, HitRow

PATIENCE_S = 5.0
YOUNG_S = 60.0  # what was written later than so long ago may be on its way

AskOf = Callable[[Sequence[Slot]], AskBest]


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


class HitAudit:
    """Asks others for what peers answered, and refutes a peer that stands alone."""

    def __init__(self, audit: PeerAudit, overlay: Overlay, gather: ScatterGather, read: Read, max_depth: int) -> None:
        """`read` gives documents whose signatures were verified; `max_depth`: candidates that a peer looks at."""
        self._audit, self._overlay, self._gather, self._read = audit, overlay, gather, read
        self._max_depth = max_depth

    def offer(self, covered: Gathered[BestAnswer], query: Query, ask: AskOf) -> None:
        """Take in the answers of a round that are due to be asked twice, as many as there is room for."""
        me = self._overlay.view.node_id
        for peer, answer, slots in covered.answers:
            if self._audit.checks.has_room(Topic.HITS) and peer != me and self._audit.is_due(peer, Topic.HITS):
                given = _Given(Testimony(peer, answer, slots), query, ask)
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
        claims, before = await self._ask_of(deeper, {slot: [peer]}), {peer}
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
        for row in true:
            self._judge(row, claims, given.asked)
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
            if reason := wrong_hit(row, text, given.query):
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
        slot = slot_of_row(row, ask.slot_bits)
        is_lie = says_level(alone, slot, self._overlay.view.owners(slot), against)
        self._audit.refute(
            alone.peer, Topic.HITS, f"that it does not have document {row.id.hex()}", against, is_behind=not is_lie
        )

    async def _ask(self, given: _Given, slots: Collection[Slot], without: Iterable[NodeId]) -> list[Testimony]:
        """Ask others the same of these slots; of each slot one answers."""
        view, others = self._overlay.view, frozenset(without) | self._audit.refuted()
        if view.strategy.slot_bits != given.asked.slot_bits:
            return []
        ready = {slot: [peer for peer in view.ready(slot) if peer not in others] for slot in sorted(slots)}
        return await self._ask_of(given, {slot: peers for slot, peers in ready.items() if peers})

    async def _ask_of(self, given: _Given, ready: Ready) -> list[Testimony]:
        if not ready:
            return []

        def wrong(answer: BestAnswer, slots: Sequence[Slot]) -> str | None:
            return wrong_best(answer, given.ask(slots), given.query)

        covered = await self._gather.cover(
            ready, SlotQuestion(given.ask, BestAnswer, wrong), self._audit.now + PATIENCE_S
        )
        return [Testimony(*each) for each in covered.answers]
