"""A member that lies in one protocol, made of the node's own classes, and a judge of what four honest nodes answer.

Each lie takes a node of a simulated world and overrides one of its methods; everything else there is honest.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import cycle, islice
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from dht import Message, NodeId, document_id, placement_key, slot_of
from dht.membership.failure_detector import PREFIX_BYTES
from dht.messages import LeaseReply, LeaseRequest
from index import SearchOracle, SearchRequest
from index.shard.messages import AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from node.extras.simulation.census import holders_of, take_census, thin_records
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import DAY_S, World
from store import Document, Draft, Kind, encode_document
from store.record.messages import FetchRecords, FetchReply, ReconcileReply, ReconcileStep
from store.record.package import pack, sign_package
from store.record.range_reconciliation import Ranges

Tell = Callable[[SimNode], Counter[NodeId]]
Later = Callable[[World, SimNode], Awaitable[None]]
EVERY_S = 0.25
OF_QUERIES = AskStatistics, AskBest, FetchRecords  # what a query asks of others; votes and comparisons go on beside it
JOINED_S = 180.0


def _honest(node: SimNode) -> Counter[NodeId]:
    return Counter()


class Lie(NamedTuple):
    """A lie that a node is made to tell. `tell` returns how often it will have told queries of whom something else than
    the truth."""

    tell: Tell = _honest
    later: Later | None = None  # once all is crawled


def overridden(message: type[Message], alter: Callable[[Message, Message], Message]) -> Lie:
    """Return the lie that answers others' messages of one type with something else than the truth; it tells queries a
    lie where these ask so."""

    def lie(node: SimNode) -> Counter[NodeId]:
        told = Counter[NodeId]()
        _, truth = node.overlay._messenger.dispatcher._handlers[message.__name__]
        me = node.overlay.view.node_id

        async def handler(peer: NodeId, asked: Message) -> Message:
            answer: Message = await truth(peer, asked, "")
            if peer == me:
                return answer
            said = alter(asked, answer)
            told[peer] += message in OF_QUERIES and said != answer
            return said

        node.overlay.serve(message, handler)
        return told

    return Lie(lie)


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


def _endless_bound(asked: Message, answer: Message) -> Message:
    """Others may follow that score as much as anything."""
    assert isinstance(answer, BestAnswer)
    return replace(answer, hits=answer.hits[(len(answer.hits) + 1) // 2 :], complete=False, bound=1e6)


def _rare(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, StatisticsAnswer)
    return replace(answer, df=tuple((0,) * len(answer.slots) for _ in answer.df))


def _endless(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, StatisticsAnswer)
    slots = len(answer.slots)
    return replace(answer, documents=(1 << 40,) * slots, fingerprints=(bytes(32),) * slots)


async def _forge(world: World, node: SimNode) -> None:
    """Put pages of its own, full of every word, where it is ready to answer for them; nobody granted it anything."""
    wall, drafts = node.clock().wall, list[Draft]()
    view, bits = node.overlay.view, world.plan.slot_bits
    for number in range(200):
        url = f"http://bank{number}.example/"
        id, key = document_id(url), placement_key(url)
        if node.node_core.store.replicator.ready_slots() & {slot_of(key, bits)} and slot_of(key, bits) in view.owned():
            page = Document(url, wall, 200, title=" ".join(world.web.words[:40]), text=" ".join(world.web.words[:60]))
            epoch, body = int(wall), encode_document(page)
            drafts.append(Draft(Kind.DOCUMENT, id, key, epoch, int(wall * 1000), int(wall // DAY_S) + 30, body))
    await node.node_core.store.records.put(sign_package(drafts, node.identity))
    await world.pass_time(20.0)


async def _join(world: World, node: SimNode) -> None:
    """Somebody joins, and takes its slots from whoever has them."""
    await world.add(1)
    await world.pass_time(JOINED_S)


def _refuses_all(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, LeaseReply)
    return replace(answer, votes=tuple(replace(vote, granted=False, signature=b"") for vote in answer.votes))


def _grants_all(asked: Message, answer: Message) -> Message:
    assert isinstance(answer, LeaseReply) and isinstance(asked, LeaseRequest)
    votes = zip(asked.claims, answer.votes, strict=True)
    return replace(answer, votes=tuple(replace(v, granted=True, epoch=c.epoch) for c, v in votes))


def _keeps_no_records(node: SimNode) -> Counter[NodeId]:
    """Nothing lies at any point of the key space."""
    node.core.store.at = lambda key, now: iter(())  # type: ignore[method-assign]
    return Counter()


def _hides_members(node: SimNode) -> Counter[NodeId]:
    """It knows nobody, and says that everybody is silent."""
    gossip, everybody = node.core._gossip, node.core.members
    gossip.answer = (
        lambda now, ping, asker, room: (  # type: ignore[method-assign]
            (),
            b"".join(peer[:PREFIX_BYTES] for peer, _ in everybody.known() if peer != node.core.node_id)[: max(room, 0)],
        )
    )
    return Counter()


def _names_nobody(node: SimNode) -> Counter[NodeId]:
    """Lookups end here: it knows nobody near to any point."""
    node.core.routing.closest = lambda *_: []  # type: ignore[method-assign]
    return Counter()


LIES: dict[str, Lie] = {
    "lookups: nobody is near": Lie(_names_nobody),
    "pages: of its own invention": Lie(later=_forge),
    "leases: nobody gets its vote": overridden(LeaseRequest, _refuses_all),
    "leases: everybody gets its vote": overridden(LeaseRequest, _grants_all),
    "values: none lies here": Lie(_keeps_no_records),
    "gossip: nobody is there, all are suspects": Lie(_hides_members),
    "statistics: words are in no document": overridden(AskStatistics, _rare),
    "statistics: documents without end": overridden(AskStatistics, _endless),
    "hits: the best are left out": overridden(AskBest, _halved),
    "hits: there is nothing": overridden(AskBest, _nothing),
    "hits: the best are left out, and others may follow": overridden(AskBest, _endless_bound),
    "hits: made up": overridden(AskBest, _invented),
    "records: there are none": overridden(FetchRecords, lambda asked, answer: FetchReply(pack([]))),
    "reconciliation: all is level": overridden(
        ReconcileStep,
        lambda asked, answer: ReconcileReply(asked.form, Ranges((), b"")),  # type: ignore[attr-defined]
    )._replace(later=_join),
}


@dataclass
class Judged:
    """The results of the queries. `touched`: in how many queries each asker was lied to."""

    asked: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    touched: Counter[str] = field(default_factory=Counter)
    doubly_held: int = 0  # slots, as of each query

    @property
    def share_right(self) -> float:
        return 1 - self.wrong.total() / max(self.asked, 1)


class Judge:
    """Has honest nodes ask, and holds their answers against brute force over all that is stored."""

    def __init__(self, world: World, liar: SimNode, told: Counter[NodeId]) -> None:
        self._world, self._liar, self._told, self.judged = world, liar, told, Judged()
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
        judged, me = self.judged, node.overlay.view.node_id
        before = self._told[me]
        answer = await node.node_core.index.searcher.search(SearchRequest(query, deadline_ms=5000))
        judged.asked += 1
        judged.doubly_held += sum(len(holders) > 1 for holders in holders_of(self.honest).values())
        judged.touched[node.name] += self._told[me] > before
        found = [hit["url"] for hit in answer["results"]], answer["total"]
        if found != self._wanted[query]:
            judged.wrong["total" if found[0] == self._wanted[query][0] else "results"] += 1

    def avoids(self, node: SimNode) -> bool:
        return self._liar.overlay.view.node_id in node.node_core.audit.refuted()

    def accused(self) -> set[NodeId]:
        """Return the peers that some honest node refuted."""
        return {told.peer for node in self.honest for told in node.node_core.audit.refutations()}

    def thin(self) -> dict[tuple[Kind, str], set[str]]:
        """Which records honest owners lack, of all that honest nodes have."""
        return thin_records(take_census(self.honest), self.honest)

    def unseen(self) -> list[str]:
        """Which honest nodes take another one for dead."""
        ids = {node.overlay.view.node_id for node in self.honest}
        return [node.name for node in self.honest if not ids <= node.overlay.view.live()]

    def _right(self, query: str) -> tuple[list[str], int]:
        answer = self._oracle.search(query)
        return [hit.text.url for hit in answer.hits[:10]], answer.total
