"""The two rounds of a query: statistics from all slots, then the best documents by them, deeper while it can matter.

The order is *proven* when no peer left out a document that could stand among the best k. `agreement.py` judges whether
the peers' copies are the network's.
"""

from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from dht import NodeId, Overlay, PeerAudit, Slot, Topic
from index.asking.answer_audit import hold_to, settle
from index.asking.hit_audit import AskOf, HitAudit, best_question
from index.asking.rescoring import Rescoring
from index.asking.scatter_gather import NEVER, Gathered, ScatterGather, SlotQuestion, stored_only
from index.asking.search_outcome import PeerQuery, SearchOutcome, Told, brought, fill_in, newest, note_answers, summed
from index.asking.slot_bitmaps import Ready, bitmap_of, slots_of, unless
from index.config import IndexConfig
from index.query.foreign import for_asker
from index.query.parser import ReadAs, Reading, parse_query
from index.query.patterns import find_patterns, write_out
from index.query.remembered_statistics import PROPOSED_S, RememberedStatistics
from index.results.answer_checks import wrong_statistics
from index.shard.messages import MAX_K, AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from index.text.analyzer_rules import AnalyzerRules

CONFIRM_S = 0.1  # and twice what answers took, for others to confirm them
JUDGE_S = 1.0  # for a third to tell which of two is right, unless it is known to be late
MAX_KNOWN = 8  # sets of peers that are avoided, of which who else can answer is remembered
BESIDE = 8  # hits that a guess asks for besides: they show how far left-out ones reach by the right statistics
GUESSING = 0.7  # of the second round's time, for answers by a guess
NOBODY: Mapping[NodeId, BestAnswer] = {}
NONE: Mapping[str, Collection[str]] = {}
CHECKED_WITHIN_S = 5.0  # of a check that follows an answer
DEEPER = 8  # times as many candidates when a peer is asked again
Bounds = tuple[int, int, float]  # of an answer: results, candidates that are looked at, the least score


