"""Whole overlays over real loopback sockets: v4-only, v6-only and dual-stack together."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bootstrap.networks import load_network, new_network
from dht import Endpoint, Identity, Message, Network, NodeId, PeerTimeout, PortMissing, Slot, Strategy
from dht import system_clock as clock
from dht.clock import Clock, Now
from dht.config import DhtConfig
from dht.overlay.assembly import open_overlay
from dht.overlay.service import OverlayService
from dht.overlay.settings import OverlaySettings
from dht.strategy.document import encode_document
from dht.strategy.validation import sign_strategy
from tests.loopback import free_port, needs_ipv6

PUBLISHER = Identity(b"\1" * 32)
CONFIG = DhtConfig(allow_private=True)
ALL = frozenset(Slot(n) for n in range(16))


class Hello(Message, frozen=True):
    text: str


class HelloBack(Message, frozen=True):
    text: str
    asker: bytes


def network(slot_bits: int) -> Network:
    now = int(clock().wall)
    fields = {"effective_at": 0, "next_at": now + 10**7, "expires_at": now + 2 * 10**7, "slot_bits": slot_bits}
    return load_network(new_network("live", [PUBLISHER], Strategy(network="", version=1, **fields)))


class House:
    """Overlays of one test, their executor, and what runs."""

    def __init__(self, slot_bits: int) -> None:
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="dht-files")
        self.network = network(slot_bits)
        self.tasks: dict[NodeId, asyncio.Task[None]] = {}
        self.group = asyncio.TaskGroup()

    def open(
        self, seed: int, hosts: tuple[str, ...], folder: Path | None = None, reads: Clock = clock, **place: Any
    ) -> OverlayService:
        endpoints = tuple(Endpoint(host, port, port) for host in hosts for port in [free_port(host)])
        where = OverlaySettings(endpoints, folder, **place)
        rng = random.Random(seed)
        overlay = open_overlay(Identity(bytes([seed]) * 32), self.network, CONFIG, where, reads, rng, self.executor)

        async def answer(asker: NodeId, message: Hello) -> HelloBack:
            return HelloBack(message.text[::-1], asker)

        overlay.serve(Hello, answer)
        overlay.announce(ALL, 0)
        return overlay

    def start(self, overlay: OverlayService, *doors: OverlayService) -> OverlayService:
        contacts = [door.view.contact(door.node_id) for door in doors]
        if not doors:
            overlay.begin_network()
        overlay.join(e.udp for contact in contacts if contact is not None for e in contact.endpoints)
        self.tasks[overlay.node_id] = self.group.create_task(overlay.run())
        return overlay

    async def stop(self, overlay: OverlayService) -> None:
        task = self.tasks.pop(overlay.node_id)
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def house(slot_bits: int = 4) -> AsyncIterator[House]:
    made = House(slot_bits)
    with made.executor:
        async with made.group:
            try:
                yield made
            finally:
                for task in made.tasks.values():
                    task.cancel()


async def until(true: Callable[[], bool], seconds: float) -> None:
    """Look twenty times a second whether something has become true on the real clock."""
    for _ in range(int(seconds * 20)):
        if true():
            return
        await asyncio.sleep(0.05)
    assert true(), f"not within {seconds} s"


def holders(*overlays: OverlayService) -> list[int]:
    """How many of the overlays hold each slot."""
    return [sum(slot in overlay.view.leases() for overlay in overlays) for slot in sorted(ALL)]


async def test_a_network_of_one_works_at_once(tmp_path: Path):
    async with house() as h:
        alone = h.start(h.open(21, ("127.0.0.1",), tmp_path))
        await until(lambda: holders(alone) == [1] * 16, 2.0)
        assert alone.view.owners(Slot(3)) == (alone.node_id,)
        assert alone.view.ready(Slot(3)) == (alone.node_id,)
        assert (await alone.ask(alone.node_id, Hello("abc"), HelloBack, timeout_s=1)).text == "cba"


async def test_a_clock_that_is_off_is_named_to_its_operator_and_to_nobody_else():
    def slow() -> Now:
        now = clock()
        return Now(now.wall - 40.0, now.steady)

    async with house() as h:
        first = h.start(h.open(22, ("127.0.0.1",)))
        others = [first, *(h.start(h.open(n, ("127.0.0.1",)), first) for n in (23, 24, 25))]
        late = h.start(h.open(26, ("127.0.0.1",), reads=slow), first)
        await until(lambda: all(len(each.view.live()) == 5 for each in (*others, late)), 10.0)
        for one, other in [(a, b) for a in (*others, late) for b in (*others, late) if a is not b]:
            await one.ask(other.node_id, Hello("abc"), HelloBack, timeout_s=5)
        assert late.report.warnings() == (
            "this machine's clock is 40 s behind those of its peers; set it, by NTP for example",
        )
        assert not any(overlay.report.warnings() for overlay in others)


@needs_ipv6
async def test_a_node_whose_heartbeats_are_full_runs_on_and_tells_its_owner():
    """Before, a heartbeat above 1,000 bytes ended the task that answers its peers."""
    scattered = frozenset(map(Slot, random.Random(1).sample(range(1 << 13), 600)))
    async with house(slot_bits=13) as made:
        first = made.start(made.open(1, ("127.0.0.1",)))
        full = made.start(made.open(2, ("127.0.0.1",)), first)
        assert full.report.heartbeat_warning() == ""
        full.announce(scattered, 0)

        def told() -> frozenset[Slot]:
            beat = first.view.peers.heartbeat(full.node_id)
            return beat.ready_slots if beat is not None else frozenset()

        await until(lambda: len(told() - ALL) > 300, 5.0)
        assert told() < scattered
        warning = full.report.heartbeat_warning()
        assert "all the slots that it has" in warning and warning in full.report.warnings()
        assert not made.tasks[full.node_id].done()
        full.announce(ALL, 0)
        await until(lambda: told() == ALL and not full.report.heartbeat_warning(), 5.0)


async def test_both_families_are_one_network(tmp_path: Path):
    async with house() as h:
        dual = h.start(h.open(31, ("127.0.0.1", "::1")))
        four = h.start(h.open(32, ("127.0.0.1",)), dual)
        six = h.start(h.open(33, ("::1",)), dual)
        everybody = [dual, four, six]
        await until(lambda: all(len(o.view.live()) == 3 for o in everybody), 5.0)

        answer = await four.ask(six.node_id, Hello("through"), HelloBack, timeout_s=5)
        assert answer == HelloBack("hguorht", four.node_id)
        assert (await six.ask(four.node_id, Hello("back"), HelloBack, timeout_s=5)).asker == six.node_id
        assert not four.is_direct(six.node_id) and not six.is_direct(four.node_id) and four.is_direct(dual.node_id)
        assert {o.view.owners(Slot(5)) for o in everybody} == {dual.view.owners(Slot(5))}

        doubles: list[list[int]] = []

        def settled() -> bool:
            found = holders(*everybody)
            doubles.extend([found] if max(found) > 1 else [])
            return found == [1] * 16

        await until(settled, 12.0)
        assert not doubles
        await until(lambda: all(len(o.view.ready(Slot(0))) == 3 for o in everybody), 5.0)


@needs_ipv6
async def test_a_client_of_one_family_reaches_members_of_the_other():
    async with house() as h:
        dual = h.start(h.open(35, ("127.0.0.1", "::1")))
        six = h.start(h.open(36, ("::1",)), dual)
        client = h.start(h.open(37, ("127.0.0.1",), mode="client"), dual)
        await until(lambda: {dual.node_id, six.node_id} <= client.view.live(), 6.0)
        answer = await client.ask(six.node_id, Hello("through"), HelloBack, timeout_s=5)
        assert answer == HelloBack("hguorht", client.node_id)
        assert client.node_id not in six.view.members() and client.node_id not in dual.view.live()


async def test_a_new_strategy_reaches_everybody_and_a_bad_one_nobody():
    async with house() as h:
        first = h.start(h.open(41, ("127.0.0.1",)))
        second = h.start(h.open(42, ("127.0.0.1",)), first)
        await until(lambda: len(first.view.live()) == len(second.view.live()) == 2, 5.0)
        wanted = msgspec.structs.replace(
            first.strategies.newest, version=2, previous=first.strategies.newest_digest, replicas=2
        )
        first.adopt(sign_strategy(encode_document(wanted), PUBLISHER))
        await until(lambda: second.view.strategy.version == 2, 5.0)
        assert second.view.strategy.replicas == 2
        assert second.strategies.newest_digest == first.strategies.newest_digest


async def test_a_stopped_peer_is_missed_at_once_and_comes_back_under_its_name(tmp_path: Path):
    async with house() as h:
        stays = h.start(h.open(51, ("127.0.0.1",), tmp_path / "a"))
        leaves = h.start(h.open(52, ("127.0.0.1",), tmp_path / "b"), stays)
        await until(lambda: len(stays.view.live()) == len(leaves.view.live()) == 2, 5.0)
        await until(lambda: holders(stays, leaves) == [1] * 16, 12.0)
        await h.stop(leaves)
        with pytest.raises(PeerTimeout):
            await stays.ask(leaves.node_id, Hello("?"), HelloBack, timeout_s=2)
        assert not stays.view.is_live(leaves.node_id)
        assert leaves.node_id in stays.view.members()
        await until(lambda: holders(stays) == [1] * 16, 20.0)

        back = h.start(h.open(52, ("127.0.0.1",), tmp_path / "b"))  # no door: it remembers its peers
        await until(lambda: stays.view.is_live(back.node_id) and back.view.is_live(stays.node_id), 13.0)
        assert (await stays.ask(back.node_id, Hello("ab"), HelloBack, timeout_s=3)).text == "ba"


async def test_a_bare_bootstrap_node_introduces_and_owns_nothing():
    async with house() as h:
        door = h.start(h.open(61, ("127.0.0.1",), member=False))
        one = h.start(h.open(62, ("127.0.0.1",)), door)
        two = h.start(h.open(63, ("127.0.0.1",)), door)
        await until(lambda: all(len(o.view.members()) == 2 for o in (one, two, door)), 6.0)
        assert not door.view.owned()
        await until(lambda: holders(one, two) == [1] * 16, 12.0)
        assert not door.view.leases()


def test_a_taken_tcp_port_ends_the_start_before_the_node_answers_anybody() -> None:
    house = House(4)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PortMissing, match="listen on TCP"):
        port = taken.getsockname()[1]
        where = OverlaySettings((Endpoint("127.0.0.1", port, port),))
        open_overlay(Identity(bytes(32)), house.network, CONFIG, where, clock, random.Random(1), house.executor)
