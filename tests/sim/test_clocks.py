"""Nodes whose wall clock is off: they say so within 30 s, whoever refuses whom; right again, they are as before."""

import pytest

from dht.leases.voter import VOTE_S, team_digest
from dht.messages import Claim, LeaseReply, LeaseRequest
from node.extras.simulation.census import repeated
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World
from tests.parameters import proved
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated

NAMED_WITHIN_S = 30.0
UNDER_WAY_S = 2.0  # until a page that was fetched is with its owners; then nobody takes it from a clock that is off
HOUR_S, DAY_S = 3600.0, 86_400.0


def says_so(node: SimNode, off_s: float) -> bool:
    how = "ahead of" if off_s > 0 else "behind"
    return any(f"s {how} those of its peers" in told for told in node.overlay.report.warnings())


def is_named(world: World, off: SimNode, off_s: float) -> bool:
    """Whether the node that is off says so itself, nobody else does of its own, and those who heard it name it."""
    others = [node for node in world.running() if node is not off]
    return says_so(off, off_s) and not any(node.overlay.report.warnings() for node in others)


@pytest.mark.parametrize("off_s", [HOUR_S, *proved(-HOUR_S, DAY_S, -DAY_S, 40.0, -40.0)])
@simulated()
async def test_a_clock_that_goes_wrong_is_named_within_thirty_seconds(world: World, off_s: float) -> None:
    off = (await world.add(9))[4]
    await world.pass_time(60.0)
    assert not any(node.overlay.report.warnings() for node in world.running())
    off.clock.ahead_s += off_s
    await world.until(lambda: is_named(world, off, off_s), NAMED_WITHIN_S)
    (right, *_), peer = world.running(), off.overlay.node_id
    await world.until(lambda: abs(right.overlay.report.clock_off_s(peer) - off_s) < 12.0, NAMED_WITHIN_S)
    assert abs(right.overlay.report.clock_off_s(world.nodes["n1"].overlay.node_id)) < 10.0


@pytest.mark.parametrize("off_s", [-HOUR_S, *proved(HOUR_S, 300 * DAY_S, -300 * DAY_S)])
@simulated()
async def test_a_machine_that_starts_with_a_wrong_clock_says_so_within_thirty_seconds(
    world: World, off_s: float
) -> None:
    await world.add(8)
    await world.pass_time(60.0)
    (late,) = await world.add(1, 0.0)
    late.clock.ahead_s += off_s
    await world.until(lambda: is_named(world, late, off_s), NAMED_WITHIN_S)


@pytest.mark.parametrize(
    ("off_s", "minutes", "count"),
    [
        (HOUR_S, 2.0, 4),
        *(pytest.param(off_s, 10.0, 9, marks=pytest.mark.prove) for off_s in (HOUR_S, -HOUR_S, DAY_S, -DAY_S)),
    ],
)
@simulated()
async def test_minutes_with_a_wrong_clock_part_nothing_for_good_and_only_what_was_under_way_is_fetched_twice(
    world: World, off_s: float, minutes: float, count: int
) -> None:
    nodes = await world.add(count)
    await world.pass_time(8.0)
    await world.crawl()
    await world.pass_time(15.0)
    nodes[2].clock.ahead_s += off_s
    stepped_at = world.loop.time()
    await world.pass_time(60.0 * minutes)
    nodes[2].clock.ahead_s -= off_s
    await world.until(lambda: all(len(node.overlay.view.live()) == count for node in nodes), 60.0)
    await crawled(world)
    assert_complete(world)
    twice = repeated(world.log)
    assert all(visits[0].node == nodes[2].name for visits in twice.values())
    assert all(stepped_at - visits[0].ended_at < UNDER_WAY_S for visits in twice.values())
    assert not any(node.overlay.report.warnings() for node in nodes)


async def gives_new_vote(voter: SimNode, holder: SimNode) -> bool:
    """Whether a voter gives a holder its vote for a slot for which it has promised none, as for a new lease."""
    view, id = holder.overlay.view, voter.overlay.node_id
    slot = min(s for s in view.leases() if voter.overlay.view.votes.promised(s) is None)
    claim = Claim(slot, int(holder.clock().wall), team_digest(view.live_owners(slot)), False)
    reply = await holder.overlay.ask(id, LeaseRequest(view.strategy.slot_bits, (claim,)), LeaseReply, timeout_s=2.0)
    return reply.votes[0].granted


@pytest.mark.parametrize("starts_anew", [False, True])
@simulated()
async def test_a_voter_whose_clock_was_wrong_abstains_for_as_long_as_votes_bind_that_it_cannot_have_heard_of(
    world: World, starts_anew: bool
) -> None:
    """By a wrong clock it saw nobody and nobody saw it: who had the votes of the others meanwhile it does not know. It
    waits no longer than that where it also started anew, which the same wait is for."""
    holder, _, off = nodes = await world.add(3)
    await world.pass_time(60.0)
    off.clock.ahead_s -= HOUR_S
    if starts_anew:
        await world.kill(off)
        await world.restart(off)
    await world.pass_time(60.0)
    assert off.overlay.view.why_apart()
    off.clock.ahead_s += HOUR_S
    await world.until(lambda: all(len(node.overlay.view.live()) == 3 for node in nodes), 20.0)
    await world.until(lambda: not off.overlay.view.why_apart(), 20.0)
    for _ in range(int(VOTE_S) - 5):
        assert not await gives_new_vote(off, holder)
        await world.pass_time(1.0)
    await world.pass_time(10.0)
    assert await gives_new_vote(off, holder)
