"""Kills two of six stable nodes for good, and times how copies are made of what they held.

The granted rate limits a copying node: the least possible time is its bytes at that rate.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import inf

from benchmarks.durability.grown import copies, documents_of, grow, plan, received
from benchmarks.figures import Row, row
from dht import DocumentId
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, simulate
from store.repair.absences import STABLE_S
from store.repair.copies_by_need import LINE_SHARES, OTHER_SHARE, PATIENCE_S
from store.repair.peer_sync import LEAST_BYTES_S

NODES, WATCHED_S = 6, 6 * 3600.0
LATE_S = STABLE_S + PATIENCE_S  # from then on what has two copies is copied
ONE_COPY_S, TWO_COPIES_S, ENDED = 60.0, LATE_S + 300.0, 1.2  # repair begins within; of bytes ÷ granted rate
SAFE_S = 120.0  # until no document has one copy alone, and its bytes ÷ granted rate


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of the documents that had so many live copies left. `begun_s`: after the deaths the last keeper began;
    `ended_s`: the last copy was there; `least_s`: what the bytes of the keeper that copied most take at the granted
    rate."""

    begun_s: float
    ended_s: float
    least_s: float
    over_least: float  # the time from the first byte to the last copy ÷ least_s


@dataclass(frozen=True, slots=True)
class Killed:
    """The results of a run. `whole`: the share of documents that had three copies after six hours; `lost`: documents
    that nobody had."""

    one: Repair
    two: Repair
    whole: float
    lost: int


def rows(*, quick: bool) -> Iterator[Row]:
    """Yield the figures beside their goals."""
    documents, filler, bytes_s = (200, 8_000, 100_000.0) if quick else (1_000, 100_000, 1_000_000.0)
    found = [killed(seed, documents, filler, bytes_s) for seed in ((4,) if quick else (4, 5))]
    what = f"2 of {NODES} killed, {documents * filler / 1e6:.0f} MB, hand-overs of {bytes_s / 1e6:g} MB/s"
    yield row(f"{what}: documents lost", [each.lost for each in found], "", goal=0)
    least_s = min(each.one.least_s for each in found)
    yield row(f"{what}: each document has two copies after", [each.one.ended_s for each in found], "s",
              goal=round(SAFE_S + least_s, 1))  # fmt: skip
    yield row(
        f"{what}: documents with three after six hours", [each.whole for each in found], "", goal=1, at_least=True
    )
    for copies_left, goal_s in ((1, ONE_COPY_S), (2, TWO_COPIES_S)):
        repairs = [each.one if copies_left == 1 else each.two for each in found]
        at = f"{what}, at {copies_left} of 3 copies"
        yield row(f"{at}: repair begins after", [each.begun_s for each in repairs], "s", goal=goal_s)
        yield row(f"{at}: takes, of its bytes ÷ granted rate", [each.over_least for each in repairs], "", goal=ENDED)


def killed(seed: int, documents: int, filler_bytes: int, bytes_s: float) -> Killed:
    """Simulate up to six hours after the deaths, until each document has three copies."""
    results = list[Killed]()

    async def scenario(world: World) -> None:
        results.append(await _watched(world, await grow(world, NODES), bytes_s))

    simulate(scenario, plan(seed, documents, filler_bytes, bytes_s=bytes_s))
    return results[0]


def worst_pair(nodes: list[SimNode], documents: Iterable[DocumentId]) -> tuple[SimNode, SimNode]:
    """Return the two nodes, the first left out, that hold most documents together."""
    found = list(documents)
    return max(combinations(nodes[1:], 2), key=lambda pair: sum(n == 2 for n in copies(pair, found).values()))


async def _watched(world: World, nodes: list[SimNode], bytes_s: float) -> Killed:
    """Kill two, and count what each node received and how many copies there are: once a second while copies are due, a
    minute in between."""
    sizes = documents_of(nodes)
    for node in worst_pair(nodes, sizes):
        await world.kill(node)
    live, died_at, before = world.running(), world.loop.time(), received(world)
    lacking = {2: list(sizes), 3: list(sizes)}
    ended, begun = {2: 0.0, 3: 0.0}, {2: dict[str, float](), 3: dict[str, float]()}
    held = {2: held_by(live, sizes), 3: held_by(live, sizes)}
    while (since := world.loop.time() - died_at) < WATCHED_S and lacking[3]:
        wanted = 2 if since <= LATE_S else 3
        for least in {2, wanted}:
            if lacking[least]:
                found = copies(live, lacking[least])
                lacking[least] = [each for each in lacking[least] if found[each] < least]
                ended[least] = since
        if wanted == 2 and since > LATE_S - 2:  # what is copied because of one copy is there by then
            held[3] = held_by(live, sizes)
        is_between = not lacking[2] and since < LATE_S - 120.0
        await world.pass_time(60.0 if is_between else 1.0)
        now = received(world)
        for name in now - before:
            begun[wanted].setdefault(name, world.loop.time() - died_at)
        before = now
    end = held_by(live, sizes)
    one = _repair(begun[2], ended[2], _gained(held[2], held[3], sizes) / granted(bytes_s, LINE_SHARES[1]))
    two = _repair(begun[3], ended[3], _gained(held[3], end, sizes) / granted(bytes_s, OTHER_SHARE))
    lost = sum(not count for count in copies(live, sizes).values())
    return Killed(one, two, 1 - len({*lacking[2], *lacking[3]}) / len(sizes), lost)


def held_by(nodes: list[SimNode], documents: Iterable[DocumentId]) -> dict[str, set[DocumentId]]:
    """Return the documents that each node has."""
    found = list(documents)
    return {node.name: {each for each, count in copies([node], found).items() if count} for node in nodes}


def granted(bytes_s: float, share: float) -> float:
    """Return the bytes a second that a keeper may take, as the throttle has it."""
    return max(share * bytes_s, min(LEAST_BYTES_S, bytes_s))


def _gained(
    before: Mapping[str, set[DocumentId]], after: Mapping[str, set[DocumentId]], sizes: Mapping[DocumentId, int]
) -> int:
    """The bytes of what the node gained that gained most."""
    return max(sum(sizes[each] for each in after[name] - before[name]) for name in before)


def _repair(begun: Mapping[str, float], ended_s: float, least_s: float) -> Repair:
    if not begun or not least_s:
        return Repair(inf, ended_s, least_s, inf)
    return Repair(max(begun.values()), ended_s, least_s, (ended_s - min(begun.values())) / least_s)
