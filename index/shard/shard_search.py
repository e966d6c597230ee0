"""A peer's side of a query: counts and best documents of the slots that it was asked for.

Blocking, on a reader's thread. Nothing here knows who asks.
"""

from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from msgspec import structs

from dht import Slot
from index.engine.index_files import IndexFiles
from index.engine.protocol import Candidates, Scale
from index.engine.slot_counts import SlotCounts
from index.query.alternatives import Counted
from index.query.collection_statistics import Statistics
from index.query.leaf import term_of
from index.query.parser import Query
from index.query.patterns import listed, read_pattern
from index.query.query_tree import QueryGroup, QueryNode, SiteFilter, TagFilter, all_of, any_of, at_least
from index.query.scoring import Needed, Scorer, max_proximity, upper_bound
from index.shard.ceilings import Ceilings
from index.shard.messages import MAX_HOSTS, BestAnswer, HitRow, SlotSums, StatisticsAnswer
from index.shard.top_hits import TopHits
from index.text.site_host import name_of_host
from index.text.tags import FIRST_YEAR, LAST_YEAR

LISTED, WIDER = 384, 4  # candidates listed at first, and how many times as many then: mostly the first are enough
MANY = 256  # documents of a stretch of time that are not read all at once
PART = 192  # of a list whose columns are read at once: a column costs as much as reading 300 documents of it
ROWS = 20  # records read at once
TAG_BYTES = 8

Stretch = tuple[QueryNode, int]  # what matches in it, and how many documents do


def count(
    files: IndexFiles,
    nodes: Sequence[Counted],
    slots: Sequence[Slot],
    slot_bits: int,
    patterns: Sequence[str] = (),
) -> StatisticsAnswer:
    """Count documents, their lengths and those that hold each of `nodes`, for these slots of 2**slot_bits one by one,
    and list the words that patterns stand for."""
    documents, lengths, fingerprints = files.totals.columns(slots, slot_bits)
    asked, most = np.array(slots, np.int64), np.array(documents, np.int64)
    engine = files.engine

    def counted(node: Counted) -> SlotCounts:
        return engine.word_counts(node, slot_bits) if isinstance(node, str) else engine.counts(node, slot_bits)

    def by_slot(found: SlotCounts) -> tuple[int, ...]:
        # While a batch is being committed the engine may be a moment ahead of the totals.
        return tuple(np.minimum(found.of(asked), most).tolist())

    return StatisticsAnswer(
        slots=tuple(slots),
        documents=documents,
        lengths=lengths,
        fingerprints=fingerprints,
        df=tuple(by_slot(counted(node)) for node in nodes),
        words=tuple(_commonest(files, pattern, slots, slot_bits) for pattern in patterns),
    )


def added_up(answer: StatisticsAnswer) -> SlotSums:
    """Add up an answer's statistics over its slots."""
    title, headings, url, body = map(sum, zip((0, 0, 0, 0), *answer.lengths, strict=True))
    tag = blake2b(b"".join(answer.fingerprints), digest_size=TAG_BYTES).digest()
    return SlotSums(sum(answer.documents), (title, headings, url, body), tuple(map(sum, answer.df)), tag)


def _commonest(files: IndexFiles, written: str, slots: Sequence[Slot], slot_bits: int) -> tuple[tuple[str, int], ...]:
    """The commonest words that a pattern stands for, with how many documents of these slots hold each."""
    pattern, engine = read_pattern(written), files.engine
    if pattern and pattern.is_character:
        terms = listed(pattern, engine.word_count, engine.terms_from)
        by_slot = [(term, engine.counts(term_of(term), slot_bits)) for term in terms]
    else:
        found = listed(pattern, engine.word_count, engine.words_from) if pattern else []
        by_slot = [(word, engine.word_counts(word, slot_bits)) for word in found]
    return tuple((word, int(counts.of(slots).sum())) for word, counts in by_slot)


