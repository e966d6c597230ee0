"""Orders for clients: who waits gets them, who brings nothing rests, and nothing is unbounded or forged."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dht import BadMessage, Message, NodeId, PeerAudit, Slot, Topic
from node.delegation.client_dispatch import (
    MAX_POLLS,
    NO_LEASE_S,
    POLL_S,
    REST_S,
    ClientDispatch,
    OrderBatch,
    OrderDone,
    PollOrders,
)
from node.delegation.fetch_order import ORDER_WITHIN_S, ClientAnswer, FetchAnswer, FetchOrder
from node.extras.simulation.loop import SimLoop

ONE, TWO = NodeId(b"1" * 20), NodeId(b"2" * 20)
ORDER = FetchOrder("http://a.test/", (), 100)
PAGE = FetchAnswer(200, body=b"page")


class Desk:
    """The handlers of one holder, asked as peers ask them, on virtual time."""

    def __init__(self, loop: SimLoop) -> None:
        self.handlers: dict[type[Message], Callable[[NodeId, Any], Awaitable[Any]]] = {}
        self.rooms: list[int] = []
        self.held = {Slot(1): 7}
        self.audit = PeerAudit(loop.clock(), lambda: 0.5)
        self.clients = ClientDispatch(self, loop.clock(), self.rooms.append, self.audit)  # type: ignore[arg-type]

    @property
    def view(self) -> "Desk":
        return self

    def leases(self) -> dict[Slot, int]:
        return self.held

    def serve(self, message: type[Message], handler: Callable[[NodeId, Any], Awaitable[Any]]) -> None:
        self.handlers[message] = handler

    async def poll(self, client: NodeId, room: int = 2) -> OrderBatch:
        batch: OrderBatch = await self.handlers[PollOrders](client, PollOrders(room))
        return batch

    async def bring(self, client: NodeId, number: int, answer: FetchAnswer = PAGE) -> None:
        await self.handlers[OrderDone](client, OrderDone(number, answer))


def scenario(told: Callable[[Desk, asyncio.TaskGroup], Awaitable[None]]) -> None:
    loop = SimLoop()

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            await told(Desk(loop), tasks)

    loop.run(main())


def test_a_waiting_client_gets_the_order_and_its_page_is_the_answer() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        assert await desk.clients.carry(ORDER) is None  # nobody waits
        poll = tasks.create_task(desk.poll(ONE))
        await asyncio.sleep(1.0)
        assert (desk.clients.waiting, desk.clients.room, desk.rooms[-1]) == (1, 2, 2)
        page = tasks.create_task(desk.clients.carry(ORDER))
        batch = await poll
        assert [given.order for given in batch.orders] == [ORDER]
        assert (desk.clients.waiting, desk.clients.open, desk.rooms[-1]) == (0, 1, 1)
        await desk.bring(ONE, batch.orders[0].number)
        assert await page == ClientAnswer(ONE, PAGE)
        assert desk.rooms[-1] == 0

    scenario(told)


def test_a_poll_without_work_ends_in_time() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        began = asyncio.get_running_loop().time()
        assert await desk.poll(ONE) == OrderBatch()
        assert asyncio.get_running_loop().time() - began == POLL_S

    scenario(told)


def test_who_brings_nothing_costs_a_timeout_and_rests() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        poll = tasks.create_task(desk.poll(ONE))
        await asyncio.sleep(1.0)
        assert await desk.clients.carry(ORDER) is None
        assert asyncio.get_running_loop().time() == 1.0 + ORDER_WITHIN_S
        with pytest.raises(BadMessage, match="too late"):
            await desk.bring(ONE, (await poll).orders[0].number)
        assert await desk.poll(ONE) == OrderBatch(rest_s=REST_S)
        await asyncio.sleep(REST_S)
        assert (await desk.poll(ONE)).rest_s == 0

    scenario(told)


def test_only_who_took_an_order_brings_it_and_once() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        poll = tasks.create_task(desk.poll(ONE))
        await asyncio.sleep(1.0)
        page = tasks.create_task(desk.clients.carry(ORDER))
        number = (await poll).orders[0].number
        for client, wrong in ((TWO, number), (ONE, number + 1), (ONE, 0)):
            with pytest.raises(BadMessage, match="not ordered"):
                await desk.bring(client, wrong, FetchAnswer(200, body=b"forged"))
        await desk.bring(ONE, number)
        assert await page == ClientAnswer(ONE, PAGE)
        with pytest.raises(BadMessage):
            await desk.bring(ONE, number)

    scenario(told)


def test_polls_are_bounded_and_one_a_client() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        polls = [tasks.create_task(desk.poll(NodeId(bytes([n]) * 20))) for n in range(MAX_POLLS)]
        await asyncio.sleep(1.0)
        assert (await desk.poll(NodeId(b"\xff" * 20))).rest_s == REST_S
        again = tasks.create_task(desk.poll(NodeId(bytes(20))))
        assert await polls[0] == OrderBatch()
        assert asyncio.get_running_loop().time() == 1.0
        assert desk.clients.waiting == MAX_POLLS
        assert await again == OrderBatch()

    scenario(told)


def test_a_client_is_given_no_more_than_it_has_room_for() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        poll = tasks.create_task(desk.poll(ONE, room=2))
        await asyncio.sleep(1.0)
        pages = [tasks.create_task(desk.clients.carry(ORDER)) for _ in range(3)]
        batch = await poll
        assert len(batch.orders) == 2
        assert await pages[2] is None
        for given in batch.orders:
            await desk.bring(ONE, given.number)
        assert [await page for page in pages] == [ClientAnswer(ONE, PAGE), ClientAnswer(ONE, PAGE), None]

    scenario(told)


def test_a_client_that_lied_waits_in_vain_and_the_reason_is_told() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        poll = tasks.create_task(desk.poll(ONE))
        await asyncio.sleep(1.0)
        desk.clients.refute(ONE, "brought http://a.test/ with another text than the site's")
        assert await poll == OrderBatch() and desk.clients.room == 0
        assert await desk.poll(ONE) == OrderBatch(rest_s=REST_S)
        assert await desk.clients.carry(ORDER) is None
        (refuted,) = desk.audit.refutations()
        assert (refuted.peer, refuted.topic) == (ONE, Topic.CLIENT_PAGES) and "another text" in refuted.reason

    scenario(told)


def test_who_holds_no_lease_sends_clients_to_others_at_once() -> None:
    async def told(desk: Desk, tasks: asyncio.TaskGroup) -> None:
        desk.held = {}
        async with asyncio.timeout(1.0):
            assert await desk.poll(ONE) == OrderBatch(rest_s=NO_LEASE_S)
        assert not desk.clients.waiting

    scenario(told)
