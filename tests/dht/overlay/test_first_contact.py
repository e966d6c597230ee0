"""Nodes that listen on all addresses and have to find out theirs, the first of them among them, meet within seconds."""

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from bootstrap.networks import load_network, new_network
from dht import Address, Endpoint, Identity, OverlayService, Strategy
from dht import system_clock as clock
from dht.config import DhtConfig
from dht.overlay.assembly import open_overlay
from dht.overlay.settings import OverlaySettings
from node.extras.demo.processes import free_ports
from tests.dht.overlay.test_service import until

HERE = "127.0.0.1"


@pytest.mark.parametrize("is_named", [True, False])
async def test_three_that_know_no_address_of_their_own_meet_at_the_first(is_named: bool) -> None:
    now = int(clock().wall)
    ends = {"effective_at": 0, "next_at": now + 10**7, "expires_at": now + 2 * 10**7, "slot_bits": 4}
    strategy = Strategy(network="", version=1, **ends, declared_prefixes=("127.0.0.0/8",))
    network = load_network(new_network("met", [Identity(b"\1" * 32)], strategy))
    ports = free_ports(3, 24_100 + 20 * is_named)  # none that connections are given

    def opened(number: int, files: ThreadPoolExecutor) -> OverlayService:
        port = ports[number]
        place = OverlaySettings((Endpoint("0.0.0.0", port, port),), mode="auto")
        identity, rng = Identity(bytes([number + 1]) * 32), random.Random(number)
        return open_overlay(identity, network, DhtConfig(), place, clock, rng, files)

    with ThreadPoolExecutor(1) as files:
        overlays = [opened(number, files) for number in range(3)]
        for overlay in overlays[0 if is_named else 1 :]:
            overlay.join([Address(HERE, ports[0])], by_network=is_named)
        if not is_named:
            overlays[0].begin_network()
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(overlay.run()) for overlay in overlays]
            try:
                await until(lambda: all(len(o.view.live()) == len(o.view.members()) == 3 for o in overlays), 12.0)
            finally:
                for task in running:
                    task.cancel()
