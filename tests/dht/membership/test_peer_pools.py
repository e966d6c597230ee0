"""Waiting peers cost little: all of them, one prefix and silence are bounded. Peers that members name come first. Named
peers come first."""

from ipaddress import ip_address

from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer
from dht.membership.peer_pools import BLOCK_LIMIT, WAIT_S, WAITING_LIMIT, WaitingPeers
from dht.wire.address_policy import AddressPolicy
from dht.wire.heartbeat import Heartbeat, read_heartbeat


def peer(n: int, host: str, sent: float = 0.0) -> tuple[NodeId, KnownPeer]:
    endpoint = (ip_address(host).packed, 1, 1)
    opened = read_heartbeat(b"", Heartbeat(Identity(n.to_bytes(32, "big")).public_key, 1, sent, sent + 9, (endpoint,)))
    return opened.contact.node_id, KnownPeer(opened, sent, 0.0, 0.0, 0)


def test_four_of_a_prefix_wait_and_any_that_a_member_names() -> None:
    named = set[NodeId]()
    waiting = WaitingPeers(named.__contains__)
    peers = [peer(n, f"9.1.1.{n}") for n in range(1, BLOCK_LIMIT + 3)]
    for each, known in peers[:BLOCK_LIMIT]:
        assert waiting.put(each, known, 0.0) == []
    crowded, other = peers[BLOCK_LIMIT:]
    assert waiting.put(*crowded, 0.0) == [crowded[0]]
    named.add(other[0])
    assert waiting.put(*other, 0.0) == [] and waiting.find(other[0])
    waiting.take(peers[0][0])
    waiting.take(peers[1][0])
    assert waiting.put(*crowded, 0.0) == []
    declared = WaitingPeers(named.__contains__)
    declared.policy = AddressPolicy(("9.1.0.0/16",))
    assert all(declared.put(*each, 0.0) == [] for each in peers[:-1])


def test_the_one_that_waits_longest_gives_way_and_a_named_one_last() -> None:
    named = set[NodeId]()
    waiting = WaitingPeers(named.__contains__)
    peers = [peer(n, f"9.{n // 250 + 1}.{n % 250}.1") for n in range(1, WAITING_LIMIT + 3)]
    named.add(peers[0][0])
    for each, known in peers[:WAITING_LIMIT]:
        assert waiting.put(each, known, 0.0) == []
    assert waiting.put(*peers[-1], 0.0) == [peers[1][0]]
    assert waiting.put(*peers[-2], 0.0) == [peers[2][0]]
    assert len(waiting) == WAITING_LIMIT and waiting.find(peers[0][0])


def test_who_falls_silent_is_forgotten_after_two_minutes() -> None:
    waiting = WaitingPeers(lambda _: False)
    early, late = peer(1, "9.1.1.1", 0.0), peer(2, "9.1.2.1", 100.0)
    waiting.put(*early, 0.0)
    waiting.put(*late, 100.0)
    assert waiting.overdue(WAIT_S) == []
    assert waiting.overdue(WAIT_S + 1) == [early[0]]
    waiting.take(early[0])
    assert waiting.overdue(WAIT_S + 1) == []
    assert waiting.put(*early, WAIT_S + 1) == [early[0]], "nor is an old word of it taken"
    assert waiting.overdue(101 + WAIT_S) == [late[0]]
