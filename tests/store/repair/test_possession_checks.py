"""Owners that say they have what they have not: found out, told, healed where they can be, and copied around."""

import asyncio
from collections.abc import Callable, Iterable

import pytest

from dht import Message, NodeId, Slot, slot_of
from store import Draft, Record
from store.record.messages import AskPossession, PossessionFailed, PossessionReply, ReconcileReply, ReconcileStep
from store.record.range_reconciliation import Ranges
from tests.parameters import proved
from tests.store.network import Net, Node, in_network
from tests.store.support import draft

PAGES = 60
HOUR_S = 3600.0
LOOK_S = 30.0
SETTLE_S = 20.0  # before a slot that was handed over goes


def page(number: int) -> Draft:
    return draft(number, hosts=97)


async def filled(net: Net) -> None:
    net.config(step_s=15.0, deliver_every_s=15.0, reconcile_every_s=1e6)  # only the audit can notice anything
    await net.start()
    await net.list[0].replicator.write([page(n) for n in range(PAGES)])
    await net.until(net.is_level)
    await asyncio.sleep(2 * LOOK_S)  # until nobody compares anything any more


async def until(claim: Callable[[], bool], within_s: float) -> None:
    """Let time pass until something is so, which is looked at every half minute."""
    for _ in range(int(within_s / LOOK_S)):
        if claim():
            return
        await asyncio.sleep(LOOK_S)
    raise AssertionError("it never came to pass")


def held(node: Node, d: Draft) -> bool:
    return node.store.find_version(d.kind, d.id) is not None


def slot(net: Net, d: Draft) -> Slot:
    return slot_of(d.key, net.strategy.slot_bits)


async def lose(node: Node, drafts: Iterable[Draft]) -> None:
    """Some records leave a disk, and nobody hears of it."""
    found = [node.store.find(d.kind, d.id) for d in drafts]
    await node.store.forget([record for record in found if isinstance(record, Record)])


def pretend(node: Node) -> None:
    """A node says that it is level with everybody, and answers challenges with what it makes up."""

    async def level(peer: NodeId, message: ReconcileStep) -> Message:
        return ReconcileReply(message.form, Ranges((), b""))

    async def made_up(peer: NodeId, message: AskPossession) -> Message:
        truth = await PROOF(peer, message)
        assert isinstance(truth, PossessionReply)
        return PossessionReply(tuple(type(each)(bytes(16)) for each in truth.shown))

    PROOF = node.overlay.handlers[AskPossession]
    node.overlay.handlers[ReconcileStep] = level
    node.overlay.handlers[AskPossession] = made_up


def whole_copies(net: Net, d: Draft, but: Node) -> int:
    return sum(held(node, d) for node in net.running() if node is not but)


@in_network(5)
async def test_honest_owners_show_everything_and_it_costs_little(net: Net) -> None:
    await filled(net)
    started = {node.id: node.overlay.counted.get("AskPossession", 0) for node in net.list}
    await net.until(lambda: net.list[0].overlay.counted.get("AskPossession", 0) >= started[net.list[0].id] + 10, HOUR_S)
    for node in net.list:
        figures = node.replicator.possession.figures()
        assert len(figures) >= 3, "others are asked in turn"
        assert all(each.answered == each.challenged > 0 and not each.silent for each in figures.values())
        assert not node.replicator.possession.doubted(0.0) and not node.audit.refutations()
        assert (
            node.overlay.counted["AskPossession"] <= started[node.id] + 14
            and "PossessionFailed" not in node.overlay.counted
        )


@in_network(5)
async def test_who_lost_records_without_noticing_has_them_again_within_minutes(net: Net) -> None:
    await filled(net)
    loser = net.list[2]
    mine = [d for n in range(PAGES) if held(loser, d := page(n))]
    await lose(loser, mine[::4])
    await until(lambda: all(held(loser, d) for d in mine), HOUR_S)
    assert not loser.replicator.possession.accusations(), "healed before anybody had to say so"


@pytest.mark.parametrize("until_whole", [False, *proved(True)])
@in_network(6)
async def test_a_liar_is_told_named_avoided_and_copied_around(net: Net, until_whole: bool) -> None:
    await filled(net)
    liar = net.list[3]
    mine = [d for n in range(PAGES) if held(liar, d := page(n))]
    pretend(liar)
    await lose(liar, mine)
    honest = [node for node in net.list if node is not liar]
    await until(lambda: bool(liar.replicator.possession.accusations()), HOUR_S)
    await until(lambda: any(told.peer == liar.id for node in honest for told in node.audit.refutations()), HOUR_S)
    assert next(iter(liar.replicator.possession.warnings(liar.store.today * 86_400.0)))
    if until_whole:
        await until(lambda: all(whole_copies(net, d, liar) >= 3 for d in mine), 4 * HOUR_S)
    asked = [found for node in honest if (found := node.replicator.possession.figures().get(liar.id))]
    assert any(figures.failed for figures in asked)
    for node in honest:
        others = {p: f for p, f in node.replicator.possession.figures().items() if p != liar.id}
        assert not any(figures.failed for figures in others.values())
        assert {p for peers in node.replicator.possession.doubted(0.0).values() for p in peers} <= {liar.id}


@in_network(5)
async def test_a_word_about_a_peer_is_heard_from_owners_of_the_slot_alone(net: Net) -> None:
    await filled(net)
    slots = range(1 << net.strategy.slot_bits)
    hearer, accuser, accused = net.list[:3]
    every = tuple(slots)
    message = PossessionFailed(net.strategy.slot_bits, accused.id, every)
    await hearer.overlay.handlers[PossessionFailed](accuser.id, message)
    both = {s for s in map(Slot, slots) if {accuser.id, accused.id} <= set(hearer.overlay.owners(s))}
    assert hearer.replicator.possession.doubted(0.0).keys() == both and len(both) < len(every)
    await hearer.overlay.handlers[PossessionFailed](accused.id, message)
    assert hearer.replicator.possession.doubted(0.0).keys() == both
    wrong = PossessionFailed(net.strategy.slot_bits + 1, accused.id, every)
    await accused.overlay.handlers[PossessionFailed](accuser.id, wrong)
    assert not accused.replicator.possession.accusations()


@in_network(4)
async def test_a_former_owner_keeps_a_slot_that_a_new_owner_only_says_to_have(net: Net) -> None:
    net.config(step_s=2.0, deliver_every_s=5.0, handoff_settle_s=SETTLE_S)
    *honest, liar = net.list
    for node in honest:
        node.start()
    await net.all_ready()
    await honest[0].replicator.write([page(n) for n in range(PAGES)])
    await asyncio.sleep(LOOK_S)
    liar.start()
    pretend(liar)
    await net.until(lambda: liar.own_ready)
    theirs = [page(n) for n in range(PAGES) if liar.id in liar.overlay.owners(slot(net, page(n)))]
    assert len(theirs) > PAGES / 2 and all(held(liar, d) for d in theirs)
    await lose(liar, theirs)
    for _ in range(int(5 * SETTLE_S)):
        await asyncio.sleep(1.0)
        assert min(whole_copies(net, d, liar) for d in theirs) == 3, "nobody forgets a page for the liar's word"
    assert any((f := n.replicator.possession.figures().get(liar.id)) and f.failed for n in honest)
