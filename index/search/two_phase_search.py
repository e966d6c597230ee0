"""The two rounds of a query: statistics from all slots, then the best documents by them, deeper while it can matter.

The order is *proven* when no peer left out a document that could stand among the best k. Whether the peers' copies are
what the network holds, `agreement.py` tells from what they say beside their answers.
"""

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import cast

from dht import NodeId, Overlay, PeerAudit, Slot
from index.config import IndexConfig
from index.query.collection_statistics import Statistics, total
from index.query.parser import Query, ReadAs, Reading, parse_query
from index.query.patterns import WordPattern, find_patterns, write_out
from index.search.agreement import Said
from index.search.answer_audit import settle
from index.search.answer_checks import wrong_best, wrong_statistics
from index.search.expansion import expand
from index.search.facets import FacetSums, facet_sums
from index.search.hit_audit import AskOf, HitAudit
from index.search.replica_plan import Ready
from index.search.scatter_gather import NEVER, Gathered, ScatterGather
from index.search.site_hits import SiteHits, site_hits
from index.search.top_k_merge import MergedHit, merge
from index.shard.messages import AskBest, AskStatistics, BestAnswer, StatisticsAnswer

CONFIRM_S = 0.1  # and twice what answers took, for others to confirm them
DEEPER = 8  # times as many candidates when a peer is asked again
Told = tuple[NodeId, BestAnswer]
Bounds = tuple[int, int, float]  # of an answer: results, candidates that are looked at, the least score


@dataclass(frozen=True, slots=True)
class PeerQuery:
    """One query as it goes to peers: the parsed form and what both sides parse it from."""

    query: Query
    text: str
    language: str
    site: str
    spellings: tuple[str, ...] = ()  # words as written, of which the first round also asks in how many documents
    patterns: tuple[WordPattern, ...] = ()  # of which the first round also asks what words they stand for
    facets: bool = False  # whether the second round counts by site, language, year and type
    are_words_sure: bool = True  # whether other nodes write out the same words for the patterns that were typed


@dataclass(slots=True)
class SearchOutcome:
    """What the two rounds gave. `order`: the best k, before folding; `more`: whether others may follow them."""

    statistics: Statistics
    slots: int
    slot_bits: int  # of both rounds, whatever becomes of the strategy between them
    ready: Ready  # as the first round saw them
    order: list[MergedHit] = field(default_factory=list)
    answered: frozenset[Slot] = frozenset()
    total: int = 0
    proven: bool = False  # no document that was left out could stand among the best
    said: list[Said] = field(default_factory=list)  # of both rounds, by those whose answers count
    more: bool = False
    sites: SiteHits = field(default_factory=SiteHits)
    facets: FacetSums = field(default_factory=FacetSums)
    asked: set[NodeId] = field(default_factory=set)
    silent: set[NodeId] = field(default_factory=set)
    replied: set[NodeId] = field(default_factory=set)
    spellings: dict[str, int] = field(default_factory=dict)  # how many documents hold each
    words: dict[WordPattern, list[str]] = field(default_factory=dict)  # that each pattern stands for
    are_words_sure: bool = True
    disputed: Mapping[Slot, Collection[NodeId]] = field(default_factory=dict)  # whose statistics cannot both be true
    best: dict[Slot, Told] = field(default_factory=dict)  # whose best documents count for each slot
    coming: Gathered[BestAnswer] = field(default_factory=Gathered)  # answers about them of those who are being asked
    shunned: set[NodeId] = field(default_factory=set)  # silent, failed or refuted: asked only where nobody else is


