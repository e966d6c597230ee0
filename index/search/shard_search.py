"""A peer's side of a query: counts and best documents of the slots that it was asked for.

Blocking, on the reader's thread. Nothing here knows who asks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dht import Slot
from index.engine.index_files import IndexFiles
from index.engine.protocol import Scale
from index.query.collection_statistics import SlotTotals, Statistics
from index.query.parser import Query, QueryGroup, QueryNode, SiteFilter
from index.query.scoring import Scorer, max_proximity, upper_bound
from index.search.messages import MAX_HOSTS, BestAnswer, StatisticsAnswer
from index.search.top_hits import TopHits
from index.text.site_host import name_of_host

LISTED, WIDER = 512, 4  # candidates listed at first, and how many times as many then: mostly the first are enough
ROWS = 20  # of them are read at once
FIRST_ROWS = 40  # before it is looked for the first time whether one host has them all


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
    """Find the best `k` of these slots: candidates are read until no other can be among them, or to `depth`."""
    wanted, asked = frozenset(slots), query
    scorer = Scorer(query, statistics)
    scale = Scale(scorer.weights, scorer.average)
    top = TopHits(query, scorer, k, floor, per_host or k)
    most, factor, size = upper_bound(query, statistics), max_proximity(query), min(depth, max(k + 2, LISTED))
    while True:
        found = files.engine.candidates(asked, wanted, slot_bits, scale, size)
        bounds = [min(each * factor, most) for each in (*found.bounds, found.bound)]
        is_closed, read = _read(files, top, found.numbers, bounds)
        bound = bounds[read]
        complete = found.complete and read == len(found.numbers)
        if complete or top.least > bound or (size >= depth and read == len(found.numbers)):
            break
        if is_closed:  # a host of thousands of pages must not stand before all others
            asked = replace(query, root=_without(query.root, top.closed))
        else:
            size = min(WIDER * size, depth)
    counts = files.engine.counts(query.counted, slot_bits)
    return BestAnswer(
        slots=tuple(slots),
        counts=tuple(counts.get(slot, 0) for slot in slots),
        hits=tuple(top.hits()),
        complete=complete,
        bound=0.0 if complete else bound,
        hosts=tuple((host, _count_of(files, query, host, slots, slot_bits)) for host in top.full_hosts()[:MAX_HOSTS]),
        facets=files.engine.facets(query.counted, wanted, slot_bits) if facets else (),
    )


def _without(root: QueryNode, hosts: Iterable[bytes]) -> QueryGroup:
    return QueryGroup(1, (root,), tuple(SiteFilter(name_of_host(host)) for host in sorted(hosts)))


def _count_of(files: IndexFiles, query: Query, host: bytes, slots: Sequence[Slot], slot_bits: int) -> int:
    """Count the matches of one host in these slots."""
    counts = files.engine.counts(QueryGroup(2, (query.counted, SiteFilter(name_of_host(host)))), slot_bits)
    return sum(counts.get(slot, 0) for slot in slots)


def _read(files: IndexFiles, top: TopHits, numbers: Sequence[int], bounds: Sequence[float]) -> tuple[bool, int]:
    """Score candidates down their order until no other can be of use, or hosts are closed. Return whether any were, and
    how many candidates were looked at."""
    read, look_at = 0, FIRST_ROWS
    while read < len(numbers) and top.least <= bounds[read]:
        if read >= look_at:
            if top.close_hosts(bounds[read]):
                return True, read
            look_at *= WIDER
        part = numbers[read : read + ROWS]
        top.score(files.table.rows(top.unseen(part)))
        read += len(part)
    return top.least <= bounds[read] and top.close_hosts(bounds[read]), read
