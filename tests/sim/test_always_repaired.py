"""Whatever a strategy did to membership, the next one, published at one node, reaches all within two minutes."""

from collections.abc import Callable, Mapping

import pytest

from dht.identity.puzzle_solver import PuzzleSolver
from node.extras.simulation.loop import EPOCH
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import DAY_S, World, WorldPlan, simulate
from tests.parameters import proved

HOSTS = ("10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4")
OURS = ("10.0.0.0/8",)
BOOTSTRAP = ("10.1.0.1:8091",)
GRACE_S = 60
EARLIER_S = 4 * DAY_S
APART_S = 450.0
REPAIRED_WITHIN_S = 120.0
PRIVATE = {"declared_prefixes": OURS, "bootstrap": BOOTSTRAP}

Changes = Mapping[str, object]
Mistake = Callable[[World], Changes]


def ids(world: World) -> tuple[str, ...]:
    return tuple(sorted(node.overlay.node_id.hex() for node in world.nodes.values()))


def lost_prefixes(_: World) -> Changes:
    return {"declared_prefixes": (), "stable_grace_s": GRACE_S, "laptop_grace_s": GRACE_S}


def huge_puzzle(_: World) -> Changes:
    return {"puzzle_bits": 28, "effective_at": int(EPOCH) - EARLIER_S}


def tiny_grace(_: World) -> Changes:
    return {"stable_grace_s": GRACE_S, "laptop_grace_s": GRACE_S}


def wrong_bootstrap(_: World) -> Changes:
    return {"bootstrap": ("10.99.0.1:8091",)}


def everybody_blocked(world: World) -> Changes:
    return {"blocked": ids(world)}


def all_but_one_blocked(world: World) -> Changes:
    return {"blocked": ids(world)[:-1]}


def everybody_gone(world: World) -> Changes:
    from dht.strategy.document import Gone

    return {"gone": tuple(Gone(each, int(EPOCH) + 10 * DAY_S) for each in ids(world))}


def all_revoked(world: World) -> Changes:
    from dht.strategy.document import Revocation

    return {"revoked": (Revocation(world.publisher.public_key.hex()),)}


def invitation_needed(_: World) -> Changes:
    return {"admission": "invited", "publishers": ()}


def unknown_admission(_: World) -> Changes:
    return {"admission": "elected"}


def later(mistake: Mistake) -> Mistake:
    def both(world: World) -> Changes:
        return {
            **mistake(world),
            "effective_at": int(EPOCH + world.loop.time()) + 365 * DAY_S,
            "expires_at": int(EPOCH) + 999 * DAY_S,
            "next_at": int(EPOCH) + 500 * DAY_S,
        }

    both.__name__ = f"{mistake.__name__}_later"
    return both


def combined(*mistakes: Mistake) -> Mistake:
    def all_of(world: World) -> Changes:
        found: dict[str, object] = {}
        for each in mistakes:
            found |= each(world)
        return found

    all_of.__name__ = "+".join(each.__name__ for each in mistakes)
    return all_of


RIGHT: Changes = {
    "declared_prefixes": OURS,
    "bootstrap": BOOTSTRAP,
    "puzzle_bits": 0,
    "blocked": (),
    "gone": (),
    "revoked": (),
    "stable_grace_s": 86400,
    "laptop_grace_s": 3 * 86400,
    "next_at": int(EPOCH) + 500 * DAY_S,
    "expires_at": int(EPOCH) + 999 * DAY_S,
}

MISTAKES = [
    lost_prefixes,
    huge_puzzle,
    tiny_grace,
    wrong_bootstrap,
    everybody_blocked,
    all_but_one_blocked,
    everybody_gone,
    all_revoked,
    later(lost_prefixes),
    later(everybody_blocked),
    combined(lost_prefixes, huge_puzzle, everybody_blocked, wrong_bootstrap, all_revoked),
]


def knows_all(world: World) -> bool:
    running = {node.overlay.node_id for node in world.running()}
    return all(node.overlay.view.live() == set(node.overlay.view.members()) == running for node in world.running())


def agree(world: World, version: int) -> bool:
    return {node.overlay.strategies.newest.version for node in world.running()} == {version} and len(
        {node.overlay.strategies.newest_digest for node in world.running()}
    ) == 1


@pytest.fixture(autouse=True)
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PuzzleSolver, "want", lambda *_: None)


def state(world):
    return [
        (n.name, n.overlay.strategies.newest.version, len(n.overlay.view.live()), len(n.overlay.view.members()))
        for n in world.running()
    ]


@pytest.mark.parametrize("admission", ["invited", "attested"])
@pytest.mark.parametrize("restarted", ["no", "one", "all"])
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.__name__)
def test_one_mistake(mistake: Mistake, restarted: str, admission: str) -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add_at(*HOSTS)
        await world.until(lambda: knows_all(world), 120.0)
        await world.pass_time(120.0)
        world.publish(**mistake(world))
        await world.until(lambda: agree(world, 2), 60.0)
        await world.pass_time(APART_S)
        print("apart", state(world))
        chosen = {"no": [], "one": nodes[2:3], "all": nodes}[restarted]
        for node in chosen:
            await world.kill(node)
            await world.pass_time(10.0)
        for node in chosen:
            await world.restart(node)
        await world.pass_time(APART_S)
        print("apart", state(world))
        nodes_at = nodes[2]
        publish(world, nodes_at, **{**RIGHT})
        try:
            took = await world.until(lambda: agree(world, 3) and knows_all(world), REPAIRED_WITHIN_S)
            print("TOOK", mistake.__name__, restarted, admission, took)
        except AssertionError:
            print("FAILED", mistake.__name__, restarted, admission, state(world))
            raise

    simulate(scenario, WorldPlan(strategy={**PRIVATE, "admission": admission}))


def publish(world: World, at: SimNode, **changes: object) -> None:
    others = [node for node in world.running() if node is not at]
    tasks = [(node, node.task) for node in others]
    for node in others:
        node.task = None
    try:
        world.publish(**changes)
    finally:
        for node, task in tasks:
            node.task = task