class TwoPhaseSearch:
    """Runs the two rounds of a query."""

    def __init__(
        self, config: IndexConfig, overlay: Overlay, remote: ScatterGather, audit: PeerAudit, hit_audit: HitAudit
    ) -> None:
        self._config, self._overlay, self._remote = config, overlay, remote
        self._audit, self._hit_audit = audit, hit_audit

    async def expanded(self, asked: PeerQuery, until: float) -> PeerQuery:
        """Write a query with what its patterns stand for in the network; it is the same where there are none."""
        places, told = find_patterns(asked.text, asked.query.rules.analyzer.characters)
        if not places:
            return replace(asked, query=replace(asked.query, readings=(*asked.query.readings, *told)))
        patterns = tuple(dict.fromkeys(each.pattern for each in places))
        outcome = await self.statistics(replace(asked, spellings=(), patterns=patterns), until, frozenset())
        told += [Reading(ReadAs.EXPANDED, f"{each}: {', '.join(outcome.words[each])}") for each in patterns]
        text = write_out(asked.text, places, outcome.words)
        query = parse_query(text, asked.language, asked.site, asked.query.is_by_date, asked.query.rules)
        is_sure = outcome.are_words_sure and len(outcome.answered) == outcome.slots
        query = replace(query, readings=(*query.readings, *told))
        return replace(asked, query=query, text=query.text, are_words_sure=is_sure)

    async def statistics(
        self, asked: PeerQuery, until: float, avoid: frozenset[NodeId], shown_at: float = NEVER
    ) -> SearchOutcome:
        """Ask for the statistics of every slot that somebody is ready for, until the steady instant `until`."""
        view = self._overlay.view
        by_slot, refuted = view.ready_by_slot(), self._audit.refuted()
        ready = _ready(cast(Sequence[Slot], range(len(by_slot))), by_slot, refuted)

        def cover(ready: Ready, until: float) -> Awaitable[Gathered[StatisticsAnswer]]:
            return self._ask_statistics(asked, len(by_slot), ready, until, avoid, shown_at)

        began = self._audit.now
        covered = await cover(ready, until)
        patience_s = max(CONFIRM_S, 2 * (self._audit.now - began))  # nobody has to wait for a peer that is silent

        def confirm(ready: Ready) -> Awaitable[Gathered[StatisticsAnswer]]:
            return cover(ready, min(until, self._audit.now + patience_s))

        disputed = await settle(self._audit, covered, ready, view.node_id, confirm)
        outcome = _summed(asked, covered, ready)
        outcome.disputed = disputed
        outcome.shunned |= self._audit.refuted()
        return outcome

    async def best(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        k: int,
        per_host: int,
        until: float,
        avoid: frozenset[NodeId],
        shown_at: float = NEVER,
    ) -> None:
        """Ask for the best `k`, of each host `per_host`, of all answered slots, and fill in the outcome."""
        open_ = self._ready(sorted(outcome.answered), outcome)
        best: dict[Slot, Told] = {}
        depth, floor = min(self._config.first_depth, self._config.max_depth), 0.0
        while True:
            coming = outcome.coming = Gathered()
            bounds = k, depth, max(floor, 0.0)
            await self._ask_best(asked, outcome, bounds, per_host, open_, until, avoid, shown_at)
            self._hit_audit.offer(coming, asked.query, self._question(asked, outcome, bounds, per_host))
            _note(outcome, coming)
            best |= _told(coming)
            outcome.best, outcome.coming = best, Gathered()
            loose, floor = _fill_in(outcome, asked, k, per_host)
            if not loose or depth >= self._config.max_depth or not coming.answers:
                break
            depth, open_ = min(depth * DEEPER, self._config.max_depth), self._ready(sorted(loose), outcome)
            me = self._overlay.view.node_id  # of others nothing tells whether their bounds are true
            open_ = {slot: _unless(peers, {best[slot][0]} - {me}) for slot, peers in open_.items()}
        outcome.answered = frozenset(best)

    async def own(self, asked: PeerQuery, k: int, per_host: int, until: float) -> SearchOutcome:
        """Find the best of this node's own slots, by their own statistics; no peer is asked."""
        me, by_slot = self._overlay.view.node_id, self._overlay.view.ready_by_slot()
        ready: dict[Slot, Sequence[NodeId]] = {
            Slot(slot): (me,) if me in peers else () for slot, peers in enumerate(by_slot)
        }
        own, nobody = {slot: peers for slot, peers in ready.items() if peers}, frozenset[NodeId]()
        outcome = _summed(asked, await self._ask_statistics(asked, len(ready), own, until, nobody, NEVER), ready)
        bounds = k, min(self._config.first_depth, self._config.max_depth), 0.0
        await self._ask_best(asked, outcome, bounds, per_host, own, until, nobody, NEVER)
        return self.so_far(asked, outcome, k, per_host)

    def so_far(self, asked: PeerQuery, outcome: SearchOutcome, k: int, per_host: int) -> SearchOutcome:
        """Return what the second round has found by now; who has not answered yet counts as silent."""
        coming = replace(outcome.coming, late=outcome.coming.asked - {peer for peer, _, _ in outcome.coming.answers})
        known = replace(
            outcome,
            said=list(outcome.said),
            asked=set(outcome.asked),
            silent=set(outcome.silent),
            replied=set(outcome.replied),
            shunned=set(outcome.shunned),
            best=outcome.best | _told(coming),
        )
        _note(known, coming)
        _fill_in(known, asked, k, per_host)
        known.answered, known.proven = frozenset(known.best), False
        return known

    def _ready(self, slots: Sequence[Slot], outcome: SearchOutcome) -> Ready:
        """Who may be asked for these slots: not those that just failed, where there is another."""
        now = self._overlay.view.ready_by_slot()  # who became ready meanwhile may be asked too
        return _ready(slots, now if len(now) == outcome.slots else outcome.ready, outcome.shunned)

    def _ask_statistics(
        self,
        asked: PeerQuery,
        slot_count: int,
        ready: Ready,
        until: float,
        avoid: frozenset[NodeId],
        shown_at: float,
    ) -> Awaitable[Gathered[StatisticsAnswer]]:
        analyzer, patterns = asked.query.rules.analyzer.number, tuple(map(str, asked.patterns))
        bits = slot_count.bit_length() - 1

        def ask(slots: Sequence[Slot]) -> AskStatistics:
            words = asked.text, asked.language, asked.site, asked.spellings, patterns
            return AskStatistics(analyzer, bits, tuple(slots), *words)

        def wrong(answer: StatisticsAnswer, slots: Sequence[Slot]) -> str | None:
            return wrong_statistics(answer, slots, asked.query, len(asked.spellings))

        some = ready if all(ready.values()) else {slot: peers for slot, peers in ready.items() if peers}
        return self._remote.cover(some, ask, StatisticsAnswer, wrong, until, avoid, shown_at)

    def _question(self, asked: PeerQuery, outcome: SearchOutcome, bounds: Bounds, per_host: int) -> AskOf:
        """Return what asks for the best of some slots."""
        sums = outcome.statistics
        rules = *asked.query.rules.numbers, outcome.slot_bits
        numbers = sums.documents, sums.lengths, sums.df
        narrow, flags = (asked.language, asked.site), (asked.facets, asked.query.is_by_date)

        def ask(slots: Sequence[Slot]) -> AskBest:
            return AskBest(*rules, tuple(slots), asked.text, *numbers, *bounds, *narrow, per_host, *flags)

        return ask

    async def _ask_best(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        bounds: Bounds,
        per_host: int,
        ready: Ready,
        until: float,
        avoid: frozenset[NodeId],
        shown_at: float,
    ) -> None:
        """Have what comes put into `outcome.coming`, as it comes."""
        ask = self._question(asked, outcome, bounds, per_host)

        def wrong(answer: BestAnswer, slots: Sequence[Slot]) -> str | None:
            return wrong_best(answer, ask(slots), asked.query)

        await self._remote.cover(ready, ask, BestAnswer, wrong, until, avoid, shown_at, outcome.coming)


