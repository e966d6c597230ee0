"""Clocks that lie: heartbeats from the future and the past, packets seen before, and a clock of our own that jumps."""

import pytest

from dht.protocol.engine import ProtocolEngine
from dht.wire.contact import Address
from dht.wire.packets import PacketKind, Ping, decode_packet
from tests.dht.attacks.town import PORT, Attacker, Town, address_of, host, identity

LIAR = Attacker(identity(99), Address("12.0.0.1", PORT))


def hear(town: Town, node: ProtocolEngine, raw: bytes) -> None:
    hello = LIAR.packet(town.keys[node.node_id], Ping(0, 0, b"", (raw,)))
    node.receive(town.clock(address_of(node)), hello, LIAR.address)


@pytest.mark.parametrize("sent_s", [121.0, 3600.0, 1e9, 1e300, float("inf"), float("nan")])
def test_a_heartbeat_from_the_future_makes_nobody_a_member(sent_s: float) -> None:
    town = Town()
    node = town.settle(3, 3.0)[0]
    at = town.now.wall + sent_s
    hear(town, node, LIAR.heartbeat(town.now, sent_at=at, expires_at=at + 40_000))
    assert node.members.find(LIAR.identity.node_id) is None
    assert node.refused["heartbeat"] == 1


@pytest.mark.parametrize("sent_s", [-40_001.0, -1e9, -1e300, float("-inf")])
def test_a_heartbeat_from_the_past_that_is_over_makes_nobody_a_member(sent_s: float) -> None:
    town = Town()
    node = town.settle(3, 3.0)[0]
    at = town.now.wall + sent_s
    hear(town, node, LIAR.heartbeat(town.now, sent_at=at, expires_at=at + 40_000))
    assert node.members.find(LIAR.identity.node_id) is None
    assert node.refused["heartbeat"] == 1


def test_an_hour_old_heartbeat_makes_a_member_but_nobody_live() -> None:
    town = Town()
    node = town.settle(3, 3.0)[0]
    dead = Attacker(identity(77), Address(host(77), PORT))
    hear(town, node, dead.heartbeat(town.now, sent_at=town.now.wall - 3600, expires_at=town.now.wall + 9))
    assert node.members.find(dead.identity.node_id) is not None
    assert not node.members.is_live(dead.identity.node_id, town.now)


def test_nobody_stays_live_by_heartbeats_that_run_ahead() -> None:
    """Dated two minutes ahead and then never again: the author is silent 30 s after the last one came."""
    town = Town()
    node = town.settle(3, 3.0)[0]
    for n in range(5):
        hear(town, node, LIAR.heartbeat(town.now, sequence=n + 1, sent_at=town.now.wall + 24.0 * n))
        town.run(1.0)
    town.run(45.0)
    assert not node.members.is_live(LIAR.identity.node_id, town.now)


def test_packets_played_again_revive_nobody_and_change_nothing() -> None:
    """All that the network said in a minute, again and again after one of its nodes has died."""
    town = Town()
    cores = town.settle(6, 30.0)
    dead = address_of(cores[2])
    del town.nodes[dead]
    recorded = [f for f in town.flights if f.at > town.steady - 20.0]
    town.run(45.0)
    epochs = [c.members.epoch for c in town.nodes.values()]
    refused = sum(c.refused.total() for c in town.nodes.values())
    for flight in recorded:
        town.throw(flight.data, Address("12.0.0.1", 5), flight.target)
        if decode_packet(flight.data).kind is PacketKind.PONG:
            refused += flight.target in town.nodes
    town.run(3.0)
    alive = list(town.nodes.values())
    assert not any(c.members.is_live(cores[2].node_id, town.now) for c in alive)
    assert [c.members.epoch for c in alive] == epochs
    assert sum(c.refused.total() for c in alive) >= refused


@pytest.mark.parametrize("jump_s", [-100_000.0, -3600.0, -60.0, 60.0, 3600.0, 40_000.0])
def test_a_node_whose_clock_jumps_and_is_set_right_is_one_of_the_network_again(jump_s: float) -> None:
    town = Town()
    cores = town.settle(6, 20.0)
    here = address_of(cores[3])
    town.wrong[here] = jump_s
    town.run(60.0)
    others = [c for c in cores if c is not cores[3]]
    assert all(a.members.is_live(b.node_id, town.now) for a in others for b in others), "it harms only itself"
    assert len(cores[3].members.members(town.clock(here))) == 6, "a jump makes no member vanish"
    town.wrong[here] = 0.0
    town.run(max(0.0, min(jump_s, 200.0)) + 60.0)
    if jump_s <= 120.0:
        assert all(cores[3].members.is_live(c.node_id, town.now) for c in others)
        assert all(c.members.is_live(cores[3].node_id, town.now) for c in others)
