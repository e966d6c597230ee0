"""Bare cores by the hundred: lookups find the true nearest, cuts heal, one seed gives one trace."""

from random import Random

import pytest

from dht import Contact, distance
from node.extras.simulation.forming import form
from node.extras.simulation.swarm import Bee, Swarm


def formed(nodes: int = 80, seed: int = 1, *, loss: float = 0.0, members: bool = False) -> Swarm:
    swarm = Swarm(seed, loss)
    swarm.add(nodes)
    form(swarm, members=members)
    return swarm


def look_up(swarm: Swarm, bee: Bee, target: bytes) -> list[list[Contact]]:
    found: list[list[Contact]] = []
    bee.core.finder.find(swarm.now, target, lambda _, contacts: found.append(contacts))
    swarm.kick(bee)
    return found


def live_share(swarm: Swarm, bees: list[Bee]) -> float:
    pairs = [a.core.members.is_live(b.node_id, swarm.now) for a in bees for b in bees if a is not b]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_lookups_find_the_true_nearest(loss: float):
    swarm, rng = formed(loss=loss), Random(7)
    for _ in range(20):
        asker, target = rng.choice(swarm.bees), rng.randbytes(20)
        found = look_up(swarm, asker, target)
        swarm.run(swarm.time + 6.0)
        others = sorted((b.node_id for b in swarm.bees if b is not asker), key=lambda i: distance(i, target))
        assert [contact.node_id for contact in found[0]] == others[:16]


def test_lookups_hardly_wait_for_the_dead_and_none_wait_for_the_lost():
    def took(dead: int, loss: float) -> list[float]:
        swarm, rng, ends = formed(100, 3, loss=loss), Random(7), list[float]()
        swarm.kill(*swarm.bees[:dead])
        for _ in range(30):
            asker, began = rng.choice(swarm.bees[dead:]), swarm.time
            asker.core.finder.find(
                swarm.now, rng.randbytes(20), lambda now, _, began=began: ends.append(now.steady - began)
            )
            swarm.kick(asker)
            swarm.run(swarm.time + 3.0)
        assert len(ends) == 30
        return sorted(ends)

    calm, lossy, deadly = took(0, 0.0), took(0, 0.02), took(30, 0.0)
    assert calm[15] < 0.3
    assert lossy[15] < 1.15 * calm[15]
    assert deadly[15] < 0.8
    assert deadly[27] < 1.2


def test_who_answers_in_a_lookup_gets_a_place_in_the_table():
    swarm = formed(60)
    asker = swarm.bees[5]
    swarm.restart(asker)
    swarm.join(asker, swarm.bees[0])
    swarm.run(1.0)
    look_up(swarm, asker, bytes(20))
    swarm.run(3.0)
    assert len(asker.core.routing) > 20


def test_a_network_that_joins_one_by_one_ends_as_one_that_was_formed():
    swarm = Swarm(seed=2)
    for n in range(60):
        (bee,) = swarm.add(1, families=("both", "4", "6")[n % 3])
        if n:
            swarm.join(bee, swarm.bees[0])
        swarm.run(swarm.time + 0.2)
    swarm.run(45.0)
    whole = formed(60, members=True)
    assert live_share(swarm, swarm.bees) == live_share(whole, whole.bees) == 1.0


def test_the_dead_and_those_across_a_cut_hear_nothing_until_they_are_back():
    swarm = formed(20, members=True)
    swarm.run(20.0)
    swarm.kill(swarm.bees[3])
    swarm.cut(dict.fromkeys(range(10), 1))
    swarm.run(80.0)
    here, there = [b for b in swarm.bees[:10] if b.up], swarm.bees[10:]
    assert live_share(swarm, here) == live_share(swarm, there) == 1.0
    assert not any(a.core.members.is_live(b.node_id, swarm.now) for a in here for b in there)
    assert not any(a.core.members.is_live(swarm.bees[3].node_id, swarm.now) for a in swarm.running())
    swarm.heal()
    swarm.wake(swarm.bees[3])
    swarm.run(170.0)
    assert live_share(swarm, swarm.bees) == 1.0


def test_a_node_behind_a_nat_reaches_others_and_is_reached_by_those_it_asked():
    swarm = Swarm(seed=4)
    swarm.add(2)
    (shut,) = swarm.add(1, nat=True)
    for bee in swarm.bees[1:]:
        swarm.join(bee, swarm.bees[0])
    swarm.bees[1].core.join(swarm.now, shut.addresses.values())
    swarm.run(0.04)
    assert not shut.core.members.is_live(swarm.bees[1].node_id, swarm.now), "nobody gets in uninvited"
    swarm.run(10.0)
    assert live_share(swarm, swarm.bees) == 1.0


def test_the_same_seed_gives_the_same_trace():
    def trace(seed: int) -> str:
        swarm = formed(40, seed, loss=0.1, members=True)
        swarm.run(5.0)
        return swarm.trace_hash

    assert trace(1) == trace(1) != trace(2)
