"""Who introduces a node behind a NAT."""

from random import Random

from dht.keys import NodeId, distance
from dht.reachability.introducer_choice import choose_introducers
from dht.wire.heartbeat import MOST_INTRODUCERS

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
