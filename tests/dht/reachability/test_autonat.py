"""Probes over real loopback sockets: what arrives is seen, what does not is too, and nobody is probed but who asks."""

import asyncio
import random
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from random import Random

import pytest

from bootstrap.networks import load_network, new_network
from dht import BadMessage, Contact, Endpoint, Identity, Mode, OverlayService, Strategy
from dht import system_clock as clock
from dht.config import DhtConfig
from dht.keys import NodeId, distance
from dht.messages import Message
from dht.overlay.assembly import open_overlay
from dht.overlay.settings import OverlaySettings
from dht.reachability.autonat import ONE_BURST, AreYouThere, Probe, ProbeMe, ProbeReply, choose_introducers
from dht.reachability.evidence import ReachabilityVerdict
from dht.wire.heartbeat import MOST_INTRODUCERS
from tests.dht.overlay.test_service import until
from tests.loopback import free_port, has_ipv6

HERE = "127.0.0.1"
PUBLISHER = Identity(b"\1" * 32)


class Town:
    """Overlays in a network that declares loopback, so that the rules of the open one hold otherwise."""

    def __init__(self, tasks: asyncio.TaskGroup, files: ThreadPoolExecutor) -> None:
        now = int(clock().wall)
        ends = {"effective_at": 0, "next_at": now + 10**7, "expires_at": now + 2 * 10**7, "slot_bits": 4}
        declared = {"declared_prefixes": ("127.0.0.0/8", "::1/128")}
        strategy = Strategy(network="", version=1, **ends, **declared)
        self.network = load_network(new_network("probes", [PUBLISHER], strategy))
        self.tasks, self.files, self.all = tasks, files, list[OverlayService]()
        self.running: list[asyncio.Task[None]] = []

    def start(self, seed: int, host: str, mode: Mode = "member", port: int = 0) -> OverlayService:
        port = port or free_port(host)
        place = OverlaySettings((Endpoint(host, port, port),), mode=mode)
        identity, rng = Identity(bytes([seed]) * 32), random.Random(seed)
        overlay = open_overlay(identity, self.network, DhtConfig(), place, clock, rng, self.files)
        doors = [overlay.view.contact(o.node_id) or o.view.contact(o.node_id) for o in self.all[:1]]
        if not doors:
            overlay.begin_network()
        overlay.join(e.udp for contact in doors if contact is not None for e in contact.endpoints)
        self.running.append(self.tasks.create_task(overlay.run()))
        self.all.append(overlay)
        return overlay


@asynccontextmanager
async def town() -> AsyncIterator[Town]:
    with ThreadPoolExecutor(1) as files:
        async with asyncio.TaskGroup() as tasks:
            found = Town(tasks, files)
            try:
                yield found
            finally:
                for task in found.running:
                    task.cancel()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_node_on_all_addresses_proves_its_own_and_becomes_a_member(host: str) -> None:
    if ":" in host and not has_ipv6():
        pytest.skip("no IPv6 loopback here")
    async with town() as t:
        others = [t.start(seed, host) for seed in (11, 12, 13)]
        await until(lambda: all(len(o.view.live()) == 3 for o in others), 6.0)
        node = t.start(14, "::" if ":" in host else "0.0.0.0", "auto")
        assert not node.takes_part
        await until(lambda: node.takes_part, 12.0)
        await until(lambda: all(len(o.view.live()) == 4 for o in others), 6.0)
        assert [found.verdict for found in node.report.reachability().values()] == [ReachabilityVerdict.REACHABLE]
        await until(lambda: not node.report.warnings(), 6.0)  # the others may know of its admission before it does


