from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dht.keys import NodeId, distance
from dht.routing.lookup import Lookup
from dht.wire.contact import Contact, Endpoint

OWN = NodeId(bytes(20))
PLACE = (Endpoint("9.9.9.9", 1, 1),)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 120), st.floats(0, 0.4))
def test_it_ends_at_the_nearest_that_live(seed: int, nodes: int, dead_share: float) -> None:
    rng = Random(seed)
    ids = [NodeId(rng.randbytes(20)) for _ in range(nodes)]
    dead = {p for p in ids[1:] if rng.random() < dead_share}
    knows = {p: sorted(ids, key=lambda q, p=p: distance(p, q))[:30] + rng.sample(ids, min(10, nodes)) for p in ids}
    target = rng.randbytes(20)
    lookup = Lookup(OWN, target)
    lookup.offer([(b"", Contact(ids[0], PLACE), True)])
    open_ones: list[NodeId] = []
    for _ in range(10 * nodes):
        open_ones += [c.node_id for _, c in lookup.next_queries()]
        assert len(open_ones) <= 4
        if lookup.is_done:
            break
        peer = open_ones.pop(rng.randrange(len(open_ones)))
        if peer in dead:
            lookup.failed(peer)
        else:
            lookup.answered(peer)
            near = sorted(knows[peer], key=lambda p: distance(p, target))[:16]
            lookup.offer((b"", Contact(p, PLACE), True) for p in near)
    assert lookup.is_done
    result = [c.node_id for _, c in lookup.result()]
    assert result == sorted(result, key=lambda p: distance(p, target))
    assert not dead & set(result)
    living = sorted((p for p in ids if p not in dead), key=lambda p: distance(p, target))
    assert result[:1] == living[:1]


def test_a_slow_one_frees_its_place_and_still_counts_when_it_answers() -> None:
    lookup = Lookup(OWN, bytes(20), alpha=1)
    ids = [NodeId(bytes([n]) * 20) for n in (1, 2)]
    lookup.offer((b"", Contact(p, PLACE), True) for p in ids)
    assert [c.node_id for _, c in lookup.next_queries()] == ids[:1]
    assert lookup.next_queries() == []
    lookup.slow(ids[0])
    assert [c.node_id for _, c in lookup.next_queries()] == ids[1:]
    lookup.answered(ids[1])
    assert not lookup.is_done
    lookup.answered(ids[0])
    assert [c.node_id for _, c in lookup.result()] == ids


def test_a_successor_is_asked_while_one_of_the_nearest_is_slow() -> None:
    lookup = Lookup(OWN, bytes(20), k=2, alpha=2)
    ids = [NodeId(bytes([n]) * 20) for n in (1, 2, 3, 4)]
    lookup.offer((b"", Contact(p, PLACE), True) for p in ids)
    assert [c.node_id for _, c in lookup.next_queries()] == ids[:2]
    lookup.answered(ids[1])
    assert lookup.next_queries() == [], "the two nearest are asked, nobody else is needed"
    lookup.slow(ids[0])
    assert [c.node_id for _, c in lookup.next_queries()] == ids[2:3]
    lookup.answered(ids[2])
    assert not lookup.is_done
    lookup.failed(ids[0])
    assert lookup.is_done
    assert [c.node_id for _, c in lookup.result()] == ids[1:3]


def test_hops_count_the_questions_that_led_to_the_nearest() -> None:
    lookup = Lookup(OWN, bytes(20))
    assert lookup.hops == 0
    far, near = NodeId(bytes([9]) * 20), NodeId(bytes([1]) * 20)
    lookup.offer([(b"", Contact(far, PLACE), True)])
    lookup.next_queries()
    lookup.answered(far)
    assert lookup.hops == 1
    lookup.offer([(b"", Contact(near, PLACE), True)], by=far)
    lookup.next_queries()
    lookup.answered(near)
    assert lookup.hops == 2


def test_who_shares_no_family_is_found_but_not_asked() -> None:
    lookup = Lookup(OWN, bytes(20))
    lookup.offer([(b"", Contact(NodeId(bytes([1]) * 20), PLACE), False)])
    assert lookup.next_queries() == []
    assert lookup.is_done
    assert len(lookup.result()) == 1