@dataclass(frozen=True, slots=True)
class ShardHits:
    """The hits of one search, in order; nothing left out scores above `bound`. `hosts`: those of the best."""

    hits: Sequence[HitRow]
    complete: bool
    bound: float
    hosts: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class ShardSearch:
    """Searches some slots by one set of statistics, looking at up to `depth` candidates at once."""

    files: IndexFiles
    query: Query
    statistics: Statistics
    slots: Sequence[Slot]
    slot_bits: int
    depth: int

    def answer(self, k: int, floor: float = 0.0, per_host: int = 0, *, facets: bool = False) -> BestAnswer:
        """Return the best `k` of these slots, or the newest where these are asked for, with the counts of all."""
        query, engine = self.query, self.files.engine
        found = self.newest(k) if query.is_by_date else self.best(query, k, floor, per_host)
        counts = engine.counts(query.counted, self.slot_bits)
        return BestAnswer(
            slots=tuple(self.slots),
            counts=tuple(counts.of(self.slots).tolist()),
            hits=tuple(found.hits),
            complete=found.complete,
            bound=0.0 if found.complete else found.bound,
            hosts=self.host_counts(found.hosts),
            facets=engine.facets(query.counted, frozenset(self.slots), self.slot_bits) if facets else (),
        )

    def with_sums(self, answer: BestAnswer, nodes: Sequence[Counted]) -> BestAnswer:
        """Return the answer with the statistics of its slots."""
        counted = count(self.files, nodes, self.slots, self.slot_bits)
        return structs.replace(answer, sums=added_up(counted))

    def best(self, query: Query, k: int, floor: float, per_host: int) -> ShardHits:
        """Find the best `k`: candidates are read until no other can be among them. `query` may have another root than
        that by which is scored."""
        asked, wanted, depth, left_out = query, frozenset(self.slots), self.depth, 0.0
        scorer = Scorer(query, self.statistics)
        needed, ceilings = scorer.needed(0.0), Ceilings(query, scorer)
        top = TopHits(query, scorer, k, floor, per_host or k)
        factor, size = max_proximity(query), min(depth, max(k + 2, LISTED))
        most = upper_bound(query, self.statistics) / factor
        while True:
            scale = Scale(scorer.weights, scorer.average, top.least, _useful(query, needed), is_loose=True)
            found = self.files.engine.candidates(asked, wanted, self.slot_bits, scale, size)
            bounds = [each if each < most else most for each in (*found.bounds, found.bound)]
            read = _read(self.files, top, ceilings, found, bounds)
            bound = bounds[read] * factor
            complete = found.complete and read == len(found.numbers)
            if complete or top.least > bound or (size >= depth and read == len(found.numbers)):
                break
            is_narrower = top.close_hosts(bounds[read]) or top.needed(bounds[read]).is_more_than(needed)
            if not is_narrower:
                size = min(WIDER * size, depth)
            needed = top.needed(bounds[read])
            left_out = max(left_out, needed.others)
            closed = sorted(
                map(name_of_host, top.closed)
            )  # they must not stand before all others with thousands of pages
            asked = replace(query, root=all_of([query.root], list(map(SiteFilter, closed))))
        hits = top.hits()
        hosts = list(dict.fromkeys(hit.host for hit in hits))[:MAX_HOSTS] if per_host else []
        return ShardHits(hits, complete and not left_out, max(bound, left_out), hosts)

    def newest(self, k: int) -> ShardHits:
        """Find the newest `k`, those of one day by their scores."""
        hits: list[HitRow] = []
        is_sure = True
        for root, number in _stretches(self.query.root, self._count):
            within = k - len(hits) if number > MANY else 2 * MANY  # more may be indexed since that count
            found = self.best(replace(self.query, root=root), within, 0.0, 0)
            hits += sorted(found.hits, key=lambda hit: hit.place)
            is_sure &= found.complete or (len(found.hits) == within and found.hits[-1].score > found.bound)
            if len(hits) >= k:
                break
        return ShardHits(hits[:k], is_sure, 0.0 if is_sure else upper_bound(self.query, self.statistics))

    def host_counts(self, hosts: Sequence[bytes]) -> tuple[tuple[bytes, int], ...]:
        """Count the matches of some hosts."""
        if not hosts:
            return ()
        counts = self.files.engine.host_counts(self.query.counted, hosts, frozenset(self.slots), self.slot_bits)
        return tuple(zip(hosts, counts, strict=True))

    def _count(self, root: QueryNode) -> int:
        return int(self.files.engine.counts(root, self.slot_bits).of(self.slots).sum())


