"""Networks in which not everybody can hear every heartbeat of everybody: what a node must know, it knows in time."""

from collections.abc import Sequence

import pytest

from dht import NodeId, Slot
from dht.admission.neighbourhood import neighbourhood_of
from node.extras.simulation.delays import RTT_S, Delays
from node.extras.simulation.forming import form
from node.extras.simulation.observations import teams_agree
from node.extras.simulation.swarm import Bee, Swarm
from tests.parameters import proved

WARM_S = 60.0  # within this every near peer has been asked once
SLOT_BITS = 10
SLOTS = [Slot(n) for n in range(1 << SLOT_BITS)]


MIXED = ("both", "4", "6")
SLOW_S = 0.16  # the round trip of the worst lines that a query must bear


def formed(
    seed: int, nodes: int, *, loss: float = 0.0, families: Sequence[str] = ("4",), rtt_s: float = RTT_S
) -> Swarm:
    """Nodes that all know each other already, as after a restart of all from their caches. `families`: of which they
    are, in turn."""
    swarm = Swarm(seed, loss)
    swarm.delays = Delays(seed, rtt_s=rtt_s)
    for number in range(nodes):
        swarm.add(1, families=families[number % len(families)])
    form(swarm)
    return swarm


def pass_time(swarm: Swarm, seconds: float) -> None:
    swarm.run(swarm.time + seconds)


def packets(swarm: Swarm) -> list[int]:
    """Packets that each node has sent so far."""
    return [sum(bee.core.sent.values()) for bee in swarm.bees]


def false_deaths(swarm: Swarm) -> float:
    """Share of the pairs of near live nodes in which one takes the other for dead."""
    members, pairs = sorted(bee.node_id for bee in swarm.bees), list[bool]()
    for bee in swarm.running():
        near = neighbourhood_of(members, bee.node_id)
        pairs += [
            not bee.core.members.is_live(other.node_id, swarm.now)
            for other in swarm.running()
            if near.has(other.node_id)
        ]
    return sum(pairs) / len(pairs)


def knows(swarm: Swarm, peer: NodeId) -> bool:
    """Whether every other live node knows a peer."""
    return all(bee.node_id == peer or bee.core.members.find(peer) is not None for bee in swarm.running())


def crash(swarm: Swarm, share: float) -> tuple[float, float]:
    """Kill a share of the nodes; the slots whose live owners agree on the true ones 5 s and 10 s later."""
    alive = swarm.running()
    swarm.kill(*swarm.rng.sample(alive, int(len(alive) * share)))
    pass_time(swarm, 5.0)
    soon = teams_agree(swarm, SLOTS, SLOT_BITS)
    pass_time(swarm, 5.0)
    return soon, teams_agree(swarm, SLOTS, SLOT_BITS)


def joined(swarm: Swarm, within_s: int) -> bool:
    """Start a node; whether all know of it in time."""
    newcomer = swarm.add(1, families="4")[0]
    swarm.join(newcomer, swarm.bees[0])
    for _ in range(within_s):
        pass_time(swarm, 1.0)
        if knows(swarm, newcomer.node_id):
            return True
    return False


def test_a_network_beyond_a_digest_agrees_after_a_crash_and_hears_of_a_newcomer() -> None:
    swarm = formed(1, 84)
    pass_time(swarm, WARM_S)
    assert teams_agree(swarm, SLOTS, SLOT_BITS) == 1.0
    before = sum(packets(swarm))
    pass_time(swarm, 20.0)
    assert (sum(packets(swarm)) - before) / 84 / 20.0 <= 2.0
    assert joined(swarm, 40)
    pass_time(swarm, 20.0)
    soon, later = crash(swarm, 0.3)
    assert soon >= 0.95
    assert later >= 0.995


def test_who_leaves_is_not_live_at_once_yet_a_member() -> None:
    swarm = formed(2, 20)
    pass_time(swarm, 30.0)
    leaving = swarm.bees[3]
    leaving.core.leave(swarm.now)
    swarm.kick(leaving)
    swarm.kill(leaving)
    pass_time(swarm, 1.0)
    others = [bee.core for bee in swarm.running()]
    assert not any(core.members.is_live(leaving.node_id, swarm.now) for core in others)
    assert all(leaving.node_id in core.members.members(swarm.now) for core in others)