class TwoPhaseSearch:
    """Runs the two rounds of a query."""

    def __init__(
        self,
        config: IndexConfig,
        overlay: Overlay,
        remote: ScatterGather,
        audit: PeerAudit,
        hit_audit: HitAudit,
        remembered: RememberedStatistics,
    ) -> None:
        self._config, self._overlay, self._remote = config, overlay, remote
        self._audit, self._hit_audit, self._remembered = audit, hit_audit, remembered
        self._by_slot: Sequence[Sequence[NodeId]] = ()
        self._known: dict[frozenset[NodeId], Ready] = {}  # of these, by who is avoided

    async def expanded(self, asked: PeerQuery, until: float) -> PeerQuery:
        """Return a query in which each pattern is replaced by the network's words for it."""
        places, told = find_patterns(asked.text)
        if not places:
            query = replace(asked.query, readings=(*asked.query.readings, *told))
            return replace(asked, query=query, plain=query)
        patterns = tuple(dict.fromkeys(each.pattern for each in places))
        outcome = await self.statistics(replace(asked, patterns=patterns), until, frozenset())
        told += [Reading(ReadAs.EXPANDED, f"{each}: {', '.join(outcome.words[each])}") for each in patterns]
        text = write_out(asked.text, places, outcome.words)
        flags = asked.query.is_by_date, asked.query.rules, (), asked.query.is_verbatim
        query = for_asker(parse_query(text, asked.language, asked.site, *flags), asked.asker_language)
        is_sure = outcome.are_words_sure and outcome.is_answered
        query = replace(query, readings=(*query.readings, *told))
        return replace(asked, query=query, plain=query, text=query.text, are_words_sure=is_sure)

    def guessed(self, asked: PeerQuery) -> SearchOutcome | None:
        """Return an outcome whose statistics are remembered, for `best` to prove; None where they are not."""
        refuted = self._audit.refuted()
        ready = self._ready_of(self._overlay.view.ready_by_slot(answering=True), refuted)
        rules, now = (len(ready), asked.query.rules.analyzer.number), self._audit.now
        likely = self._remembered.likely(asked.unsure, rules, now)
        if likely is None or asked.query.is_by_date:
            return None
        probed = replace(asked.with_probes(_probes(likely)), unsure=())
        if (found := self._remembered.guess(probed.counted, rules)) is None:
            return None
        bent, statistics = probed.bent(found, likely)
        outcome = SearchOutcome(bent, statistics, found, ready, answered=ready.askable, is_guess=True)
        outcome.likely, outcome.shunned = likely, {*refuted}
        return outcome

    async def statistics(
        self, asked: PeerQuery, until: float, avoid: frozenset[NodeId], shown_at: float = NEVER
    ) -> SearchOutcome:
        """Ask for the statistics of every slot that somebody is ready for, until the steady instant `until`."""
        ready = self._ready_of(self._overlay.view.ready_by_slot(answering=True), self._audit.refuted())
        outcome = await self._counted(asked, ready, until, avoid, shown_at)
        likely = outcome.likely
        if any(likely.values()):  # what was proposed has to be counted, too
            asked = replace(asked.with_probes(_probes(likely)), unsure=())
            outcome = await self._counted(asked, ready, until, avoid, shown_at)
        self._note(outcome, asked, likely)
        outcome.peer_query, outcome.statistics = asked.bent(outcome.counted, likely)
        outcome.likely = likely
        return outcome

    async def learn(self, asked: PeerQuery, until: float) -> None:
        """Learn the statistics of words that nobody asks for yet."""
        ready = self._ready_of(self._overlay.view.ready_by_slot(answering=True), self._audit.refuted())
        outcome = await self._counted(asked, ready, until)
        self._note(outcome, asked)

    def hold_right(self, words: Collection[str], analyzer: AnalyzerRules, until: float) -> None:
        """Ask nobody about some words as they are written, until a steady instant: they are no slips."""
        rules = len(self._overlay.view.ready_by_slot(answering=True)), analyzer.number
        self._remembered.note_likely(dict.fromkeys(words, ()), rules, until - PROPOSED_S)

    async def _counted(
        self,
        asked: PeerQuery,
        ready: Ready,
        until: float,
        avoid: frozenset[NodeId] = frozenset(),
        shown_at: float = NEVER,
        doubted: Mapping[NodeId, BestAnswer] = NOBODY,
    ) -> SearchOutcome:
        """Ask for the statistics of the slots of `ready`. Answers of `doubted` peers brought sums; they are asked for
        these same slots, and others after them."""
        view = self._overlay.view
        by_slot, refuted = view.ready_by_slot(answering=True), self._audit.refuted()
        told = {Slot(slot): (peer,) for peer, answer in doubted.items() for slot in answer.slots if slot in ready}
        first = Ready({**ready, **told}) if told else ready
        question, from_store = (_statistics_question(asked, len(by_slot), each) for each in (False, True))

        def cover(
            ready: Ready, until: float, covered: Gathered[StatisticsAnswer] | None = None
        ) -> Awaitable[Gathered[StatisticsAnswer]]:
            return self._remote.cover(ready, question, until, avoid, shown_at, covered)

        began = self._audit.now
        covered = await cover(first, until)
        if left := self._left(first, covered.slots, len(by_slot)):
            await cover(left, until, covered)
        hold_to(self._audit, covered, doubted)
        patience_s = max(CONFIRM_S, 2 * (self._audit.now - began))  # nobody has to wait for a peer that is silent

        def confirm(ready: Ready) -> Awaitable[Gathered[StatisticsAnswer]]:
            return cover(ready, min(until, self._audit.now + patience_s))

        async def judge(ready: Ready) -> Gathered[StatisticsAnswer]:
            is_late = any(self._overlay.late.is_late(peer) for peers in ready.values() for peer in peers)
            patient_until = min(until, self._audit.now + patience_s + (0.0 if is_late else JUDGE_S))
            judged = await cover(ready, patient_until)
            stored = stored_only(view, slots_of(bitmap_of(ready) & ~judged.slots), refuted)
            return await self._remote.cover(stored, from_store, patient_until, avoid, covered=judged)

        others = [peer for peer, _, _ in covered.answers if peer != view.node_id]
        due = {peer for peer in others if peer in doubted or self._audit.is_due(peer, Topic.STATISTICS)}
        disputed = await settle(self._audit, covered, ready, due, confirm, judge)
        outcome = summed(asked, covered, ready)
        outcome.disputed = disputed
        outcome.shunned |= self._audit.refuted()
        return outcome

    async def best(
        self,
        outcome: SearchOutcome,
        k: int,
        per_host: int,
        until: float,
        avoid: frozenset[NodeId],
        shown_at: float = NEVER,
    ) -> None:
        """Ask for the best `k`, of each host `per_host`, of all answered slots, and fill in the outcome."""
        open_, best = self._ready(outcome.answered, outcome), list[Told]()
        depth = min(self._config.first_depth, self._config.max_depth)
        floor, outcome.rescoring = 0.0, None
        while True:
            coming = outcome.coming = Gathered()
            asked_for = min(k + BESIDE, MAX_K) if outcome.is_guess else k
            asked = outcome.peer_query
            ask = _ask_best(outcome, (asked_for, depth, max(floor, 0.0)), per_host)
            counted = len(asked.counted) if outcome.is_guess else 0
            question, now = best_question(asked.query, ask, counted), self._audit.now
            by = now + GUESSING * (until - now) if outcome.is_guess else until
            await self._remote.cover(open_, question, by, avoid, shown_at, coming)
            if left := self._left(open_, coming.slots, outcome.slots):
                await self._remote.cover(left, question, by, avoid, shown_at, coming)
            note_answers(outcome, coming)
            self._hit_audit.offer(coming, asked.query, ask)
            if outcome.is_guess and not await self._is_proved(outcome, asked_for, until, avoid, shown_at):
                open_ = self._ready(outcome.answered, outcome)
                continue
            best = newest(best, coming)
            outcome.best, outcome.coming = best, Gathered()
            loose, floor = fill_in(outcome, k, per_host)
            if not loose or depth >= self._config.max_depth or not coming.answers:
                break
            depth, ready = min(depth * DEEPER, self._config.max_depth), self._ready(loose, outcome)
            me, open_ = self._overlay.view.node_id, Ready()  # only the node's own bounds are surely true
            for peer, _, slots in best:
                open_.update((slot, unless(ready[slot], {peer} - {me})) for slot in slots_of(slots & loose))
        outcome.answered = Gathered(best).slots

    async def _is_proved(
        self,
        outcome: SearchOutcome,
        k: int,
        until: float,
        avoid: frozenset[NodeId],
        shown_at: float,
    ) -> bool:
        """Put the statistics that the answers brought in place of the guessed ones, and score by them. New peers are
        asked for theirs by slot before, and so is whose answer counts for some of its slots alone. False where these
        gave none, a peer was refuted or other alternatives follow: the best have to be asked for again."""
        asked, guess, coming, me = outcome.peer_query, outcome.statistics, outcome.coming, self._overlay.view.node_id
        is_new = self._audit.sampling.is_new
        new = {peer for peer, _, _ in coming.answers if peer != me and is_new(peer, Topic.STATISTICS)}
        sums, unsure = brought(coming, new)
        for peer, told, slots in coming.answers:
            if not slots & unsure and peer != me and self._audit.is_due(peer, Topic.STATISTICS):
                self._audit.checks.offer(Topic.STATISTICS, partial(self._check, asked, peer, told))
        doubted = {peer: told for peer, told, _ in coming.answers if peer in new}
        again = summed(asked, Gathered(), Ready())
        if unsure:
            again = await self._counted(asked, outcome.ready.within(unsure), until, avoid, shown_at, doubted)
        outcome.prove(sums, again)
        outcome.answered = coming.slots & ~unsure | again.answered
        self._note(outcome, asked)
        is_bent = outcome.peer_query.query.bent != asked.query.bent
        if outcome.answered != coming.slots or not self._audit.refuted().isdisjoint(new) or is_bent:
            return False
        if outcome.statistics != guess:
            outcome.rescoring = Rescoring(asked.query, guess, outcome.statistics, k)
            coming.answers = [(peer, outcome.rescoring.answer(told), slots) for peer, told, slots in coming.answers]
        return True

    def _note(self, outcome: SearchOutcome, asked: PeerQuery, likely: Mapping[str, Collection[str]] = NONE) -> None:
        """Remember the sums of all slots, and what was proposed."""
        if outcome.is_answered and not outcome.disputed:
            rules = outcome.slots, asked.query.rules.analyzer.number
            self._remembered.note(asked.counted, rules, outcome.counted)
            self._remembered.note_likely(likely, rules, self._audit.now)

    async def _check(self, asked: PeerQuery, peer: NodeId, told: BestAnswer) -> None:
        """Hold a peer to the sums that it brought: it and others are asked for the statistics of these slots."""
        slots, by_slot = bitmap_of(told.slots), self._overlay.view.ready_by_slot(answering=True)
        if slots and slots.bit_length() <= len(by_slot):
            ready = self._ready_of(by_slot, self._audit.refuted()).within(slots)
            await self._counted(asked, ready, self._audit.now + CHECKED_WITHIN_S, doubted={peer: told})

    async def own(self, asked: PeerQuery, k: int, per_host: int, until: float) -> SearchOutcome:
        """Find the best of this node's own slots, by their own statistics; no peer is asked."""
        me, by_slot = self._overlay.view.node_id, self._overlay.view.ready_by_slot(answering=True)
        ready = Ready({Slot(slot): (me,) if me in peers else () for slot, peers in enumerate(by_slot)})
        counted = await self._remote.cover(ready, _statistics_question(asked, len(ready)), until)
        outcome, depth = summed(asked, counted, ready), min(self._config.first_depth, self._config.max_depth)
        question = best_question(asked.query, _ask_best(outcome, (k, depth, 0.0), per_host))
        outcome.coming = await self._remote.cover(ready, question, until)
        return self.so_far(outcome, k, per_host)

    def so_far(self, outcome: SearchOutcome, k: int, per_host: int) -> SearchOutcome:
        """Return what the second round has found by now; who has not answered yet counts as silent."""
        coming = replace(outcome.coming, late=outcome.coming.asked - {peer for peer, _, _ in outcome.coming.answers})
        known = replace(
            outcome,
            said=list(outcome.said),
            asked=set(outcome.asked),
            silent=set(outcome.silent),
            replied=set(outcome.replied),
            shunned=set(outcome.shunned),
            best=newest(outcome.best, coming),
        )
        note_answers(known, coming)
        fill_in(known, k, per_host)
        known.answered, known.proven = Gathered(known.best).slots, False
        return known

    def _ready_of(self, by_slot: Sequence[Sequence[NodeId]], avoid: Collection[NodeId]) -> Ready:
        """Return the ready peers of every slot, none to be avoided where there is another. Few such answers are
        remembered, until `by_slot` is another object."""
        if self._by_slot is not by_slot or len(self._known) >= MAX_KNOWN:
            self._by_slot, self._known = by_slot, {}
        key = frozenset(avoid)
        if key not in self._known:
            self._known[key] = Ready(zip(map(Slot, range(len(by_slot))), by_slot, strict=True)).without(key)
        return self._known[key]

    def _ready(self, slots: int, outcome: SearchOutcome) -> Ready:
        """The peers to ask for each of these slots: none that just failed, where there is another."""
        now = self._overlay.view.ready_by_slot(answering=True)  # who became ready meanwhile may be asked too
        by_slot = now if len(now) == outcome.slots else tuple(outcome.ready.values())
        return self._ready_of(by_slot, outcome.shunned).within(slots)

    def _left(self, asked: Ready, answered: int, slot_count: int) -> Ready:
        """Return the slots of `asked` that nobody answered, each with further peers: those ready by now, and its
        owners. The peers that were asked may all have just handed the slot over. Refuted peers are left out."""
        view, open_, left = self._overlay.view, asked.askable & ~answered, Ready()
        if not open_ or len(now := view.ready_by_slot(answering=True)) != slot_count:
            return left
        refuted = self._audit.refuted()
        for slot in slots_of(open_):
            others = dict.fromkeys((*now[slot], *view.owners(slot)))
            if peers := [peer for peer in others if peer not in asked[slot] and peer not in refuted]:
                left[slot] = peers
        return left