def _useful(query: Query, needed: Needed) -> tuple[QueryNode, ...]:
    """Return the conditions that documents have to meet where not all can be of use any more."""
    leaves, nodes = query.leaves, list[QueryNode]()
    if len(needed.any_of) < len(leaves):
        nodes.append(any_of([leaves[number] for number in needed.any_of]))
    if needed.least_count > 1:
        nodes.append(at_least(needed.least_count, list(leaves)))
    return tuple(nodes)


def _read(files: IndexFiles, top: TopHits, ceilings: Ceilings, found: Candidates, bounds: Sequence[float]) -> int:
    """Score candidates down their order until no other can be of use, in each part the most promising first. Return how
    many were looked at."""
    read = 0
    while read < len(found.numbers) and top.may_use(bounds[read]):
        part = slice(read, min(read + PART, len(found.numbers)))
        numbers, most = found.numbers[part], ceilings.of(found, bounds, part)
        hosts = found.columns.hosts(part) if found.columns else ()
        order = sorted(range(len(numbers)), key=most.__getitem__, reverse=True)
        for begin in range(0, len(order), ROWS):
            few = order[begin : begin + ROWS]
            useful = [at for at in few if top.takes(most[at], hosts[at] if hosts else None)]
            wanted = {numbers[at]: (most[at], bounds[read + at]) for at in useful}
            top.score(files.table.rows(top.unseen(wanted)), wanted)
            if most[few[-1]] < top.least:
                break
        read = part.stop
    return read


def _stretches(root: QueryNode, count: Callable[[QueryNode], int]) -> Iterator[Stretch]:
    """Yield what matches a tree as stretches of time, the newest first: of up to `MANY` documents, or of one day. Those
    without a date come last.

    No engine sorts by date, but each counts by the tags of dates. So a decade, year or month that holds much is cut
    into its parts, and one that holds little is looked at as a whole."""
    decades = [str(decade) for decade in range(LAST_YEAR // 10, FIRST_YEAR // 10 - 1, -1)]
    left = count(root)
    for decade in decades:
        for stretch in _parts(root, decade, count, left):
            left -= stretch[1]
            yield stretch
    if left:
        yield QueryGroup(1, (root,), tuple(TagFilter(f"date:{decade}") for decade in decades)), left


def _parts(root: QueryNode, period: str, count: Callable[[QueryNode], int], most: int) -> Iterator[Stretch]:
    """The stretches of a period, of which no more than `most` documents can be."""
    here = all_of([root, TagFilter(f"date:{period}")])
    found = count(here) if most else 0
    inner = _within(period) if found > MANY else []
    if found and not inner:
        yield here, found
    left = found
    for part in inner:
        for stretch in _parts(root, part, count, left):
            left -= stretch[1]
            yield stretch


def _within(period: str) -> list[str]:
    """The parts of a decade (three digits), year or month, the last first; none of a day."""
    if len(period) == 3:
        return [f"{period}{year}" for year in range(9, -1, -1)]
    if len(period) == 4:
        return [f"{period}-{month:02}" for month in range(12, 0, -1)]
    if len(period) == 7:
        days = monthrange(int(period[:4]), int(period[5:]))[1]
        return [f"{period}-{day:02}" for day in range(days, 0, -1)]
    return []
