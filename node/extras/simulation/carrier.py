"""Carries messages between simulated nodes, in place of the TLS channel."""

import asyncio
from contextvars import copy_context

from dht import Clock, Endpoint, HearTime, InputError, NoConnection, NodeId, RemoteError, Route
from node.extras.simulation.network import Answerer, SimNetwork


class SimCarrier:
    """Asks and answers messages for one node.

    Handlers run in tasks of the node that answers, as behind a socket: they die with it, not with whoever asked.
    """

    def __init__(
        self, network: SimNetwork, name: str, own: NodeId, clock: Clock | None = None, hear_time: HearTime | None = None
    ) -> None:
        """With `clock` and `hear_time`, requests are refused where clocks differ too much, as signed ones are."""
        self._network = network
        if clock is not None and hear_time is not None:
            network.keep_time(own, clock, hear_time)
        self._name = name
        self._own = own

    async def run(self, answerer: Answerer, *_: object) -> None:
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

    def dial(self, peer: NodeId, endpoint: Endpoint, any_port: bool) -> None:
        """Do nothing: no connections are made here."""

    async def renew(self) -> None:
        """Do nothing: no connection is kept here."""

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message and return its answer; raises PeerTimeout, NoConnection or BadMessage, where the clocks of
        both differ so much that no signed request passes, too."""
        peer, network = route.peer, self._network
        source = self._name
        if route.relay is not None:
            passes = network.connect(source, route.relay.node_id, route.relay.families)
            source = network.name_of(route.relay.node_id) if passes else ""
        if host := network.connect(source, peer.node_id, peer.families):
            return await network.ask(self._name, self._own, peer.node_id, name, body, timeout_s, host)
        has_way = any(network.source_towards(self._name, e.host) for e in (route.relay or peer).endpoints)
        waited_s = min(route.connect_s, timeout_s) if has_way else 0.0
        await asyncio.sleep(waited_s)
        raise NoConnection(peer.node_id.hex(), waited_s)
