"""Counts the bytes of old records that move in a network of whole nodes because one joins or is away for a while."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from benchmarks.durability.grown import documents_of, grow, plan, received, stored_bytes
from benchmarks.figures import Row, row
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, simulate

AWAY_S = 300.0  # a reboot, a cut
CALM_S = 120.0  # afterwards, for what would follow
JOINED_S = 300.0  # the newcomer has everything by then, and who had it before has let it go
JOIN_SHARE = 2.0  # ÷ nodes

Happening = Callable[[World, list[SimNode]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes that nodes were given in messages with records, and those of all copies of documents before."""

    moved: int
    stored: int


def rows(*, quick: bool) -> Iterator[Row]:
    """Yield the figures beside their goals."""
    nodes, documents, filler = (8, 60, 4_000) if quick else (16, 400, 20_000)
    joins = [joined(seed, nodes, documents, filler) for seed in ((1,) if quick else (1, 2, 3))]
    yield row(f"one joins {nodes} nodes: bytes moved ÷ bytes stored", [each.moved / each.stored for each in joins], "",
              goal=JOIN_SHARE / nodes)  # fmt: skip
    for what, happens in (("reboot", reboot), ("cut, three nodes to three,", cut)):
        found = moved_by(happens, 4, 6, documents, filler)
        yield row(
            f"a {what} of {AWAY_S / 60:.0f} min, six nodes: bytes of old records moved", [found.moved], "", goal=0
        )


def joined(seed: int, nodes: int, documents: int, filler_bytes: int, slot_bits: int = 6) -> Moved:
    """Return what a join into so many nodes moves."""

    async def join(world: World, nodes: list[SimNode]) -> None:
        newcomer = (await world.add())[0]
        newcomer.node_core.fetching.pause.pause()
        await world.pass_time(JOINED_S)
        state = newcomer.node_core.state()
        if not state.ready >= state.owned > 0:
            raise RuntimeError(f"the newcomer has {state.ready} of {state.owned} slots after {JOINED_S:.0f} s")

    return moved_by(join, seed, nodes, documents, filler_bytes, slot_bits)


async def reboot(world: World, nodes: list[SimNode]) -> None:
    """Have a node die, and start again on its disk."""
    await world.kill(nodes[2])
    await world.pass_time(AWAY_S)
    await world.restart(nodes[2])
    nodes[2].node_core.fetching.pause.pause()


async def cut(world: World, nodes: list[SimNode]) -> None:
    """Part the nodes in halves, and join them again."""
    world.cut(nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :])
    await world.pass_time(AWAY_S)
    world.heal()


def moved_by(happens: Happening, seed: int, count: int, documents: int, filler_bytes: int, slot_bits: int = 4) -> Moved:
    """Grow a network of so many nodes, let something happen to it, and return what that moved."""
    results = list[Moved]()

    async def scenario(world: World) -> None:
        nodes = await grow(world, count)
        stored, before = stored_bytes(nodes, documents_of(nodes)), received(world)
        await happens(world, nodes)
        await world.pass_time(CALM_S)
        results.append(Moved((received(world) - before).total(), stored))

    simulate(scenario, plan(seed, documents, filler_bytes, slot_bits=slot_bits))
    return results[0]
