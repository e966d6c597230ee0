"""Outsiders at a network by invitation: whatever they show, they own nothing, and cost its members next to nothing."""

import asyncio
from collections import Counter

import msgspec
import pytest

from dht import Identity, RemoteError, open_voucher
from dht.admission.membership_claim import mark_of
from dht.messages import Done, GetStrategy, StrategyChain
from dht.reachability.attester import AttestMe
from dht.wire.invitation import ShownInvitation, invited_by, voucher_id
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World
from tests.sim.simulated import simulated
from tests.sim.test_admission import have_one_view
from tests.sim.test_invited import JOIN_S, newcomer

KNOCKS = 2000


def shown_by(node: SimNode) -> bytes:
    """Return the invitation that a member showed, as a member that it asked stored it."""
    held = node.overlay._admission._invitation  # type: ignore[union-attr]
    return held.shown


async def names_it(world: World, liar: SimNode, shown: bytes, invited: bytes) -> list[str]:
    """Have a node say another invitation, and show that to everybody; what each answers, "" for a name."""
    liar.core.own.invite(invited)
    liar.kick()
    await world.pass_time(2.0)
    said = []
    for node in world.running():
        if node is liar:
            continue
        contact = liar.overlay.view.contact(node.identity.node_id)
        assert contact is not None
        try:
            await liar.overlay.ask_at(contact, AttestMe(liar.core.own.raw, shown), Done, timeout_s=12.0)
        except RemoteError as error:
            said.append(str(error))
        else:
            said.append("")
    return said


@simulated()
async def test_a_stolen_a_copied_and_a_made_up_invitation_name_nobody(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(20.0)
    thief = await newcomer(world, "")
    await world.pass_time(5.0)
    stolen = shown_by(nodes[1])
    voucher = msgspec.msgpack.decode(stolen, type=ShownInvitation).voucher
    says = invited_by(open_voucher(voucher), voucher_id(voucher))
    network, key = thief.core.rules.network, thief.identity.public_key
    own_bearer = Identity(b"\5" * 32)
    opened = open_voucher(voucher)
    forged = msgspec.msgpack.encode(msgspec.structs.replace(opened, bearer=own_bearer.public_key))
    mine = world.invite(1, by=thief.identity)
    tries = {
        "another node's": (stolen, says),
        "did not sign": (msgspec.msgpack.encode(ShownInvitation(voucher[:64] + forged, bytes(64))), says),
        "another invitation than its heartbeat names": (mine.show(network, key), says),
        "who may not invite": (
            mine.show(network, key),
            invited_by(open_voucher(mine.voucher), voucher_id(mine.voucher)),
        ),
        "does not decode": (bytes(400), says),
        "by invitation": (b"", b""),
    }
    for why, (shown, invited) in tries.items():
        said = await names_it(world, thief, shown, invited)
        assert all(why in each for each in said), (why, said)
        assert have_one_view(nodes) and not thief.overlay.view.owned()


@simulated()
async def test_a_member_that_takes_another_invitation_to_escape_its_own_is_out(world: World) -> None:
    nodes = await world.add(4)
    made = world.invite(1)
    liar = await newcomer(world, made)
    await world.until(lambda: have_one_view([*nodes, liar]), JOIN_S)
    mine = world.invite(1, by=liar.identity)
    invited = invited_by(open_voucher(mine.voucher), voucher_id(mine.voucher))
    shown = mine.show(liar.core.rules.network, liar.identity.public_key)
    said = await names_it(world, liar, shown, invited)
    assert all("who may not invite" in each for each in said), said
    everybody = tuple(sorted(node.identity.node_id for node in nodes))
    await world.until(lambda: all(node.overlay.view.members() == everybody for node in nodes), JOIN_S)
    said = await names_it(world, liar, b"", b"")
    assert all("by invitation" in each for each in said), said


@simulated()
async def test_a_flood_of_knocks_makes_nobody_dial_look_up_or_wait(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(60.0)
    thief = await newcomer(world, "")
    await world.pass_time(5.0)
    mine = world.invite(1, by=thief.identity)
    invited = invited_by(open_voucher(mine.voucher), voucher_id(mine.voucher))
    shown = mine.show(thief.core.rules.network, thief.identity.public_key)
    await names_it(world, thief, shown, invited)
    quiet = await packets_in(world, nodes, 30.0)
    contact = thief.overlay.view.contact(nodes[0].identity.node_id)
    assert contact is not None

    async def knock() -> None:
        with pytest.raises(RemoteError):
            await thief.overlay.ask_at(contact, AttestMe(thief.core.own.raw, shown), Done, timeout_s=12.0)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(KNOCKS):
            tasks.create_task(knock())
        busy = await packets_in(world, nodes, 30.0)
    assert busy <= quiet * 1.1 + 20, "knocks are answered, and lead to nothing else"
    invitee = await newcomer(world, world.invite(1))
    await world.until(lambda: have_one_view([*nodes, invitee]), JOIN_S)


async def packets_in(world: World, nodes: list[SimNode], seconds: float) -> int:
    """How many packets some nodes send in so many seconds."""
    before = sum((node.core.sent for node in nodes), Counter[str]()).total()
    await world.pass_time(seconds)
    return sum((node.core.sent for node in nodes), Counter[str]()).total() - before


@simulated()
async def test_whom_one_liar_names_to_a_newcomer_is_no_member_for_it_when_it_starts_again(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(20.0)
    stranger, newest = await newcomer(world, ""), await newcomer(world, world.invite(1))
    liar, mark = nodes[1], mark_of(stranger.identity.node_id)

    async def name_it() -> None:
        while True:
            own = liar.core.own
            if mark not in own.says.attests:
                own.attest(own.says.attests + mark, own.says.attested_days + own.says.attested_days[-2:])
            await world.pass_time(1.0)

    async with asyncio.TaskGroup() as tasks:
        naming = tasks.create_task(name_it())
        await world.until(lambda: is_joining(newest, stranger), 30.0)
        await world.stop(newest)  # which writes down whom it knows
        await world.restart(newest)
        await world.pass_time(90.0)
        assert have_one_view([*nodes, newest]) and not stranger.overlay.view.owned()
        naming.cancel()


def is_joining(node: SimNode, stranger: SimNode) -> bool:
    """Whether a node is new, and so takes for a member whom anybody names."""
    return node.core.members.admission.is_joining and stranger.identity.node_id in node.overlay.view.members()


@simulated()
async def test_outsiders_that_ask_for_strategies_are_answered_seldom_and_members_always(world: World) -> None:
    nodes = await world.add(3)
    await world.until(lambda: have_one_view(nodes), JOIN_S)
    outsiders = [await newcomer(world, "") for _ in range(2)]
    await world.pass_time(30.0)

    async def asks(node: SimNode) -> bool:
        contact = nodes[0].overlay.view.contact(nodes[0].identity.node_id)
        assert contact is not None
        try:
            await node.overlay.ask_at(contact, GetStrategy(1), StrategyChain, timeout_s=2.0)
        except RemoteError as error:
            assert "no members ask for strategies" in str(error)
            return False
        return True

    began, answered = world.loop.time(), 0
    for _ in range(100):
        answered += sum([await asks(outsider) for outsider in outsiders])
        assert await asks(nodes[2])
    assert 1 <= answered <= 8 + (world.loop.time() - began) / 2.0 + 1
