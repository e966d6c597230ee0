"""Carries messages between simulated nodes, in place of the TLS channel."""

import asyncio
from contextvars import copy_context
from typing import Protocol

from dht import Contact, InputError, NodeId, RemoteError
from node.simulation.network import Answerer, SimNetwork


class SimRoute(Protocol):
    """Names whom to ask; families and relays do not matter here."""

    @property
    def peer(self) -> Contact:
        """Return the peer to be asked."""


class SimCarrier:
    """Asks and answers messages for one node.

    Handlers run in tasks of the node that answers, as behind a socket: they die with it, not with whoever asked.
    """

    def __init__(self, network: SimNetwork, name: str, own: NodeId) -> None:
        self._network = network
        self._name = name
        self._own = own

    async def run(self, answerer: Answerer, may_relay: object = None) -> None:
        """Answer others until cancelled."""
        context = copy_context()

        async def tried(asker: NodeId, name: str, body: bytes, host: str) -> bytes | RemoteError | InputError:
            try:
                return await answerer(asker, name, body, host)
            except (RemoteError, InputError) as error:
                return error

        async def answer(asker: NodeId, name: str, body: bytes, host: str) -> bytes:
            task = tasks.create_task(tried(asker, name, body, host), context=context)
            await asyncio.wait([task])
            if task.cancelled() or task.exception():  # this node ends: nobody hears why
                await asyncio.get_running_loop().create_future()
            outcome = task.result()
            if isinstance(outcome, bytes):
                return outcome
            raise outcome

        try:
            async with asyncio.TaskGroup() as tasks:
                self._network.listen(self._name, self._own, answer)
                await asyncio.get_running_loop().create_future()
        finally:
            self._network.leave(self._own, answer)

    def clock_offset_s(self) -> float:
        """Return 0: all nodes of a world share one clock."""
        return 0.0

    async def ask(self, route: SimRoute, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message and return its answer; raises PeerTimeout or BadMessage."""
        host = self._network.host_of(self._name, route.peer.families)
        return await self._network.ask(
            self._name, self._own, route.peer.node_id, name, body, timeout_s, host, route.peer.families
        )
