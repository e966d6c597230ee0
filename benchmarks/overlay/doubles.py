"""Measures what a cut of ten minutes costs the web: URLs that both sides fetch, since neither can know of the other.

Whole nodes on a scripted web, in the middle of a crawl that is not over when the cut heals. A third of the nodes is on
the smaller side. Counted by the sites' log, which no node writes.
"""

from dataclasses import dataclass
from itertools import groupby

from benchmarks.figures import Row, row
from benchmarks.overlay import goals
from benchmarks.overlay.extent import Extent
from node.extras.simulation.scripted_fetch import Visited
from node.extras.simulation.world import World, WorldPlan, simulate

START_S, CUT_S, QUICK_CUT_S, AFTER_S = 60.0, 600.0, 60.0, 120.0  # crawl before, cut, and look on afterwards
SETTLED_S = 30.0  # after the cut; from then on nothing is fetched twice
HOSTS, PAGES = 3, 600  # at one fetch a second and host, more than the whole scenario takes
NO_PEER = "cannot: it has none"


@dataclass(frozen=True, slots=True)
class Doubled:
    """Holds the figures of one seed.
    `both`: URLs that both sides fetched in the cut.
    `smaller`: fetches of the smaller side in the cut.
    `late`: repeated fetches of an earlier URL, begun once the network had settled.
    `after`: all other fetches begun once it had settled."""

    both: int
    smaller: int
    late: int
    after: int


def rows(extent: Extent) -> list[Row]:
    """Return all figures of double fetches."""
    seeds, nodes = extent.of((range(1, 2), 6), (range(1, 6), 9))
    cut_s = QUICK_CUT_S if extent.quick else CUT_S
    found, told = [doubled(seed, nodes, cut_s) for seed in seeds], f"a cut of {cut_s:.0f} s, {nodes} whole nodes"
    shares = [each.both / each.smaller for each in found]
    late, what = [each.late for each in found], f"double fetches across {told}: "
    return [
        row(what + "of the smaller side's", shares, "of all", goal=goals.DOUBLES_SHARE, peer=NO_PEER),
        row(what + "counted", [each.both for each in found], "fetches"),
        row(what + f"begun {SETTLED_S:.0f} s after it or later", late, "fetches", goal=0.0, peer=NO_PEER),
    ]


def doubled(seed: int, nodes: int, cut_s: float) -> Doubled:
    """Run the scenario of one seed and return its figures."""

    async def scenario(world: World) -> None:
        up = await world.add(nodes)
        await world.pass_time(20.0)
        await world.crawl()
        await world.pass_time(START_S)
        world.cut(up[: nodes // 3], up[nodes // 3 :])
        cuts.append(world.loop.time())
        await world.pass_time(cut_s)
        world.heal()
        await world.pass_time(AFTER_S)

    cuts = list[float]()
    world = simulate(scenario, WorldPlan(seed=seed, hosts=HOSTS, pages=PAGES))
    return count(world.log, {f"n{n}" for n in range(nodes // 3)}, cuts[0], cuts[0] + cut_s)


def count(log: list[Visited], few: set[str], cut_at: float, healed_at: float) -> Doubled:
    """Judge a log; `few`: the nodes of the smaller side. Pages of second looks are meant to be fetched twice."""
    pages = [visited for visited in log if not (visited.is_second_look or visited.url.endswith("/robots.txt"))]
    here, there = ([v.url for v in pages if cut_at <= v.began_at < healed_at and (v.node in few) is is_few]
                   for is_few in (True, False))  # fmt: skip
    by_url = groupby(sorted(pages, key=lambda v: (v.url, v.began_at)), key=lambda v: v.url)
    late = sum(v.began_at >= healed_at + SETTLED_S for _, visits in by_url for v in list(visits)[1:])
    after = sum(v.began_at >= healed_at + SETTLED_S for v in pages)
    return Doubled(len({*here} & {*there}), min(len(here), len(there)), late, after - late)
