"""A peer's side of a query: counts and best documents of the slots that it was asked for.

Blocking, on the reader's thread. Nothing here knows who asks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dht import Slot
from index.engine.index_files import IndexFiles
from index.engine.protocol import Candidates, Scale
from index.query.collection_statistics import SlotTotals, Statistics
from index.query.parser import Query, QueryGroup, QueryNode, SiteFilter
from index.query.scoring import Scorer, max_proximity, upper_bound
from index.search.messages import MAX_HOSTS, BestAnswer, StatisticsAnswer
from index.search.top_hits import TopHits
from index.text.site_host import name_of_host

FIRST_ROWS, WIDER = 40, 4  # rows read at first, and how many times as many then: mostly the first are enough


def count(
    files: IndexFiles, query: Query, slots: Sequence[Slot], slot_bits: int, spellings: Sequence[str] = ()
) -> StatisticsAnswer:
    """Count documents, their lengths and df in these slots of 2**slot_bits, one by one; also of words as written."""
    known = files.totals.at(slot_bits)
    totals = [known.get(slot, SlotTotals()) for slot in slots]
    by_leaf = [files.engine.counts(leaf, slot_bits) for leaf in query.leaves]
    by_word = [files.engine.word_counts(word, slot_bits) for word in spellings]

    def by_slot(found: Mapping[int, int]) -> tuple[int, ...]:
        # While a batch is being committed the engine may be a moment ahead of the totals.
        return tuple(min(found.get(slot, 0), each.documents) for slot, each in zip(slots, totals, strict=True))

    return StatisticsAnswer(
        slots=tuple(slots),
        documents=tuple(each.documents for each in totals),
        lengths=tuple(each.lengths for each in totals),
        fingerprints=tuple(each.fingerprint_bytes for each in totals),
        df=tuple(map(by_slot, by_leaf)),
        spellings=tuple(map(by_slot, by_word)),
    )


def best(
    files: IndexFiles,
    query: Query,
    statistics: Statistics,
    slots: Sequence[Slot],
    slot_bits: int,
    k: int,
    depth: int,
    floor: float,
    per_host: int = 0,
    facets: bool = False,
) -> BestAnswer:
    """Find the best `k` of these slots: candidates are widened until none left out can be among them, or to `depth`."""
    wanted, asked = frozenset(slots), query
    scorer = Scorer(query, statistics)
    scale = Scale(scorer.weights, scorer.average)
    top = TopHits(query, scorer, k, floor, per_host or k)
    size = min(depth, max(k + 2, FIRST_ROWS))
    while True:
        found = files.engine.candidates(asked, wanted, slot_bits, scale, size)
        top.score(files.table.rows(top.unseen(found.numbers)))
        bound = _bound(found, query, statistics)
        if found.complete or top.least > bound or size >= depth:
            break
        if top.close_hosts(bound):  # a host of thousands of pages must not stand before all others
            asked = replace(query, root=_without(query.root, top.closed))
        else:
            size = min(WIDER * size, depth)
    counts = files.engine.counts(query.counted, slot_bits)
    return BestAnswer(
        slots=tuple(slots),
        counts=tuple(counts.get(slot, 0) for slot in slots),
        hits=tuple(top.hits()),
        complete=found.complete,
        bound=0.0 if found.complete else bound,
        hosts=tuple((host, _count_of(files, query, host, slots, slot_bits)) for host in top.full_hosts()[:MAX_HOSTS]),
        facets=files.engine.facets(query.counted, wanted, slot_bits) if facets else (),
    )


def _without(root: QueryNode, hosts: Iterable[bytes]) -> QueryGroup:
    return QueryGroup(1, (root,), tuple(SiteFilter(name_of_host(host)) for host in sorted(hosts)))


def _count_of(files: IndexFiles, query: Query, host: bytes, slots: Sequence[Slot], slot_bits: int) -> int:
    """Count the matches of one host in these slots."""
    counts = files.engine.counts(QueryGroup(2, (query.counted, SiteFilter(name_of_host(host)))), slot_bits)
    return sum(counts.get(slot, 0) for slot in slots)


def _bound(found: Candidates, query: Query, statistics: Statistics) -> float:
    return min(found.bound * max_proximity(query), upper_bound(query, statistics))
