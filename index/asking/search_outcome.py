"""The outcome of a query's two rounds: the sums of the first, the order and the counts of the second.

Pure: values in, values out.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, compress
from typing import TypeVar

from dht import NodeId, Slot
from index.asking.agreement import Said
from index.asking.rescoring import Rescoring
from index.asking.scatter_gather import Gathered
from index.asking.slot_bitmaps import Ready, slots_of
from index.query.alternatives import MAX_PROBES, Alternative, Counted, adopt, bent_by, bent_statistics, counted_nodes
from index.query.collection_statistics import Statistics, total
from index.query.foreign import for_asker
from index.query.parser import Query, parse_query
from index.query.patterns import MAX_ALTERNATIVES, MAX_LISTED, WordPattern, alternatives
from index.results.result_picker import SiteHits, site_hits
from index.results.top_k_merge import FacetSums, MergedHit, facet_sums, merge
from index.shard.messages import BestAnswer, SlotSums, StatisticsAnswer

T = TypeVar("T")
Told = tuple[NodeId, BestAnswer, int]  # the last are the slots for which it counts, as a bitmap


@dataclass(frozen=True)
class PeerQuery:
    """One query as it goes to peers: the parsed form and what both sides parse it from."""

    query: Query  # as it is scored, words with their alternatives
    plain: Query  # as it was typed
    text: str
    language: str
    site: str
    probes: tuple[str, ...] = ()  # words and phrases, of which the first round also asks in how many documents
    alternatives: tuple[Alternative, ...] = ()  # that were adopted
    unsure: tuple[str, ...] = ()  # words for which the first round also asks what they may have been meant to be
    patterns: tuple[WordPattern, ...] = ()  # of which the first round also asks what words they stand for
    facets: bool = False  # whether the second round counts by site, language, year and type
    asker_language: str = ""  # as it follows from what was typed
    are_words_sure: bool = True  # whether other nodes write out the same words for the patterns that were typed

    @cached_property
    def counted(self) -> tuple[Counted, ...]:
        """The leaves and words that the first round counts."""
        return counted_nodes(self.plain, self.probes)

    def with_probes(self, others: Iterable[str]) -> "PeerQuery":
        """Return this query with further probes."""
        probes = tuple(dict.fromkeys((*self.probes, *others)))
        return self if probes == self.probes else replace(self, probes=probes[:MAX_PROBES])

    def bent(self, told: Statistics, likely: Mapping[str, Collection[str]]) -> tuple["PeerQuery", Statistics]:
        """Return this query with the alternatives that follow from the sums of all slots, and its own sums."""
        counts = dict(zip(self.counted, told.df, strict=True))
        found = adopt(self.plain, counts, likely)
        bent, known, query = bent_by(found), self.plain, self.query
        if bent != query.bent:
            flags = known.is_by_date, known.rules
            query = parse_query(self.text, self.language, self.site, *flags, bent, known.is_verbatim)
            query = for_asker(replace(query, readings=known.readings), self.asker_language)
        asked = self if found == self.alternatives else replace(self, query=query, alternatives=found)
        return asked, bent_statistics(query, found, counts, told)


@dataclass(slots=True)
class SearchOutcome:
    """The outcome of both rounds. `order`: the best k, before folding; `more`: whether others may follow them."""

    peer_query: PeerQuery
    statistics: Statistics  # by which is scored
    counted: Statistics  # of what the first round counts
    ready: Ready  # as the first round saw them; the second counts slots alike, whatever becomes of the strategy
    order: list[MergedHit] = field(default_factory=list)
    answered: int = 0  # slots as a bitmap
    total: int = 0
    proven: bool = False  # no document that was left out could stand among the best
    said: list[Said] = field(default_factory=list)  # of both rounds, by those whose answers count
    more: bool = False
    sites: SiteHits = field(default_factory=SiteHits)
    facets: FacetSums = field(default_factory=FacetSums)
    asked: set[NodeId] = field(default_factory=set)
    silent: set[NodeId] = field(default_factory=set)
    replied: set[NodeId] = field(default_factory=set)
    likely: dict[str, Collection[str]] = field(default_factory=dict)  # what rare words may have been meant to be
    words: dict[WordPattern, list[str]] = field(default_factory=dict)  # that each pattern stands for
    are_words_sure: bool = True
    disputed: Mapping[Slot, Collection[NodeId]] = field(default_factory=dict)  # peers with contradictory statistics
    best: list[Told] = field(default_factory=list)  # each slot counts in one of them
    coming: Gathered[BestAnswer] = field(default_factory=Gathered)  # answers about them of those who are being asked
    shunned: set[NodeId] = field(default_factory=set)  # silent, failed or refuted: asked only where nobody else is
    is_guess: bool = False  # the statistics are remembered ones, and the second round brings those of today
    rescoring: Rescoring | None = None  # of answers by other statistics than those of today

    @property
    def slots(self) -> int:
        """How many slots there are."""
        return len(self.ready)

    @property
    def is_answered(self) -> bool:
        """Whether somebody answered for every slot."""
        return self.answered.bit_count() == self.slots

    def prove(self, sums: Sequence[SlotSums], again: "SearchOutcome") -> None:
        """Go by the sums that answers brought, and by the statistics of the other slots, which were asked for again."""
        parts = [Statistics(each.documents, each.lengths, each.df) for each in sums]
        self.counted = total((*parts, again.counted), len(self.peer_query.counted))
        self.peer_query, self.statistics = self.peer_query.bent(self.counted, self.likely)
        self.disputed, self.is_guess = again.disputed, False
        self.said += again.said
        self.asked |= again.asked
        self.silent |= again.silent
        self.replied |= again.replied
        self.shunned |= again.shunned


def brought(coming: Gathered[BestAnswer], new: Collection[NodeId]) -> tuple[list[SlotSums], int]:
    """Return the sums from the answers of the second round, and the slots without sums. Answers of new peers bring
    none, nor do answers that count for only some of their slots."""
    sums, unsure = [], 0
    for peer, answer, slots in coming.answers:
        if answer.sums is None or peer in new or slots.bit_count() < len(answer.slots):
            unsure |= slots
        else:
            sums.append(answer.sums)
    return sums, unsure


def summed(asked: PeerQuery, covered: Gathered[StatisticsAnswer], ready: Ready) -> SearchOutcome:
    """Add up what the first round gave."""
    sums = total((_sums(answer, slots) for _, answer, slots in covered.answers), len(asked.counted))
    outcome = SearchOutcome(*asked.bent(sums, {}), sums, ready, answered=covered.slots)
    for number, word in enumerate(asked.unsure):
        told = (answer.likely[number] for _, answer, _ in covered.answers)
        outcome.likely[word] = tuple(sorted(set(chain.from_iterable(told))))
    numbers = [(answer, slots.bit_count()) for _, answer, slots in covered.answers]
    outcome.words, outcome.are_words_sure = _expanded(asked.patterns, numbers)
    note_answers(outcome, covered)
    return outcome


def fill_in(outcome: SearchOutcome, k: int, per_host: int) -> tuple[int, float]:
    """Make one order of the answers that count. Return the slots that may hold left-out documents of that order, and
    the score that these must reach."""
    answers, asked = outcome.best, outcome.peer_query
    outcome.order = merge([(peer, answer.hits) for peer, answer, _ in answers], k)
    is_full = len(outcome.order) == k and not asked.query.is_by_date  # of the newest any bound may be too much
    floor = outcome.order[-1].hit.score if is_full else -1.0
    vague = [told for told in answers if not told[1].complete and told[1].bound >= floor]
    loose = Gathered(vague).slots
    outcome.total = sum(sum(_counting(answer, slots)(answer.counts)) for _, answer, slots in answers)
    outcome.proven = not loose and asked.are_words_sure
    outcome.more = len(outcome.order) == k
    numbers = [(answer, slots.bit_count()) for _, answer, slots in answers]
    outcome.sites = site_hits(numbers, per_host, outcome.rescoring.reach if outcome.rescoring else None)
    outcome.facets = facet_sums(numbers) if asked.facets else FacetSums()
    return loose, floor


def note_answers(outcome: SearchOutcome, covered: Gathered[StatisticsAnswer] | Gathered[BestAnswer]) -> None:
    """Note which peers were asked and which answered, and their reports about their copies."""
    outcome.asked |= covered.asked
    outcome.silent |= covered.late
    outcome.shunned |= covered.late | covered.failed
    outcome.replied |= {peer for peer, _, _ in covered.answers}
    outcome.said += [
        Said(peer, answer.slots, slots_of(slots), answer.agreement) for peer, answer, slots in covered.answers
    ]


def newest(best: Sequence[Told], coming: Gathered[BestAnswer]) -> list[Told]:
    """Return the answers that count when others have come: theirs is the word about their slots."""
    now = coming.slots
    kept = [(peer, answer, slots & ~now) for peer, answer, slots in best if slots & ~now]
    return [*kept, *coming.answers]


def _expanded(
    patterns: Sequence[WordPattern], answers: Sequence[tuple[StatisticsAnswer, int]]
) -> tuple[dict[WordPattern, list[str]], bool]:
    """The words that each pattern stands for: those that most documents hold, and whether they surely are.

    Each answer comes with how many of its slots count. Peers list their commonest words with exact counts. A peer that
    knows more words than it lists may have left out one that should have been chosen."""
    chosen: dict[WordPattern, list[str]] = {}
    is_sure = all(slots == len(answer.slots) for answer, slots in answers)
    for number, pattern in enumerate(patterns):
        lists = [answer.words[number] for answer, _ in answers if number < len(answer.words)]
        documents = Counter[str]()
        for words in lists:
            documents.update({word: count for word, count in words if pattern.stands_for(word)})
        chosen[pattern] = alternatives(documents, MAX_ALTERNATIVES // len(patterns))
        least = min((documents[word] for word in chosen[pattern]), default=0)
        unlisted = [min(count for _, count in words) for words in lists if len(words) >= MAX_LISTED]
        is_sure &= not unlisted or sum(unlisted) < least
    return chosen, is_sure


def _sums(answer: StatisticsAnswer, slots: int) -> Statistics:
    """The sums of an answer over these of its slots."""
    counting = _counting(answer, slots)
    title, headings, url, body = map(sum, zip((0, 0, 0, 0), *counting(answer.lengths), strict=True))
    df = tuple(sum(counting(found)) for found in answer.df)
    return Statistics(sum(counting(answer.documents)), (title, headings, url, body), df)


def _counting(answer: StatisticsAnswer | BestAnswer, slots: int) -> Callable[[Sequence[T]], Iterable[T]]:
    """Return what picks, of one entry for each slot of an answer, those of these slots: mostly all."""
    if slots.bit_count() == len(answer.slots):
        return iter
    return partial(compress, selectors=[slots >> slot & 1 for slot in answer.slots])
