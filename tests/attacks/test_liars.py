"""One member of five lies in one protocol: the other four give right answers, and each soon leaves it alone."""

from random import Random

import pytest

from dht import Key
from dht.overlay.point_records import PointRecords
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.attacks.liars import LIES, Judge, Lie
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

OLD_S = 60.0  # what was written later may be on its way, and accuses nobody
RIGHT = 0.99
TOUCHED, SOON = 100, 8  # queries of an asker that reach the liar until it is avoided, and until one of SHORT is
RECORDS, LONG = 50, 700
SHORT = ("hits: the best are left out", "records: there are none")


def judge(lie: Lie, plan: WorldPlan, queries: int, most_touched: int) -> None:
    async def scenario(world: World) -> None:
        *_, liar = await world.add(5)
        await world.pass_time(5.0)
        told = lie.tell(liar)
        await world.crawl()
        await crawled(world)
        await world.pass_time(OLD_S)
        if lie.later:
            await lie.later(world, liar)
        judged = await (judge := Judge(world, liar, told)).ask(queries)
        print(judged, f"{judged.share_right:.2%} right")
        assert judged.share_right >= RIGHT, judged
        assert judge.accused() <= {liar.overlay.view.node_id}, "nobody else"
        if any(judged.touched.values()):
            assert all(touched <= most_touched for touched in judged.touched.values()), judged
            assert judge.accused(), "who asked it found it out"
        assert not judged.doubly_held and not judge.thin() and not judge.unseen()

    simulate(scenario, plan)


@pytest.mark.parametrize("name", SHORT)
def test_a_lie_is_found_out_within_a_few_queries(name: str) -> None:
    judge(LIES[name], WorldPlan(seed=3, hosts=3, pages=12), 160, SOON)


@pytest.mark.prove
@pytest.mark.parametrize("name", LIES)
def test_a_thousand_queries_beside_a_liar_are_right(name: str) -> None:
    judge(LIES[name], WorldPlan(seed=5, hosts=8, pages=20), 1000, TOUCHED)


@pytest.mark.parametrize("name", ["values: none lies here", "lookups: nobody is near"])
@simulated(WorldPlan(seed=7))
async def test_small_records_are_read_beside_who_denies_them(world: World, name: str) -> None:
    *honest, liar = await world.add(5)
    LIES[name].tell(liar)
    await world.pass_time(30.0)
    points = [PointRecords(node.core, node.clock, node.kick) for node in honest]
    keys = [Key(Random(n).randbytes(20)) for n in range(RECORDS)]
    for n, key in enumerate(keys):
        assert await points[n % 4].write(key, b"value %d" % n, 3600.0) >= 4
    for reader in points:
        found = [[record.value for record in await reader.read(key)] for key in keys]
        assert found == [[b"value %d" % n] for n in range(RECORDS)]
    for n, point in enumerate(points):
        assert await point.write(keys[0], bytes([n]) * LONG, 3600.0) >= 4
    long = [record.value for record in await points[0].read(keys[0], 16)]
    assert sorted(long) == [bytes([n]) * LONG for n in range(4)], "one lookup brings but one"