async def test_closed_ports_and_other_keys_are_told_apart_from_open_ones() -> None:
    async with town() as t:
        asker, first, second = (t.start(seed, "127.0.0.1") for seed in (21, 22, 23))
        await until(lambda: all(len(o.view.live()) == 3 for o in t.all), 6.0)
        here, there = (contact_of(o).endpoints[0] for o in (asker, second))
        closed = free_port("127.0.0.1")

        async def ask(udp_port: int, tcp_port: int) -> ProbeReply:
            return await asker.ask(first.node_id, ProbeMe(4, udp_port, tcp_port), ProbeReply, timeout_s=15)

        wanted = {
            (here.udp_port, here.tcp_port): ProbeReply(True, True, HERE, second.node_id),
            (closed, here.tcp_port): ProbeReply(False, True, HERE, second.node_id),
            (here.udp_port, closed): ProbeReply(True, False, HERE, second.node_id),
            (there.udp_port, there.tcp_port): ProbeReply(
                False, False, HERE, second.node_id
            ),  # somebody else lives there
        }
        async with asyncio.TaskGroup() as tasks:
            asked = {ports: tasks.create_task(ask(*ports)) for ports in wanted}
        assert {ports: task.result() for ports, task in asked.items()} == wanted


async def test_only_the_askers_own_address_is_probed_for_members_and_seldom() -> None:
    async with town() as t:
        one, two = t.start(31, "127.0.0.1"), t.start(32, "127.0.0.1")
        await until(lambda: all(len(o.view.live()) == 2 for o in t.all), 6.0)
        port = contact_of(one).endpoints[0].udp_port

        async def refused(message: Message, reason: str, by: OverlayService = one) -> None:
            with pytest.raises(BadMessage, match=reason):
                await by.ask_at(contact_of(two), message, ProbeReply, timeout_s=15)

        await refused(ProbeMe(6, port, port), "another family")
        await refused(Probe(one.node_id, "10.0.0.1", port, port), "does not allow")
        await refused(Probe(one.node_id, "::ffff:127.0.0.1", port, port), "does not allow")
        stranger = t.start(33, "127.0.0.1", "client")
        await refused(Probe(one.node_id, "127.0.0.1", port, port), "for members", stranger)
        with pytest.raises(BadMessage, match="too many"):  # some were asked for already, by the node itself
            for _ in range(int(ONE_BURST) + 1):
                await one.ask_at(contact_of(two), ProbeMe(4, port, port), ProbeReply, timeout_s=15)


async def test_a_client_answers_that_it_is_there_and_is_in_nobodys_view() -> None:
    async with town() as t:
        node = t.start(51, "127.0.0.1")
        client = t.start(52, "127.0.0.1", "client")
        await until(lambda: client.view.is_live(node.node_id), 5.0)
        there = Contact(client.node_id, contact_of(client).endpoints)
        await node.ask_at(there, AreYouThere(), Message, timeout_s=3)
        assert node.view.contact(client.node_id) is None
        assert client.node_id not in client.view.members()


def contact_of(overlay: OverlayService) -> Contact:
    contact = overlay.view.contact(overlay.node_id)
    assert contact is not None
    return contact


RNG = Random(1)
IDS = [NodeId(RNG.randbytes(20)) for _ in range(30)]
ME = IDS[0]


def test_the_nearest_introduce_and_each_node_has_others() -> None:
    chosen = choose_introducers(ME, (), IDS[1:])
    assert chosen == tuple(sorted(IDS[1:], key=lambda peer: distance(peer, ME))[:MOST_INTRODUCERS])
    assert choose_introducers(IDS[7], (), [*IDS[:7], *IDS[8:]]) != chosen


def test_who_was_chosen_stays_while_it_can_and_who_cannot_is_replaced() -> None:
    kept = tuple(sorted(IDS[1:], key=lambda peer: -distance(peer, ME))[:MOST_INTRODUCERS])
    assert choose_introducers(ME, kept, IDS[1:]) == kept
    able = [peer for peer in IDS[1:] if peer != kept[1]]
    assert set(kept) - {kept[1]} < set(choose_introducers(ME, kept, able))
    assert len(choose_introducers(ME, kept, able)) == MOST_INTRODUCERS


def test_where_nobody_is_able_nobody_introduces() -> None:
    assert choose_introducers(ME, IDS[1:3], []) == ()
