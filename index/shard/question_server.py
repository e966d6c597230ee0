"""Answers what peers ask of this node's indexes, by the rules that the question names.

Memory stays bounded: only so many questions wait for the reading threads, and only some of them are one peer's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar, cast

from msgspec import structs

from dht import BadMessage, MachineRefuses, NodeId, Overlay, Slot, resize_inside
from index.config import IndexConfig
from index.errors import IndexCorrupt
from index.query.alternatives import counted_nodes
from index.query.collection_statistics import Statistics
from index.query.foreign import for_asker
from index.query.parser import Query, parse_query
from index.query.query_tree import Bent
from index.query.ranking_rules import NEWEST_RANKING
from index.query.remembered_statistics import RememberedStatistics
from index.query.search_rules import SearchRules, rules_of
from index.shard.corrections import Proposals
from index.shard.index_follower import IndexFollower
from index.shard.messages import Agreement, AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from index.shard.shard_search import ShardSearch, count
from index.shard.stored_answers import ReadStored, StoredAnswers
from index.text.analyzer_rules import AnalyzerRules

NEAR_BITS = 2  # doublings by which a peer may be ahead or behind, and still gets an answer
MAX_WAITING = 64  # questions in line for the reading threads; one more is refused
MAX_WAITING_OF_ONE = 16  # of one peer; this node's own users may fill the line
_Result = TypeVar("_Result")
Agree = Callable[[Sequence[Slot]], Agreement]


class QuestionServer:
    """Answers both rounds of a query. `find` gives the index of an analyzer, None where there is none."""

    def __init__(
        self,
        config: IndexConfig,
        overlay: Overlay,
        find: Callable[[AnalyzerRules], IndexFollower | None],
        agree: Agree,
        read: ReadStored,
        remembered: RememberedStatistics,
    ) -> None:
        """`remembered` learns words from the questions of peers."""
        self._remembered = remembered
        self._config, self._overlay, self._find, self._agree = config, overlay, find, agree
        self._stored = StoredAnswers(overlay, read)
        self._proposals = Proposals()
        self._waiting: Counter[NodeId] = Counter()
        overlay.serve(AskStatistics, self._statistics)
        overlay.serve(AskBest, self._best)

    async def _statistics(self, peer: NodeId, ask: AskStatistics) -> StatisticsAnswer:
        rules, follower = self._by(peer, ask.analyzer)
        nodes = counted_nodes(_parsed(ask, rules), ask.probes)
        if ask.from_store:
            reading = partial(self.read, follower, peer=peer)
            documents = await self._stored.drawn(follower.files, ask, reading)
            return await self.read(follower, lambda: documents.statistics(nodes), peer)
        slots = self._accept(peer, follower, ask.slot_bits, ask.slots)
        agreement = self._agreement(slots, ask.slot_bits)

        def work() -> StatisticsAnswer:
            files = follower.files
            likely = tuple(self._proposals.of(word, files.engine, files.documents) for word in ask.unsure)
            return structs.replace(count(files, nodes, slots, ask.slot_bits, ask.patterns), likely=likely)

        return structs.replace(await self.read(follower, work, peer), agreement=agreement)

    async def _best(self, peer: NodeId, ask: AskBest) -> BestAnswer:
        rules, follower = self._by(peer, ask.analyzer, ask.ranking)
        query = for_asker(_parsed(ask, rules, ask.by_date, ask.bent), ask.asker_language)
        statistics = _believable(peer, ask, query)
        if peer != self._overlay.view.node_id and not ask.sums:
            self._remembered.hear(query, (1 << ask.slot_bits, ask.analyzer), statistics)
        if ask.named:
            documents = await self._stored.named(follower.files, ask)
            return await self.read(follower, lambda: documents.best(query, statistics, ask), peer)
        slots = self._accept(peer, follower, ask.slot_bits, ask.slots)
        depth = min(ask.depth, self._config.max_depth)
        floor = ask.floor if ask.floor > 0 else 0.0
        files, bits = follower.files, ask.slot_bits
        agreement = self._agreement(slots, bits)
        search = ShardSearch(files, query, statistics, slots, bits, depth)

        def work() -> BestAnswer:
            answer = search.answer(ask.k, floor, ask.per_host, facets=ask.facets)
            return search.with_sums(answer, counted_nodes(_parsed(ask, rules), ask.probes)) if ask.sums else answer

        return structs.replace(await self.read(follower, work, peer), agreement=agreement)

    def _agreement(self, slots: Sequence[Slot], slot_bits: int) -> Agreement:
        """How these copies compare with others; nothing of slots that are numbered otherwise here."""
        strategy = self._overlay.view.strategy
        return self._agree(slots) if slot_bits == strategy.slot_bits else Agreement(strategy.version)

    def _by(
        self, peer: NodeId, analyzer: int, ranking: int = NEWEST_RANKING.number
    ) -> tuple[SearchRules, IndexFollower]:
        """The rules of these numbers, and the index for them; refuses who goes by others than this node can."""
        rules = rules_of(analyzer, ranking)
        follower = self._find(rules.analyzer) if rules else None
        if rules is None or follower is None:
            raise BadMessage(peer.hex(), f"there is no index here for analyzer {analyzer} and ranking {ranking}")
        return rules, follower

    def _accept(self, peer: NodeId, follower: IndexFollower, slot_bits: int, slots: Iterable[int]) -> list[Slot]:
        """Those of the slots that this index answers for, ascending; refuses who counts slots otherwise.

        While a strategy that splits slots spreads, some ask by the old numbers and some by the new: both are answered.
        """
        bits = self._overlay.view.strategy.slot_bits
        if abs(slot_bits - bits) > NEAR_BITS:
            raise BadMessage(peer.hex(), f"slot_bits are {bits} here and {slot_bits} there: ask again in a few seconds")
        if not follower.is_answering or (follower.is_beside and follower.is_stuck):
            return []
        known = cast(list[Slot], sorted({slot for slot in slots if slot < 1 << slot_bits}))
        me, ready = self._overlay.view.node_id, self._overlay.view.ready_by_slot(answering=True)
        if len(ready) == 1 << slot_bits:
            return [slot for slot in known if me in ready[slot]]
        return [slot for slot in known if self._answers(slot, slot_bits, bits)]

    def _answers(self, slot: Slot, slot_bits: int, bits: int) -> bool:
        """Whether this node, which counts 2**bits slots, answers for all of a slot of 2**slot_bits."""
        view = self._overlay.view
        if slot_bits > bits:
            return view.node_id in view.ready(Slot(slot >> (slot_bits - bits)), answering=True)
        return all(view.node_id in view.ready(part, answering=True) for part in resize_inside({slot}, slot_bits, bits))

    async def read(self, follower: IndexFollower, work: Callable[[], _Result], peer: NodeId | None = None) -> _Result:
        """Do work for a peer (None: this node) on a reading thread of an index; raises BadMessage where too much waits,
        or where the index cannot be read."""
        asker = self._overlay.view.node_id if peer is None else peer
        share = MAX_WAITING if asker == self._overlay.view.node_id else MAX_WAITING_OF_ONE
        if self._waiting.total() >= MAX_WAITING or self._waiting[asker] >= share:
            raise BadMessage(asker.hex(), f"busy: {self._waiting[asker]} questions of yours wait, {share} may")
        self._waiting[asker] += 1
        try:
            return await follower.read(work)
        except (MachineRefuses, IndexCorrupt) as error:
            raise BadMessage(asker.hex(), "the index here cannot be read now; ask another replica") from error
        finally:
            self._waiting[asker] -= 1
            if not self._waiting[asker]:
                del self._waiting[asker]


def _parsed(ask: AskStatistics | AskBest, rules: SearchRules, is_by_date: bool = False, bent: Bent = ()) -> Query:
    """The query of a question; it is remembered by how it is called."""
    return parse_query(ask.query, ask.language, ask.site, is_by_date, rules, bent, ask.verbatim)


def _believable(peer: NodeId, ask: AskBest, query: Query) -> Statistics:
    if len(ask.df) != len(query.leaves) or any(df > ask.documents for df in ask.df):
        raise BadMessage(peer.hex(), "statistics that do not fit the query")
    return Statistics(ask.documents, ask.lengths, ask.df)
