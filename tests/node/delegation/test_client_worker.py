"""A client's polls: it finds who has work, brings what it fetched, and says at once what it will not fetch."""

import asyncio
from itertools import pairwise
from random import Random
from typing import Any

from dht import BadMessage, Done, NodeId, PeerTimeout
from node.delegation.client_dispatch import Order, OrderBatch, OrderDone, PollOrders
from node.delegation.client_worker import AT_ONCE, ClientWorker
from node.delegation.fetch_order import FetchAnswer, FetchOrder
from node.extras.simulation.loop import SimLoop

ME = NodeId(b"m" * 20)
PEERS = [NodeId(bytes([n]) * 20) for n in range(1, 7)]
WORKS, DEAD = PEERS[0], PEERS[1]


class Town:
    """Six members, of whom one has work and one is dead; each knows what it was asked."""

    def __init__(self, orders: list[FetchOrder]) -> None:
        self.node_id, self.mine, self.waits, self.orders = ME, False, False, orders
        self.done: list[OrderDone] = []
        self.polls: list[tuple[float, NodeId]] = []

    @property
    def view(self) -> "Town":
        return self

    @property
    def takes_part(self) -> bool:
        return self.mine or self.waits

    def members(self) -> list[NodeId]:
        return [*PEERS, ME] if self.mine else PEERS

    def is_live(self, peer: NodeId) -> bool:
        return True

    async def ask(self, peer: NodeId, message: Any, answer: type[Any], *, timeout_s: float) -> Any:
        loop = asyncio.get_running_loop()
        if isinstance(message, OrderDone):
            self.done.append(message)
            return Done()
        assert isinstance(message, PollOrders)
        self.polls.append((loop.time(), peer))
        if peer == DEAD:
            raise PeerTimeout(peer.hex(), 1.0)
        if peer == WORKS and self.orders:
            given, self.orders = self.orders[: message.room], self.orders[message.room :]
            return OrderBatch(tuple(Order(len(self.done) + n, order) for n, order in enumerate(given)))
        await asyncio.sleep(25.0)
        return OrderBatch()


async def carry(peer: NodeId, order: FetchOrder) -> FetchAnswer:
    if "secret" in order.url:
        raise BadMessage(peer.hex(), "not allowed")
    return FetchAnswer(200, body=order.url.encode())


def run(town: Town, seconds: float, *, paused: bool = False) -> ClientWorker:
    worker = ClientWorker(town, carry, Random(1), lambda: "paused" if paused else "")  # type: ignore[arg-type]

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(worker.run())
            await asyncio.sleep(seconds)
            task.cancel()

    SimLoop().run(main())
    return worker


def test_work_is_found_done_and_brought() -> None:
    town = Town([FetchOrder(f"http://a.test/{n}", (), 100) for n in range(20)])
    worker = run(town, 200.0)
    assert sorted(d.answer.body for d in town.done) == sorted(b"http://a.test/%d" % n for n in range(20))
    assert worker.carried == 20


def test_what_must_not_be_fetched_is_said_at_once() -> None:
    town = Town([FetchOrder("http://a.test/secret", (), 100)])
    worker = run(town, 200.0)
    assert [(d.number, "not allowed" in d.answer.failure) for d in town.done] == [(0, True)]
    assert worker.carried == 0


def test_few_polls_are_open_and_a_dead_peer_is_not_hurried() -> None:
    town = Town([])
    run(town, 100.0)
    for at, _ in town.polls:
        assert sum(at <= other < at + 4.9 for other, peer in town.polls if peer != DEAD) <= 2 * AT_ONCE
    tries = [at for at, peer in town.polls if peer == DEAD]
    assert all(later - sooner >= 5.0 for sooner, later in pairwise(tries))
    assert {peer for _, peer in town.polls} == set(PEERS)


def test_members_and_paused_clients_poll_nobody() -> None:
    town = Town([])
    town.mine = True
    run(town, 60.0)
    assert not town.polls
    paused = Town([])
    run(paused, 60.0, paused=True)
    assert not paused.polls


def test_who_waits_to_be_admitted_works_as_a_client_after_a_minute() -> None:
    town = Town([])
    town.waits = True
    run(town, 100.0)
    assert town.polls and min(at for at, _ in town.polls) >= 60.0