def _summed(asked: PeerQuery, covered: Gathered[StatisticsAnswer], ready: Ready) -> SearchOutcome:
    """What the first round gave."""
    sums = total((_sums(answer, slots) for _, answer, slots in covered.answers), len(asked.query.leaves))
    spellings = dict.fromkeys(asked.spellings, 0)
    for _, answer, slots in covered.answers:
        counting = list(map(slots.__contains__, answer.slots))
        for word, counts in zip(asked.spellings, answer.spellings, strict=False):  # older software counts none
            spellings[word] += sum(compress(counts, counting))
    bits = len(ready).bit_length() - 1
    outcome = SearchOutcome(sums, len(ready), bits, ready, answered=covered.slots, spellings=spellings)
    expanded = expand(asked.patterns, ((answer, len(slots)) for _, answer, slots in covered.answers))
    outcome.words, outcome.are_words_sure = expanded
    _note(outcome, covered)
    return outcome


def _fill_in(outcome: SearchOutcome, asked: PeerQuery, k: int, per_host: int) -> tuple[list[Slot], float]:
    """Make one order of the answers that count. Return the slots of which something may be left out that belongs into
    it, and the score from which on it would."""
    answers = _by_answer(outcome.best)
    outcome.order = merge([(peer, answer.hits) for peer, answer, _ in answers], k)
    is_full = len(outcome.order) == k and not asked.query.is_by_date  # of the newest any bound may be too much
    floor = outcome.order[-1].hit.score if is_full else -1.0
    vague = [slots for _, answer, slots in answers if not answer.complete and answer.bound >= floor]
    loose = list(chain.from_iterable(vague))
    counting = [(answer, map(slots.__contains__, answer.slots)) for _, answer, slots in answers]
    outcome.total = sum(sum(compress(answer.counts, counts)) for answer, counts in counting)
    outcome.proven = not loose and asked.are_words_sure
    outcome.more = len(outcome.order) == k
    numbers = [(answer, len(slots)) for _, answer, slots in answers]
    outcome.sites = site_hits(numbers, per_host)
    outcome.facets = facet_sums(numbers) if asked.facets else FacetSums()
    return loose, floor


