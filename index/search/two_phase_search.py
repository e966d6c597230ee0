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
from index.search.hit_audit import HitAudit
from index.search.replica_plan import Ready
from index.search.scatter_gather import Gathered, ScatterGather
from index.search.site_hits import SiteHits, site_hits
from index.search.top_k_merge import MergedHit, merge
from index.shard.messages import AskBest, AskStatistics, BestAnswer, StatisticsAnswer

CONFIRM_S = 0.1  # and twice what answers took, for others to confirm them
JUDGE_S = 1.0  # for a third to tell which of two is right, unless it is known to be late
DEEPER = 8  # times as many candidates when a peer is asked again
_Told = tuple[NodeId, BestAnswer]


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

    async def statistics(self, asked: PeerQuery, until: float, avoid: frozenset[NodeId]) -> SearchOutcome:
        """Ask for the statistics of every slot that somebody is ready for, until the steady instant `until`."""
        view = self._overlay.view
        by_slot, refuted = view.ready_by_slot(), self._audit.refuted()
        bits = len(by_slot).bit_length() - 1
        every = cast(Sequence[Slot], range(len(by_slot)))
        ready = _ready(every, by_slot, refuted)
        analyzer, patterns = asked.query.rules.analyzer.number, tuple(map(str, asked.patterns))

        def ask(slots: Sequence[Slot]) -> AskStatistics:
            words = asked.text, asked.language, asked.site, asked.spellings, patterns
            return AskStatistics(analyzer, bits, tuple(slots), *words)

        def wrong(answer: StatisticsAnswer, slots: Sequence[Slot]) -> str | None:
            return wrong_statistics(answer, slots, asked.query, len(asked.spellings))

        def cover(ready: Ready, until: float) -> Awaitable[Gathered[StatisticsAnswer]]:
            some = ready if all(ready.values()) else {slot: peers for slot, peers in ready.items() if peers}
            return self._remote.cover(some, ask, StatisticsAnswer, wrong, until, avoid)

        began = self._audit.now
        covered = await cover(ready, until)
        patience_s = max(CONFIRM_S, 2 * (self._audit.now - began))  # nobody has to wait for a peer that is silent

        def confirm(ready: Ready) -> Awaitable[Gathered[StatisticsAnswer]]:
            return cover(ready, min(until, self._audit.now + patience_s))

        def judge(ready: Ready) -> Awaitable[Gathered[StatisticsAnswer]]:
            is_late = any(self._overlay.late.is_late(peer) for peers in ready.values() for peer in peers)
            return confirm(ready) if is_late else cover(ready, min(until, self._audit.now + patience_s + JUDGE_S))

        disputed = await settle(self._audit, covered, ready, view.node_id, confirm, judge)
        leaves = len(asked.query.leaves)
        sums = total((_sums(answer, slots) for _, answer, slots in covered.answers), leaves)
        spellings = dict.fromkeys(asked.spellings, 0)
        for _, answer, slots in covered.answers:
            counting = list(map(slots.__contains__, answer.slots))
            for word, counts in zip(asked.spellings, answer.spellings, strict=False):  # older software counts none
                spellings[word] += sum(compress(counts, counting))
        outcome = SearchOutcome(sums, len(ready), bits, ready, answered=covered.slots, spellings=spellings)
        expanded = expand(asked.patterns, ((answer, len(slots)) for _, answer, slots in covered.answers))
        outcome.words, outcome.are_words_sure = expanded
        outcome.disputed = disputed
        _note(outcome, covered)
        outcome.shunned |= self._audit.refuted()
        return outcome

    async def best(
        self, asked: PeerQuery, outcome: SearchOutcome, k: int, per_host: int, until: float, avoid: frozenset[NodeId]
    ) -> None:
        """Ask for the best `k`, of each host `per_host`, of all answered slots, and fill in the outcome."""
        open_ = self._ready(sorted(outcome.answered), outcome)
        best: dict[Slot, _Told] = {}
        depth, floor = min(self._config.first_depth, self._config.max_depth), 0.0
        while True:
            covered = await self._ask_best(asked, outcome, k, per_host, depth, floor, open_, until, avoid)
            _note(outcome, covered)
            for peer, answer, slots in covered.answers:
                best.update(dict.fromkeys(slots, (peer, answer)))
            answers = _by_answer(best)
            outcome.order = merge([(peer, answer.hits) for peer, answer, _ in answers], k)
            is_full = len(outcome.order) == k and not asked.query.is_by_date  # of the newest any bound may be too much
            floor = outcome.order[-1].hit.score if is_full else -1.0
            vague = [slots for _, answer, slots in answers if not answer.complete and answer.bound >= floor]
            loose = list(chain.from_iterable(vague))
            if not loose or depth >= self._config.max_depth or not covered.answers:
                break
            depth, open_ = min(depth * DEEPER, self._config.max_depth), self._ready(sorted(loose), outcome)
            me = self._overlay.view.node_id  # of others nothing tells whether their bounds are true
            open_ = {slot: _unless(peers, {best[slot][0]} - {me}) for slot, peers in open_.items()}
        outcome.answered = frozenset(best)
        counting = [(answer, map(slots.__contains__, answer.slots)) for _, answer, slots in answers]
        outcome.total = sum(sum(compress(answer.counts, counts)) for answer, counts in counting)
        outcome.proven = not loose and asked.are_words_sure
        outcome.more = len(outcome.order) == k
        numbers = [(answer, len(slots)) for _, answer, slots in answers]
        outcome.sites = site_hits(numbers, per_host)
        outcome.facets = facet_sums(numbers) if asked.facets else FacetSums()

    def _ready(self, slots: Sequence[Slot], outcome: SearchOutcome) -> Ready:
        """Who may be asked for these slots: not those that just failed, where there is another."""
        now = self._overlay.view.ready_by_slot()  # who became ready meanwhile may be asked too
        return _ready(slots, now if len(now) == outcome.slots else outcome.ready, outcome.shunned)

    async def _ask_best(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        k: int,
        per_host: int,
        depth: int,
        floor: float,
        ready: Ready,
        until: float,
        avoid: frozenset[NodeId],
    ) -> Gathered[BestAnswer]:
        bits, sums = outcome.slot_bits, outcome.statistics

        def ask(slots: Sequence[Slot]) -> AskBest:
            rules, least = (*asked.query.rules.numbers, bits), max(floor, 0.0)
            numbers = (sums.documents, sums.lengths, sums.df)
            bounds, narrow = (k, depth, least), (asked.language, asked.site)
            flags = asked.facets, asked.query.is_by_date
            return AskBest(*rules, tuple(slots), asked.text, *numbers, *bounds, *narrow, per_host, *flags)

        def wrong(answer: BestAnswer, slots: Sequence[Slot]) -> str | None:
            return wrong_best(answer, ask(slots), asked.query)

        covered = await self._remote.cover(ready, ask, BestAnswer, wrong, until, avoid)
        self._hit_audit.offer(covered, asked.query, ask)
        return covered


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


def _by_answer(best: Mapping[Slot, _Told]) -> list[tuple[NodeId, BestAnswer, Collection[Slot]]]:
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
