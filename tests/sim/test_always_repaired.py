"""Whatever a strategy did to membership, the next one, published at one node, reaches all within two minutes."""

from collections.abc import Callable, Mapping
from shutil import copytree, rmtree

import msgspec
import pytest

from dht import Gone, Identity, Revocation, encode_document, sign_strategy
from dht.identity.puzzle_solver import PuzzleSolver
from node.extras.simulation.loop import EPOCH
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import DAY_S, World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.simulated import simulated
from tests.sim.test_strategy_repaired import PRIVATE, REPAIRED_WITHIN_S, knows_all, publish, versions

HOSTS = ("10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4")
APART_S = 450.0
SECOND_KEY = Identity(b"\2" * 32)

Changes = Mapping[str, object]
Mistake = Callable[[World], Changes]


def ids(world: World) -> tuple[str, ...]:
    return tuple(sorted(node.overlay.node_id.hex() for node in world.nodes.values()))


def later(days: int) -> int:
    return int(EPOCH) + days * DAY_S


TINY_GRACE: Changes = {"stable_grace_s": 60, "laptop_grace_s": 60}
EARLIER: Changes = {
    "effective_at": later(-4)
}  # more work is asked for when that has been in force for the longest grace
IN_A_YEAR: Changes = {"effective_at": later(365), "next_at": later(400), "expires_at": later(500)}
MISTAKES: dict[str, Mistake] = {
    "prefixes": lambda world: {"declared_prefixes": (), **TINY_GRACE},
    "puzzle": lambda world: {"puzzle_bits": 28, **EARLIER},
    "grace": lambda world: TINY_GRACE,
    "bootstrap": lambda world: {"bootstrap": ("10.99.0.1:8091", "8.8.8.8:53")},
    "blocked": lambda world: {"blocked": ids(world)},
    "all but one blocked": lambda world: {"blocked": ids(world)[:-1]},
    "gone": lambda world: {"gone": tuple(Gone(each, later(10)) for each in ids(world))},
    "revoked": lambda world: {"revoked": (Revocation(world.publisher.public_key.hex()),)},
    "admission": lambda world: {"admission": "attested"},
    "blocked in a year": lambda world: {"blocked": ids(world), **IN_A_YEAR},
}
MISTAKES["all of it"] = lambda world: {
    name: value
    for each in ("prefixes", "bootstrap", "blocked", "revoked", "puzzle")
    for name, value in MISTAKES[each](world).items()
}
RIGHT: Changes = {
    **PRIVATE,
    "puzzle_bits": 0,
    "blocked": (),
    "gone": (),
    "revoked": (),
    "admission": "invited",
    "stable_grace_s": 12 * 3600,
    "laptop_grace_s": 72 * 3600,
    "next_at": later(400),
    "expires_at": later(500),
}
PLAN = WorldPlan(strategy={**PRIVATE, "admission": "invited"})


@pytest.fixture(autouse=True)
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines that do not solve their puzzle within the time of a test."""
    monkeypatch.setattr(PuzzleSolver, "want", lambda *_: None)


async def met(world: World) -> list[SimNode]:
    nodes = await world.add_at(*HOSTS)
    await world.until(lambda: knows_all(world), 120.0)
    await world.pass_time(120.0)  # all have written down who is there
    return nodes


def agree(world: World) -> bool:
    return len({node.overlay.strategies.newest_digest for node in world.running()}) == 1


async def repaired(world: World, at: SimNode, **correction: object) -> None:
    publish(world, at, **{**RIGHT, **correction})
    version = at.overlay.strategies.newest.version
    await world.until(lambda: versions(world) == {version} and agree(world) and knows_all(world), REPAIRED_WITHIN_S)


CASES = [
    ("blocked", "no"),
    ("all but one blocked", "all"),
    ("revoked", "no"),
    ("all of it", "all"),
    *proved(*((name, who) for name in MISTAKES for who in ("no", "one", "all"))),
]


@pytest.mark.parametrize(("mistake", "restarted"), CASES)
def test_a_mistake_is_corrected_at_one_node(mistake: str, restarted: str) -> None:
    async def scenario(world: World) -> None:
        nodes = await met(world)
        world.publish(**MISTAKES[mistake](world))
        await world.until(lambda: versions(world) == {2}, 60.0)
        await world.pass_time(APART_S)
        chosen = {"no": [], "one": [nodes[2]], "all": nodes}[restarted]
        for node in chosen:
            await world.kill(node)
        for node in chosen:
            await world.restart(node)
        await world.pass_time(APART_S if chosen else 0.0)
        await repaired(world, nodes[2])

    simulate(scenario, PLAN)


@simulated(PLAN)
async def test_mistakes_in_a_row_of_which_each_node_has_another_number(world: World) -> None:
    nodes = await met(world)
    world.publish(**MISTAKES["prefixes"](world))
    await world.until(lambda: versions(world) == {2}, 60.0)
    await world.pass_time(APART_S)
    world.cut(nodes[:1], nodes[1:2], nodes[2:])
    publish(world, nodes[1], **MISTAKES["blocked"](world))
    publish(world, nodes[1], **MISTAKES["revoked"](world))
    await world.pass_time(APART_S)
    world.heal()
    await world.pass_time(5.0)
    await repaired(world, nodes[1])


@simulated(PLAN)
async def test_a_peer_that_was_frozen_and_one_with_an_old_disk_follow_where_nobody_could_reach_them(
    world: World,
) -> None:
    nodes = await met(world)
    old = nodes[3].folder.with_name("old")
    copytree(nodes[3].folder, old)
    world.sleep(nodes[0])
    world.publish(**MISTAKES["all of it"](world))
    await world.pass_time(APART_S)
    await world.kill(nodes[3])
    rmtree(nodes[3].folder)
    copytree(old, nodes[3].folder)
    publish(world, nodes[1], **RIGHT)
    await world.pass_time(APART_S)
    world.wake(nodes[0])
    await world.restart(nodes[3])
    await world.until(lambda: versions(world) == {3} and knows_all(world), REPAIRED_WITHIN_S)


@pytest.mark.parametrize("longer", [0, *proved(1)])
def test_two_forks_by_two_keys_of_which_both_part_the_network_become_one(longer: int) -> None:
    """The fork of the lower digest wins, though the other one may have a version more."""

    async def scenario(world: World) -> None:
        nodes = await met(world)
        world.publish(publishers=(world.publisher.public_key.hex(), SECOND_KEY.public_key.hex()))
        await world.until(lambda: versions(world) == {2}, 60.0)
        world.cut(nodes[:2], nodes[2:])
        publish(world, nodes[0], **MISTAKES["blocked"](world))
        first, log = nodes[0].overlay.strategies.newest_digest, nodes[2].overlay.strategies
        follows = {"version": 3, "previous": log.newest_digest, "effective_at": int(EPOCH + world.loop.time())}
        for days in range(400, 500):  # the signer of the second one sees to it that it wins
            fields = {**follows, "next_at": later(days), "expires_at": later(600), "blocked": ids(world)}
            document = encode_document(msgspec.structs.replace(log.newest, **fields))
            if (signed := sign_strategy(document, SECOND_KEY)).digest < first:
                break
        nodes[2].overlay.adopt(signed)
        for _ in range(longer):
            publish(world, nodes[0], replicas=2, min_acks=1)
        await world.pass_time(APART_S)
        world.heal()
        await world.until(lambda: agree(world), REPAIRED_WITHIN_S)
        await repaired(world, nodes[0])

    simulate(scenario, PLAN)