def _told(covered: Gathered[BestAnswer]) -> dict[Slot, Told]:
    return {slot: (peer, answer) for peer, answer, slots in covered.answers for slot in slots}


def _ready(
    slots: Sequence[Slot], by_slot: Ready | Sequence[Sequence[NodeId]], avoid: Collection[NodeId]
) -> dict[Slot, Sequence[NodeId]]:
    """Return who is ready for each of some slots: mostly nobody is to be avoided, and nothing is done slot by slot."""
    found = dict(zip(slots, map(by_slot.__getitem__, slots), strict=True))
    return {slot: _unless(peers, avoid) for slot, peers in found.items()} if avoid else found


def _unless(peers: Sequence[NodeId], avoid: Collection[NodeId]) -> Sequence[NodeId]:
    """Return those of some peers that are not to be avoided, all where there is nobody else."""
    if not avoid:
        return peers
    return [peer for peer in peers if peer not in avoid] or peers


def _sums(answer: StatisticsAnswer, slots: frozenset[Slot]) -> Statistics:
    """What an answer says of these of its slots together."""
    counting = list(map(slots.__contains__, answer.slots))
    title, headings, url, body = map(sum, zip((0, 0, 0, 0), *compress(answer.lengths, counting), strict=True))
    df = tuple(sum(compress(found, counting)) for found in answer.df)
    return Statistics(sum(compress(answer.documents, counting)), (title, headings, url, body), df)


def _by_answer(best: Mapping[Slot, Told]) -> list[tuple[NodeId, BestAnswer, Collection[Slot]]]:
    """Return each answer that counts, with the slots for which it does; `best` has one object for each answer."""
    distinct = list(dict(zip(map(id, best.values()), best.values(), strict=True)).values())
    if len(distinct) == 1:
        return [(*distinct[0], best.keys())]
    return [(*told, {slot for slot, each in best.items() if each is told}) for told in distinct]


def _note(outcome: SearchOutcome, covered: Gathered[StatisticsAnswer] | Gathered[BestAnswer]) -> None:
    outcome.asked |= covered.asked
    outcome.silent |= covered.late
    outcome.shunned |= covered.late | covered.failed
    outcome.replied |= {peer for peer, _, _ in covered.answers}
    outcome.said += [Said(peer, answer.slots, slots, answer.agreement) for peer, answer, slots in covered.answers]
