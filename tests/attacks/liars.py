"""A member that lies in one protocol, made of the node's own classes, and a judge of what four honest nodes answer.

Each lie takes a node of a simulated world and overrides one of its methods; everything else there is honest.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle, islice
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from dht import Message, NodeId
from index import SearchOracle, SearchRequest
from index.search.messages import AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from node.simulation.census import take_census
from node.simulation.sim_node import SimNode
from node.simulation.world import World
from store.record.package import pack
from store.replication.messages import FetchRecords, FetchReply, ReconcileReply, ReconcileStep

Tell = Callable[[SimNode], None]
EVERY_S = 0.25


class Lie(NamedTuple):
    """What a node is made to do, and which messages meet the lie."""

    tell: Tell
    about: str = ""


def overridden(message: type[Message], alter: Callable[[Message, Message], Message]) -> Lie:
    """Return the lie that answers others' messages of one type with something else than the truth."""

    def lie(node: SimNode) -> None:
        _, truth = node.overlay._messenger.dispatcher._handlers[message.__name__]
        me = node.overlay.view.node_id

        async def handler(peer: NodeId, asked: Message) -> Message:
            answer: Message = await truth(peer, asked, "")
            return answer if peer == me else alter(asked, answer)

        node.overlay.serve(message, handler)

    return Lie(lie, message.__name__)


def _halved(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, BestAnswer)
    return replace(answer, hits=answer.hits[(len(answer.hits) + 1) // 2 :])


def _nothing(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, BestAnswer)
    zero = (0,) * len(answer.slots)
    return replace(answer, hits=(), counts=zero, complete=True, bound=0.0, hosts=())


def _invented(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, BestAnswer)
    hits = [replace(hit, id=hit.id[::-1]) for hit in answer.hits]
    return replace(answer, hits=tuple(sorted(hits, key=lambda hit: hit.place)))


def _rare(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, StatisticsAnswer)
    return replace(answer, df=tuple((0,) * len(answer.slots) for _ in answer.df))


def _endless(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, StatisticsAnswer)
    slots = len(answer.slots)
    return replace(answer, documents=(1 << 40,) * slots, fingerprints=(bytes(32),) * slots)


LIES: dict[str, Lie] = {
    "statistics: words are in no document": overridden(AskStatistics, _rare),
    "statistics: documents without end": overridden(AskStatistics, _endless),
    "hits: the best are left out": overridden(AskBest, _halved),
    "hits: there is nothing": overridden(AskBest, _nothing),
    "hits: made up": overridden(AskBest, _invented),
    "records: there are none": overridden(FetchRecords, lambda asked, answer: FetchReply(pack([]))),
    "reconciliation: all is level": overridden(
        ReconcileStep,
        lambda asked, answer: ReconcileReply((), asked.form),  # type: ignore[attr-defined]
    ),
}


@dataclass
class Judged:
    """What came of the queries. `touched`: how often each asker asked the liar before it avoided it."""

    asked: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    touched: Counter[str] = field(default_factory=Counter)

    @property
    def share_right(self) -> float:
        return 1 - self.wrong.total() / max(self.asked, 1)


class Judge:
    """Has honest nodes ask, and holds their answers against brute force over all that is stored."""

    def __init__(self, world: World, liar: SimNode, about: str) -> None:
        self._world, self._liar, self._about, self.judged = world, liar, about, Judged()
        self.honest = [node for node in world.running() if node is not liar]
        self._oracle: SearchOracle = take_census(self.honest).brute_force()
        rng, words = Random("queries"), world.web.words
        self._queries = [" ".join(rng.sample(words[:40], rng.randrange(1, 4))) for _ in range(60)]
        self._wanted = {query: self._right(query) for query in self._queries}

    async def ask(self, count: int, *, every_s: float = EVERY_S) -> Judged:
        """Have each honest node in turn ask."""
        for node, query in zip(cycle(self.honest), islice(cycle(self._queries), count), strict=False):
            await self._one(node, query)
            await self._world.pass_time(every_s)
        return self.judged

    async def _one(self, node: SimNode, query: str) -> None:
        judged, is_avoided = self.judged, self.avoids(node)
        with _counted(self._liar, node, self._about) as touches:
            answer = await node.node_core.index.searcher.search(SearchRequest(query, deadline_ms=5000))
        judged.asked += 1
        judged.touched[node.name] += bool(touches.total()) and not is_avoided
        found = [hit["url"] for hit in answer["results"]], answer["total"]
        if found != self._wanted[query]:
            judged.wrong["total" if found[0] == self._wanted[query][0] else "results"] += 1

    def avoids(self, node: SimNode) -> bool:
        return self._liar.overlay.view.node_id in node.node_core.audit.refuted()

    def accused(self) -> set[NodeId]:
        """Whom any honest node refuted."""
        return {told.peer for node in self.honest for told in node.node_core.audit.refutations()}

    def _right(self, query: str) -> tuple[list[str], int]:
        answer = self._oracle.search(query)
        return [hit.text.url for hit in answer.hits[:10]], answer.total


class _counted:
    """Counts what a node asks the liar meanwhile."""

    def __init__(self, liar: SimNode, asker: SimNode, about: str) -> None:
        self._liar, self._asker, self._about = liar, asker.overlay.view.node_id, about
        self._counts = Counter[str]()

    def __enter__(self) -> Counter[str]:
        self._answer = answer = self._liar.overlay._messenger.dispatcher.answer

        async def counting(asker: NodeId, name: str, body: bytes, host: str) -> bytes:
            self._counts[name] += asker == self._asker and name == self._about
            return await answer(asker, name, body, host)

        self._liar.overlay._messenger.dispatcher.answer = counting  # type: ignore[method-assign]
        return self._counts

    def __exit__(self, *_: object) -> None:
        self._liar.overlay._messenger.dispatcher.answer = self._answer  # type: ignore[method-assign]
