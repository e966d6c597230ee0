import re
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from kademlia.node import Node
from kademlia.routing import KBucket

from dht.keys import NodeId, distance
from dht.routing.routing_table import TIMEOUT_FIRST_S, TIMEOUT_LEAST_S, TIMEOUT_MOST_S, K, RoutingTable, RttEstimator
from dht.wire.contact import Contact, Endpoint

OWN = NodeId(bytes(20))
IDS = [NodeId(Random(n).randbytes(20)) for n in range(400)]
FAR = [NodeId(b"\xff" + Random(n).randbytes(19)) for n in range(120)]  # all in the bucket furthest from OWN


def contact(peer: NodeId) -> Contact:
    return Contact(peer, (Endpoint("9.9.9.9", 1, 1),))


def add(table: RoutingTable, peer: NodeId) -> None:
    table.answered(peer, contact(peer), 0.05)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(IDS), max_size=200), st.sampled_from(IDS), st.integers(1, 20))
def test_closest_is_what_a_full_sort_of_the_table_gives(peers: list[NodeId], target: NodeId, count: int) -> None:
    table = RoutingTable(OWN)
    for peer in peers:
        add(table, peer)
    held = [e.contact.node_id for e in table.entries()]
    expected = sorted(held, key=lambda p: distance(p, target))[:count]
    assert [e.contact.node_id for e in table.closest(target, count)] == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(FAR), max_size=80))
def test_a_bucket_admits_and_orders_as_the_package_s(peers: list[NodeId]) -> None:
    table, bucket = RoutingTable(OWN), KBucket(0, 2**160, K)
    for peer in peers:
        add(table, peer)
        bucket.add_node(Node(peer))
    assert [e.contact.node_id for e in table.entries()] == [n.id for n in bucket.get_nodes()]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(FAR[:40]), min_size=K + 1, max_size=80), st.data())
def test_who_fails_for_good_is_replaced_as_in_the_package(peers: list[NodeId], data: st.DataObject) -> None:
    table, bucket = RoutingTable(OWN), KBucket(0, 2**160, K)
    for peer in peers:
        add(table, peer)
        bucket.add_node(Node(peer))
    gone = data.draw(st.sampled_from([e.contact.node_id for e in table.entries()]))
    for _ in range(2):
        table.failed(gone)
    replaced = len(bucket.replacement_nodes) > 0
    bucket.remove_node(Node(gone))
    held = {e.contact.node_id for e in table.entries()}
    assert held == {n.id for n in bucket.get_nodes()} | (set() if replaced else {gone})


def test_a_lost_packet_demotes_and_an_answer_restores() -> None:
    table = RoutingTable(OWN)
    add(table, IDS[0])
    table.failed(IDS[0])
    assert table.closest(OWN, 5) == []
    for _ in range(20):
        table.failed(IDS[0])
    assert len(table) == 1, "nobody waits for its place, so it is still remembered"
    add(table, IDS[0])
    assert [e.contact.node_id for e in table.closest(OWN, 5)] == [IDS[0]]


def test_a_stranger_is_waited_for_as_long_as_others_took_and_a_contact_as_long_as_it_took() -> None:
    table = RoutingTable(OWN)
    assert table.timeout_s(IDS[0]) == TIMEOUT_FIRST_S
    for _ in range(60):
        for peer in FAR[:10]:
            table.answered(peer, contact(peer), 0.3)
        table.answered(IDS[1], contact(IDS[1]), 1.0)
    assert 0.3 < table.timeout_s(IDS[0]) < 1.0 < table.timeout_s(IDS[1]) < 1.1
    assert 0.3 <= table.timeout_s(FAR[0]) < 0.31


def test_the_package_is_imported_by_the_routing_table_alone() -> None:
    root = Path(__file__).parents[3]
    files = [*root.glob("[a-z]*/**/*.py")]
    assert len(files) > 300
    users = {f.relative_to(root).as_posix() for f in files if re.search(r"(?:from|import) kademlia", f.read_text())}
    assert {user for user in users if not user.startswith(("tests/", "benchmarks/"))} == {
        "dht/routing/routing_table.py"
    }


def test_timeouts_follow_the_answers_within_their_bounds():
    timing = RttEstimator()
    assert timing.timeout_s == TIMEOUT_FIRST_S
    for _ in range(50):
        timing.took(0.001)
    assert timing.timeout_s == TIMEOUT_LEAST_S
    for _ in range(50):
        timing.took(0.4)
    assert 0.4 <= timing.timeout_s < 0.41
    timing.took(2.0)
    assert timing.timeout_s > 1.0, "one late answer is a warning"
    for _ in range(20):
        timing.took(9.0)
    assert timing.timeout_s == TIMEOUT_MOST_S


def test_nearly_all_answers_of_many_peers_come_in_time():
    rng, timing = Random(1), RttEstimator(gain=1 / 32)
    rtts = [0.05 * rng.lognormvariate(0, 0.5) for _ in range(4000)]
    late = 0
    for rtt in rtts:
        late += rtt > timing.timeout_s
        timing.took(rtt)
    assert 0 < late < 0.03 * len(rtts)
