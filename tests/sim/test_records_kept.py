"""Small records outlive those who hold them, and cost little while nobody dies."""

import pytest

from dht import Key, NodeId, distance
from dht.wire.value_record import ValueRecord
from node.extras.simulation.forming import form
from node.extras.simulation.swarm import Bee, Swarm
from tests.parameters import proved

pytestmark = pytest.mark.prove
KEY = Key(b"\x5a" * 20)
HOUR_S = 3600.0


def holders(swarm: Swarm) -> list[Bee]:
    return [bee for bee in swarm.running() if len(bee.core.store)]


def read(swarm: Swarm, by: Bee) -> list[bytes]:
    """Return the values that a node reads at the point."""
    found: list[bytes] = []
    bee_now = swarm.now

    def done(_now: object, records: list[ValueRecord]) -> None:
        found.extend(record.value for record in records)

    by.core.finder.get(bee_now, KEY, done)
    swarm.kick(by)
    swarm.run(swarm.time + 20.0)
    return found


def grown(nodes: int, seed: int) -> Swarm:
    swarm = Swarm(seed=seed)
    swarm.add(nodes)
    form(swarm, members=False)  # nobody gossips: only the records are looked at
    swarm.run(5.0)
    writer = max(swarm.running(), key=lambda bee: distance(bee.node_id, KEY))
    for n, value in enumerate((b"old", b"new")):
        write = writer.core.finder.write
        swarm.later(float(n) * 5, write, swarm.now, KEY, value, 40 * HOUR_S, lambda _now, _count: None)
        swarm.run(swarm.time + 10.0)
        swarm.kick(writer)
        swarm.run(swarm.time + 10.0)
    swarm.kill(writer)
    return swarm


@pytest.mark.parametrize(("nodes", "share"), [*proved((40, 0.5)), (40, 1.0)])
def test_a_record_is_read_though_its_holders_died_one_after_the_other(nodes: int, share: float) -> None:
    swarm = grown(nodes, 5)
    first = holders(swarm)
    assert len(first) >= 12
    doomed = sorted(first, key=lambda bee: distance(bee.node_id, KEY))[: round(share * len(first))]
    for bee in doomed:
        swarm.run(swarm.time + HOUR_S / len(doomed))
        swarm.kill(bee)
    now_nearest: list[NodeId] = sorted((b.node_id for b in swarm.running()), key=lambda id: distance(id, KEY))[:16]
    swarm.run(swarm.time + HOUR_S / 2)
    having = {bee.node_id for bee in holders(swarm)}
    assert len(having & set(now_nearest)) >= 12, "those who are nearest now have it"
    assert read(swarm, swarm.running()[0])[:1]


def test_holders_that_live_store_it_again_seldom() -> None:
    swarm = grown(40, 6)
    before, then = swarm.time, sum(bee.core.finder.hops.total() for bee in swarm.running())
    swarm.run(before + HOUR_S / 2)
    lookups = sum(bee.core.finder.hops.total() for bee in swarm.running()) - then
    refreshes = 40 * (HOUR_S / 2) / 300.0
    assert lookups - refreshes < 40, "about one holder in a quarter of an hour, not all of them"
