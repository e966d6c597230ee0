"""A network admits its founder, whatever family of address its first contact has."""

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bootstrap import load_network
from dht import Address, AddressPolicy, DhtConfig, Endpoint, Identity, Network, OverlayService, OverlaySettings
from dht import system_clock as clock
from dht.overlay.assembly import open_overlay
from dht.strategy.document import parse_document
from node.extras.demo.processes import free_ports
from node.strategy.founding import make_network
from tests.dht.overlay.test_service import until
from tests.loopback import needs_ipv6

LOOPS, PRIVATES, PUBLICS = ("127.0.0.1", "::1"), ("192.168.7.1", "fd12::1"), ("9.9.9.9", "2606:4700::1")


def founded(folder: Path, *bootstrap: str) -> Network:
    return load_network(make_network("campus", folder / "campus", bootstrap, fields={"admission": "attested"})[0])


@pytest.mark.parametrize(
    ("bootstrap", "allowed", "refused"),
    [
        ("127.0.0.1:8091", LOOPS + PUBLICS, PRIVATES),
        ("[::1]:8091", LOOPS + PUBLICS, PRIVATES),
        ("192.168.1.1:8091", PRIVATES + PUBLICS, LOOPS),
        ("[fd00::7]:8091", PRIVATES + PUBLICS, LOOPS),
        ("9.9.9.9:8091", PUBLICS, PRIVATES + LOOPS),
    ],
)
def test_a_network_allows_both_families_of_its_first_contacts_kind(
    tmp_path: Path, bootstrap: str, allowed: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    strategy = load_network(make_network("campus", tmp_path / "campus", [bootstrap])[0]).first
    policy = AddressPolicy(parse_document(strategy.document).declared_prefixes)
    assert [host for host in (*LOOPS, *PRIVATES, *PUBLICS) if policy.allows(host)] == sorted(
        allowed, key=(*LOOPS, *PRIVATES, *PUBLICS).index
    )
    assert not any(policy.allows(host) for host in refused)


@needs_ipv6
@pytest.mark.parametrize("there", [4, 6])
async def test_a_node_joins_its_dual_stack_founder_over_either_family(tmp_path: Path, there: int) -> None:
    ports = free_ports(2, 22_100 + 10 * there)
    host, other = ("127.0.0.1", "::1") if there == 4 else ("::1", "127.0.0.1")
    network = founded(tmp_path, f"[{other}]:{ports[0]}" if ":" in other else f"{other}:{ports[0]}")

    def opened(number: int, hosts: tuple[str, ...], files: ThreadPoolExecutor) -> OverlayService:
        place = OverlaySettings(tuple(Endpoint(each, ports[number], ports[number]) for each in hosts))
        identity, rng = Identity(bytes([number + 1]) * 32), random.Random(number)
        return open_overlay(identity, network, DhtConfig(), place, clock, rng, files)

    with ThreadPoolExecutor(1) as files:
        founder, newcomer = opened(0, ("127.0.0.1", "::1"), files), opened(1, (host,), files)
        founder.begin_network()
        newcomer.join([Address(host, ports[0])])
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(overlay.run()) for overlay in (founder, newcomer)]
            try:
                both = (founder, newcomer)
                await until(lambda: all(len(o.view.live()) == len(o.view.members()) == 2 for o in both), 15.0)
            finally:
                for task in running:
                    task.cancel()