def test_a_single_death_is_seen_by_all_within_ten_seconds_and_loss_kills_nobody() -> None:
    swarm = formed(3, 30, loss=0.1)
    pass_time(swarm, 60.0)
    wrong = []
    for _ in range(60):
        pass_time(swarm, 1.0)
        wrong.append(false_deaths(swarm))
    assert sum(wrong) / len(wrong) <= 0.002
    gone = swarm.bees[7]
    swarm.kill(gone)
    pass_time(swarm, 12.0)
    assert not any(bee.core.members.is_live(gone.node_id, swarm.now) for bee in swarm.running())


def seen_dead_s(swarm: Swarm, gone: Bee) -> dict[str, float]:
    """Seconds from now until the last node of those that can ask one that is gone knows it, and the last of those that
    cannot."""
    ends, at = {"asking": 0.0, "told": 0.0}, swarm.time
    waiting = [bee for bee in swarm.running() if bee is not gone]
    while waiting and swarm.time - at < 40.0:
        pass_time(swarm, 0.1)
        for bee in [bee for bee in waiting if not bee.core.members.is_live(gone.node_id, swarm.now)]:
            ends["told" if bee.addresses.keys().isdisjoint(gone.addresses) else "asking"] = swarm.time - at
            waiting.remove(bee)
    assert not waiting
    return ends


@pytest.mark.parametrize(("seed", "loss", "rtt_s"), [(1, 0.0, RTT_S), (2, 0.1, SLOW_S), *proved((3, 0.1, SLOW_S))])
def test_who_cannot_ask_a_dead_peer_knows_when_the_others_do_and_loss_kills_nobody(
    seed: int, loss: float, rtt_s: float
) -> None:
    swarm = formed(seed, 9, loss=loss, families=MIXED, rtt_s=rtt_s)
    pass_time(swarm, 60.0)
    for _ in range(300):
        pass_time(swarm, 1.0)
        assert false_deaths(swarm) == 0.0
    for gone in swarm.bees[1:6]:
        swarm.kill(gone)
        ends = seen_dead_s(swarm, gone)
        assert ends["told"] <= ends["asking"] + 2.5
        swarm.wake(gone)
        pass_time(swarm, 130.0)
        assert false_deaths(swarm) == 0.0


@pytest.mark.parametrize("families", [("4",), MIXED])
def test_liars_who_name_everybody_cause_few_questions_and_no_deaths(families: tuple[str, ...]) -> None:
    swarm = formed(4, 25, families=families)
    pass_time(swarm, 60.0)
    names = b"".join(bee.node_id[:4] for bee in swarm.bees)
    liar = swarm.bees[0].core
    liar._gossip._detector.suspects_for = lambda now, partner: names[: 4 * 24]  # type: ignore[method-assign]
    before = packets(swarm)
    pass_time(swarm, 60.0)
    assert false_deaths(swarm) == 0.0
    assert max(now - then for now, then in zip(packets(swarm), before, strict=True)) / 60.0 <= 6.0


@pytest.mark.prove
@pytest.mark.parametrize(("seed", "loss"), [(1, 0.0), (2, 0.02), (3, 0.1)])
def test_three_hundred_nodes(seed: int, loss: float) -> None:
    swarm = formed(seed, 300, loss=loss)
    pass_time(swarm, WARM_S)
    before = sum(packets(swarm))
    pass_time(swarm, 120.0)  # they began together: traffic comes in waves of a minute
    assert (sum(packets(swarm)) - before) / 300 / 120.0 <= 2.0 + 2 * loss
    assert false_deaths(swarm) <= 0.002
    assert joined(swarm, 60)
    pass_time(swarm, 30.0)
    soon, later = crash(swarm, 0.3)
    assert soon >= 0.95
    assert later >= 0.99
