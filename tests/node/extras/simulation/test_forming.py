"""The tables of a network that is there at once."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from dht import NodeId, distance
from node.extras.simulation.forming import contacts, form
from node.extras.simulation.swarm import Swarm


@given(st.integers(2, 200), st.integers(0, 99), st.integers(1, 16))
def test_every_bucket_holds_k_of_those_that_belong_there_or_all_if_they_are_fewer(count: int, seed: int, k: int):
    rng = Random(seed)
    ids = sorted(NodeId(rng.randbytes(20)) for _ in range(count))
    own = rng.choice(ids)
    found = contacts(own, ids, rng, k)
    assert len(set(found)) == len(found)
    buckets: dict[int, list[int]] = {}
    for place, peer in enumerate(ids):
        if peer != own:
            buckets.setdefault(distance(peer, own).bit_length(), []).append(place)
    for places in buckets.values():
        assert len(set(places) & set(found)) == min(k, len(places))


def test_a_formed_network_has_met_and_all_live():
    swarm = Swarm(2)
    swarm.add(100)
    form(swarm)
    swarm.run(10.0)
    assert swarm.sent / 100 / 10.0 < 2.5, "nobody needs to be greeted"
    near = [(bee, peer) for bee in swarm.bees for peer in bee.core.members.pools.near]
    assert len(near) > 100 * 23 and all(bee.core.members.is_live(peer, swarm.now) for bee, peer in near)