def _statistics_question(asked: PeerQuery, slot_count: int, from_store: bool = False) -> SlotQuestion[StatisticsAnswer]:
    analyzer, patterns = asked.query.rules.analyzer.number, tuple(map(str, asked.patterns))
    bits, unsure = slot_count.bit_length() - 1, () if from_store else asked.unsure

    def ask(slots: Sequence[Slot]) -> AskStatistics:
        words = asked.text, asked.language, asked.site, asked.probes, () if from_store else patterns
        return AskStatistics(analyzer, bits, tuple(slots), *words, from_store, unsure, asked.plain.is_verbatim)

    def wrong(answer: StatisticsAnswer, slots: Sequence[Slot]) -> str | None:
        return wrong_statistics(answer, slots, len(asked.counted), len(unsure), asked.query.rules)

    return SlotQuestion(ask, StatisticsAnswer, wrong)


def _probes(likely: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Words for which others were proposed, and these."""
    return chain.from_iterable((word, *others) for word, others in likely.items() if others)


def _ask_best(outcome: SearchOutcome, bounds: Bounds, per_host: int) -> AskOf:
    """Return what asks for the best of some slots."""
    asked, sums = outcome.peer_query, outcome.statistics
    rules = *asked.query.rules.numbers, outcome.slots.bit_length() - 1
    numbers = sums.documents, sums.lengths, sums.df
    narrow, flags = (asked.language, asked.site), (asked.facets, asked.query.is_by_date)
    guess = (True, asked.probes) if outcome.is_guess else (False, ())
    bent, asker = (asked.query.bent, asked.query.is_verbatim), asked.asker_language

    def ask(slots: Sequence[Slot]) -> AskBest:
        return AskBest(
            *rules, tuple(slots), asked.text, *numbers, *bounds, *narrow, per_host, *flags, (), *guess, *bent, asker
        )

    return ask
