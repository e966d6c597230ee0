"""Networks in which not everybody can hear every heartbeat of everybody: what a node must know, it knows in time."""

import pytest

from tests.dht.crowd import Crowd

WARM_S = 60.0  # within this every near peer has been asked once
SLOT_BITS = 10


def crash(crowd: Crowd, share: float) -> tuple[float, float]:
    """Kill a share of the nodes; the slots whose live owners agree on the true ones 5 s and 10 s later."""
    alive = crowd.alive()
    crowd.kill(crowd.rng.sample(alive, int(len(alive) * share)))
    crowd.run(5.0)
    soon = crowd.agreement(SLOT_BITS)
    crowd.run(5.0)
    return soon, crowd.agreement(SLOT_BITS)


def joined(crowd: Crowd, within_s: int) -> bool:
    """Start a node; whether all know of it in time."""
    newcomer = crowd.cores[crowd.add()].node_id
    for _ in range(within_s):
        crowd.run(1.0)
        if crowd.knowing(newcomer) == 1.0:
            return True
    return False


def test_a_network_beyond_a_digest_agrees_after_a_crash_and_hears_of_a_newcomer() -> None:
    crowd = Crowd(1)
    crowd.introduce(84)
    crowd.run(WARM_S)
    assert crowd.agreement(SLOT_BITS) == 1.0
    crowd.packets.clear()
    crowd.run(20.0)
    assert sum(crowd.packets.values()) / 84 / 20.0 <= 2.0
    assert joined(crowd, 40)
    crowd.run(20.0)
    soon, later = crash(crowd, 0.3)
    assert soon >= 0.95
    assert later >= 0.995


def test_who_leaves_is_not_live_at_once_yet_a_member() -> None:
    crowd = Crowd(2)
    crowd.introduce(20)
    crowd.run(30.0)
    leaving = crowd.cores[3]
    leaving.leave(crowd.clock())
    crowd.kick(3)
    crowd.kill([3])
    crowd.run(1.0)
    others = [crowd.cores[n] for n in crowd.alive()]
    assert not any(core.members.is_live(leaving.node_id, crowd.clock()) for core in others)
    assert all(leaving.node_id in core.members.members(crowd.clock()) for core in others)


def test_a_single_death_is_seen_by_all_within_ten_seconds_and_loss_kills_nobody() -> None:
    crowd = Crowd(3, loss=0.1)
    crowd.introduce(30)
    crowd.run(60.0)
    wrong = []
    for _ in range(60):
        crowd.run(1.0)
        wrong.append(crowd.false_deaths())
    assert sum(wrong) / len(wrong) <= 0.002
    gone = crowd.cores[7].node_id
    crowd.kill([7])
    crowd.run(12.0)
    assert not any(crowd.cores[n].members.is_live(gone, crowd.clock()) for n in crowd.alive())


def test_liars_who_name_everybody_cause_few_questions_and_no_deaths() -> None:
    crowd = Crowd(4)
    crowd.introduce(25)
    crowd.run(60.0)
    names = b"".join(core.node_id[:4] for core in crowd.cores.values())
    liar = crowd.cores[0]
    liar._gossip._detector.names = lambda now, partner: names[: 4 * 24]  # type: ignore[method-assign]
    crowd.packets.clear()
    crowd.run(60.0)
    assert crowd.false_deaths() == 0.0
    assert max(crowd.packets.values()) / 60.0 <= 6.0


@pytest.mark.prove
@pytest.mark.parametrize(("seed", "loss"), [(1, 0.0), (2, 0.02), (3, 0.1)])
def test_three_hundred_nodes(seed: int, loss: float) -> None:
    crowd = Crowd(seed, loss=loss)
    crowd.introduce(300)
    crowd.run(WARM_S)
    crowd.packets.clear()
    crowd.run(60.0)
    assert sum(crowd.packets.values()) / 300 / 60.0 <= 2.0 + 2 * loss
    assert crowd.false_deaths() <= 0.002
    assert joined(crowd, 60)
    crowd.run(30.0)
    soon, later = crash(crowd, 0.3)
    assert soon >= 0.95
    assert later >= 0.99
