"""The overlay by itself under virtual time: cores by the dozen, nothing above them."""

from collections import Counter

from dht import Slot
from dht.slot_set import encode_slots
from node.extras.simulation.swarm import Swarm
from tests.node.extras.simulation.test_swarm import live_share

MIXED = ("both", "4", "6")


def joined(nodes: int, seed: int = 1, *, loss: float = 0.0, pause_s: float = 0.0) -> Swarm:
    """Nodes of all families that join one after the other; the first three have both."""
    swarm = Swarm(seed, loss)
    for n in range(nodes):
        (bee,) = swarm.add(1, families=MIXED[n % 3] if n > 2 else "both")
        if n:
            swarm.join(bee, swarm.bees[0])
        swarm.run(swarm.time + pause_s)
    return swarm


def test_five_nodes_of_mixed_families_know_each_other_within_three_seconds() -> None:
    swarm = joined(5)
    swarm.run(3.0)
    assert live_share(swarm, swarm.bees) == 1.0
    everybody = tuple(sorted(bee.node_id for bee in swarm.bees))
    assert all(bee.core.members.members(swarm.now) == everybody for bee in swarm.bees)


def test_a_death_is_seen_within_thirty_seconds_and_a_return_within_six() -> None:
    swarm = joined(12, loss=0.01)
    swarm.run(60.0)
    victim, others = swarm.bees[5], swarm.bees[:5] + swarm.bees[6:]
    swarm.kill(victim)
    swarm.run(90.5)
    assert not any(bee.core.members.is_live(victim.node_id, swarm.now) for bee in others)
    assert all(victim.node_id in bee.core.members.members(swarm.now) for bee in others), "it is still a member"
    assert live_share(swarm, others) == 1.0
    swarm.wake(victim)
    swarm.run(96.5)
    assert live_share(swarm, swarm.bees) == 1.0


def test_news_of_one_reach_all_within_seconds() -> None:
    swarm = joined(40)
    swarm.run(30.0)
    teller = swarm.bees[7]
    teller.core.own.announce(encode_slots(Slot(s) for s in range(40)), b"", due=3)
    swarm.kick(teller)
    swarm.run(36.0)
    known = [bee.core.members.find(teller.node_id) for bee in swarm.bees if bee is not teller]
    assert all(each and len(each.opened.heartbeat.ready_slots) == 40 for each in known)


def refused(swarm: Swarm) -> Counter[str]:
    return sum((Counter(bee.core.refused) for bee in swarm.bees), start=Counter())


def test_fifty_nodes_live_cheaply() -> None:
    swarm = joined(50, 2, loss=0.01, pause_s=0.3)
    swarm.run(swarm.time + 60.0)
    before = refused(swarm)  # the first contact, to which all of them came within seconds
    for _ in range(2):
        assert live_share(swarm, swarm.bees) >= 0.999
        swarm.run(swarm.time + 60.0)
    assert live_share(swarm, swarm.bees) >= 0.999
    assert swarm.sent / 50 / swarm.time <= 3.0
    assert refused(swarm) == before and before.total() < 10
