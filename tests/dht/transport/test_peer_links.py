"""PeerLinks over real loopback sockets: both ends dial each other from the ports on which they listen."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import uvloop

from dht import Address, BadMessage, Contact, Endpoint, Identity, InputError, NodeId, PeerTimeout
from dht import system_clock as clock
from dht.membership.working_families import WorkingFamilies
from dht.transport.peer_link import LENGTH_BYTES, MAX_AT_ONCE
from dht.transport.peer_links import OPENS
from dht.transport.tls_channel import TlsChannel
from dht.transport.transport import MAX_BODY_BYTES, PeerGone, PeerRefused, Route

NETWORK = "ab" * 20
ALICE, BOB, CAROL = sorted((Identity(bytes([n]) * 32) for n in (11, 12, 13)), key=lambda identity: identity.node_id)
SOMEBODY = (NodeId(b"introducer".ljust(20)),)


class Home:
    """A running channel of a node that is said to be behind a NAT; the others are told by a call
    what an introducer would tell them."""

    def __init__(self, identity: Identity, host: str) -> None:
        with socket.socket() as probe:
            probe.bind((host, 0))
            port = probe.getsockname()[1]
        self.endpoint = Endpoint(host, port, port)
        self.node_id = identity.node_id
        self.contact = Contact(identity.node_id, (self.endpoint,), SOMEBODY)
        families, rng = WorkingFamilies((4,)), random.Random(identity.node_id)
        self.channel = TlsChannel(identity, NETWORK, (Address(host, port),), families, clock, rng, lambda *_: None)
        self.others: dict[NodeId, Home] = {}
        self.asked: list[NodeId] = []
        self.lets_everybody_in = False
        self.gate, self.is_full, self.waiting, self.full_at = asyncio.Event(), asyncio.Event(), 0, MAX_AT_ONCE

    def reach(self, peer: Contact, port: int) -> bool:
        self.asked.append(peer.node_id)
        other = self.others.get(peer.node_id)
        if other is not None:
            other.channel.dial(self.node_id, self.endpoint, self.lets_everybody_in)
        return other is not None

    def find_relayed(self, asker: NodeId, host: str, port: int) -> Contact | None:
        """As an introducer does: its guests are relayed."""
        found = (c for home in self.others.values() for c in (home.contact,) if self.node_id in c.introducers)
        return next((c for c in found if (c.endpoints[0].host, c.endpoints[0].tcp_port) == (host, port)), None)

    async def answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        if name == "Refuse":
            raise InputError("not today")
        if name == "Wait":
            self.waiting += 1
            if self.waiting == self.full_at:
                self.is_full.set()
            await self.gate.wait()
        return asker + name.encode() + body

    async def ask(self, other: "Home", name: str = "Echo", body: bytes = b"", timeout_s: float = 8.0) -> bytes:
        return await self.channel.ask(Route(other.contact), name, body, timeout_s=timeout_s)


def behind_a_nat(home: Home, introducer: Home) -> None:
    """Let nobody in: what others dial leads nowhere, and only what this home dials itself comes about."""
    with socket.socket() as probe:
        probe.bind((home.endpoint.host, 0))
        port = probe.getsockname()[1]
    introducer.lets_everybody_in = True
    home.contact = Contact(home.node_id, (Endpoint(home.endpoint.host, port, port),), (introducer.node_id,))


def no(*_: object) -> bool:
    return False


@asynccontextmanager
async def running(*homes: Home, introduced: bool = True) -> AsyncIterator[None]:
    for home in homes:
        home.others = {other.node_id: other for other in homes if other is not home} if introduced else {}
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(home.channel.run(home.answer, home.find_relayed, home.reach, no)) for home in homes]
        for _ in range(5):  # until the tasks of their tasks have begun
            await asyncio.sleep(0)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


def two() -> tuple[Home, Home]:
    return Home(ALICE, "127.0.0.1"), Home(BOB, "127.0.0.2")


async def test_one_link_carries_questions_and_answers_both_ways() -> None:
    alice, bob = two()
    async with running(alice, bob):
        assert await alice.ask(bob, "Echo", b"hello") == alice.node_id + b"Echohello"
        assert await bob.ask(alice, "Echo", b"back") == bob.node_id + b"Echoback"
        assert (alice.asked, bob.asked) == ([bob.node_id], []), "the link that is there serves the other way, too"
        big = bytes(MAX_BODY_BYTES - 64)
        assert len(await alice.ask(bob, "Echo", big)) == len(big) + 24


def test_a_link_is_made_on_the_loop_that_nodes_run_on() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(test_one_link_carries_questions_and_answers_both_ways())


async def test_both_may_open_at_once_and_one_link_comes_of_it() -> None:
    alice, bob = two()
    async with running(alice, bob):
        async with asyncio.TaskGroup() as tasks:
            there = tasks.create_task(alice.ask(bob))
            back = tasks.create_task(bob.ask(alice))
        assert there.result() == alice.node_id + b"Echo"
        assert back.result() == bob.node_id + b"Echo"


async def test_many_questions_share_the_link_and_a_slow_one_holds_nobody_up() -> None:
    alice, bob = two()
    async with running(alice, bob):
        async with asyncio.TaskGroup() as tasks:
            slow = tasks.create_task(alice.ask(bob, "Wait"))
            assert len({await alice.ask(bob, "Echo", bytes([n])) for n in range(20)}) == 20
            assert not slow.done()
            bob.gate.set()
        assert slow.result() == alice.node_id + b"Wait"


async def test_refusals_and_too_many_questions_at_once_are_told_apart() -> None:
    alice, bob = two()
    async with running(alice, bob):
        with pytest.raises(PeerRefused, match="not today"):
            await alice.ask(bob, "Refuse")
        async with asyncio.TaskGroup() as tasks:
            waiting = [tasks.create_task(alice.ask(bob, "Wait")) for _ in range(MAX_AT_ONCE)]
            await bob.is_full.wait()
            with pytest.raises(PeerTimeout):
                await alice.ask(bob)
            bob.gate.set()
        assert all(task.result() for task in waiting)


async def test_a_peer_that_nobody_can_tell_is_not_tried_again_for_a_while() -> None:
    alice, bob = two()
    async with running(alice, bob, introduced=False):
        for _ in range(3):
            with pytest.raises(PeerTimeout):
                await alice.ask(bob)
        assert alice.asked == [bob.node_id]


async def test_another_key_at_the_peers_address_gets_no_question() -> None:
    alice, bob = two()
    async with running(alice, bob):
        wrong = Home(CAROL, "127.0.0.3")
        wrong.endpoint, wrong.contact = bob.endpoint, Contact(wrong.node_id, (bob.endpoint,), SOMEBODY)
        alice.others[wrong.node_id] = bob
        with pytest.raises(PeerTimeout):
            await alice.ask(wrong)


async def test_who_waits_when_the_other_end_stops_is_told() -> None:
    alice, bob = two()
    async with running(alice):
        with suppress(ExceptionGroup):
            async with running(bob):
                alice.others = {bob.node_id: bob}
                bob.others = {alice.node_id: alice}
                await alice.ask(bob)
                async with asyncio.TaskGroup() as tasks:
                    waiting = tasks.create_task(fails(alice, bob))
                    link = bob.channel._links.find(alice.node_id)
                    assert link is not None
                    await asyncio.sleep(0.05)
                    link.close()
                assert waiting.result()


async def fails(alice: Home, bob: Home) -> bool:
    with pytest.raises(PeerGone):
        await alice.ask(bob, "Wait")
    return True


@pytest.mark.parametrize("greeting", [b"", b"x" * 100, (1 << 31).to_bytes(LENGTH_BYTES, "big")])
async def test_strangers_that_say_nothing_or_nonsense_are_put_off(greeting: bytes) -> None:
    alice, bob = two()
    async with running(alice, bob):
        reader, writer = await asyncio.open_connection(bob.endpoint.host, bob.endpoint.tcp_port)
        writer.write(OPENS + greeting)
        assert await reader.read(1) in (b"K", b"")
        writer.close()
        assert await alice.ask(bob)


async def test_an_introducer_relays_to_a_peer_into_whose_nat_no_hole_leads() -> None:
    alice, bob = two()
    relay = Home(CAROL, "127.0.0.3")
    behind_a_nat(bob, relay)
    bob.full_at = 3
    through = Route(bob.contact, Contact(relay.node_id, (relay.endpoint,)))
    async with running(alice, bob, relay):
        async with asyncio.TaskGroup() as tasks:  # several at once: each tunnel is a connection of its own
            asked = [
                tasks.create_task(alice.channel.ask(through, "Wait", b"", timeout_s=8)) for _ in range(bob.full_at)
            ]
            await bob.is_full.wait()
            bob.gate.set()
        assert {each.result() for each in asked} == {alice.node_id + b"Wait"}
        assert await relay.ask(bob) == relay.node_id + b"Echo", "the relay's own link is beside them"
        big = bytes(MAX_BODY_BYTES - 64)
        assert len(await alice.channel.ask(through, "Echo", big, timeout_s=8)) == len(big) + 24
        with pytest.raises(BadMessage, match="another key"):  # only whom it names is at the other end
            wrong = Contact(CAROL.node_id, bob.contact.endpoints, bob.contact.introducers)
            await alice.channel.ask(Route(wrong, through.relay), "Echo", b"", timeout_s=8)


async def test_a_peer_that_nobody_can_tell_to_dial_is_not_relayed_to() -> None:
    alice, bob = two()
    relay = Home(CAROL, "127.0.0.3")
    behind_a_nat(bob, relay)
    async with running(alice, bob, relay, introduced=False):
        with pytest.raises(PeerTimeout):
            await alice.channel.ask(
                Route(bob.contact, Contact(relay.node_id, (relay.endpoint,))), "Echo", b"", timeout_s=3
            )
