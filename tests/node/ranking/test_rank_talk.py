"""Peers that do not know the messages are left alone, and nobody speaks for slots of others."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from dht import BadMessage, Message, NodeId, Now, Slot
from index import InflowAck, InflowMessage
from node.ranking.messages import RankExchange, RankReply
from node.ranking.rank_talk import RETRY_S, RankTalk

ME, PEER = NodeId(b"m" * 20), NodeId(b"p" * 20)
WALL = 1_700_000_000
MINE, ITS = Slot(0), Slot(1)
GIVEN = InflowMessage(ITS, MINE, WALL, 1, 0, b"", b"")


class OverlayOfTwo:
    """An overlay with one peer, which holds and owns slot 1; a fake of the `Overlay` protocol."""

    def __init__(self) -> None:
        its = lambda slot: (PEER,) if slot == ITS else ()  # noqa: E731
        self.view = SimpleNamespace(announced=its, owners=its, live_owners=its)
        self.heard = list[Message]()
        self.answer: RankReply | None = None
        self.hear: Callable[[NodeId, RankExchange], Awaitable[RankReply]]

    def serve(self, message: type[Message], handler: Any) -> None:
        self.hear = handler

    async def ask(self, peer: NodeId, message: Message, answer: type[Message], *, timeout_s: float) -> Message:
        self.heard.append(message)
        if self.answer is None:
            raise BadMessage(peer.hex(), "answers no RankExchange")
        return self.answer


class Talk:
    """A node that holds slot 0, and what it took."""

    def __init__(self) -> None:
        self.overlay, self.steady = OverlayOfTwo(), 100.0
        self.took, self.acks = list[tuple[RankExchange, frozenset[int]]](), list[InflowAck]()
        clock = lambda: Now(WALL, self.steady)  # noqa: E731
        self.talk = RankTalk(self.overlay, clock, 7, self._take, self._hear)  # type: ignore[arg-type]
        self.talk.begin(1)

    async def tell(self, *inflows: InflowMessage) -> list[Message]:
        await self.talk.tell(inflows, {MINE: WALL}, {})
        heard, self.overlay.heard = self.overlay.heard, []
        return heard

    async def _take(self, peer: NodeId, exchange: RankExchange, unheard: frozenset[int]) -> tuple[InflowAck, ...]:
        self.took.append((exchange, unheard))
        return ()

    async def _hear(self, acks: Any) -> None:
        self.acks += acks


async def test_who_does_not_know_the_message_is_left_alone_for_a_while() -> None:
    node = Talk()
    assert len(await node.tell()) == 1
    assert await node.tell() == []
    node.steady += RETRY_S
    node.overlay.answer = RankReply(0)
    assert len(await node.tell()) == 1, "as one that computes no ranks is"
    assert await node.tell() == []
    node.steady += RETRY_S
    node.overlay.answer = RankReply(3)
    assert len(await node.tell()) == 1
    assert await node.tell() == [], "it has all"


async def test_only_what_was_told_is_acknowledged() -> None:
    node, message = Talk(), InflowMessage(MINE, ITS, WALL, 1, 0, b"", b"")
    acks = tuple(InflowAck(source, ITS, WALL, WALL, 1) for source in (MINE, 5))
    node.overlay.answer = RankReply(3, acks)
    await node.tell(message)
    assert node.acks == [acks[0]]


async def test_a_peer_is_heard_about_slots_that_it_holds_under_leases_of_today() -> None:
    node = Talk()

    async def unheard(slot: int, epoch: int) -> set[int]:
        reply = await node.overlay.hear(PEER, RankExchange(1, 3, ((slot, epoch),), (), (), ()))
        assert node.took[-1][1] == frozenset(reply.unheard)
        return set(reply.unheard)

    assert await unheard(ITS, WALL) == set()
    assert await unheard(MINE, WALL) == {MINE}
    assert await unheard(5, WALL) == {5}, "there is no such slot"
    assert await unheard(ITS, WALL + 3600) == {ITS}
    other = RankExchange(1, 3, (), (GIVEN,), (), ())
    assert (await node.overlay.hear(ME, other)).unheard == (ITS,), "it is another's"
    assert (await node.overlay.hear(PEER, RankExchange(4, 3, (), (), (), ()))).run == 0, "it counts other slots"
