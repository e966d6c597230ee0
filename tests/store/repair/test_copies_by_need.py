"""Copies of owners that fall silent are made by need, by whoever will own them, and go when the owners are back."""

import asyncio
from collections import Counter

import pytest

from dht import NodeId, Slot
from store.repair import absences
from store.repair.absences import CUT_S, LAST_S, STABLE_S, Absences
from store.repair.copies_by_need import PATIENCE_S, TURN_S, Durability, SlotCopies
from store.repair.former_slots import KEPT_S
from tests.store.network import Net, Node, in_network, network
from tests.store.support import draft

PAGES = 150
SOON_S = 60.0
SHORT_S = 300.0  # of waiting for a stable machine: four hours show nothing more


async def filled(net: Net) -> None:
    """All nodes run, and hold some pages."""
    net.config(step_s=5.0, deliver_every_s=5.0, reconcile_every_s=300.0)  # hours pass
    await net.start()
    await net.list[0].replicator.write([draft(n, hosts=97) for n in range(PAGES)])
    await net.until(net.is_level)
    await asyncio.sleep(20.0)


def copies(net: Net, pages: range = range(PAGES)) -> Counter[int]:
    """How many pages lie at how many running nodes."""
    made = [draft(n, hosts=97) for n in pages]
    return Counter(sum(n.store.find_version(d.kind, d.id) is not None for n in net.running()) for d in made)


def moved(net: Net) -> int:
    """Messages that carry records."""
    asked = [n.overlay.counted for n in net.list]
    return sum(counted.get("FetchRecords", 0) + counted.get("PutPackage", 0) for counted in asked)


def kept(net: Net) -> int:
    return sum(n.replicator.status().copies.kept for n in net.running())


async def killed(net: Net, *nodes: Node) -> None:
    for node in nodes:
        node.kill()
    await asyncio.sleep(0)


def test_one_copy_becomes_two_within_a_minute_and_three_later_at_those_who_own_them_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(absences, "STABLE_S", SHORT_S)

    async def story(net: Net) -> None:
        await filled(net)
        await killed(net, *net.list[2:4])
        assert min(copies(net)) == 1
        assert min(n.replicator.status().copies.least for n in net.running()) <= 3
        await asyncio.sleep(SOON_S)
        assert min(copies(net)) == 2, "begun, and no third copy yet"
        assert 2 in copies(net)
        await asyncio.sleep(SHORT_S + PATIENCE_S + 600.0)
        assert set(copies(net)) == {3}
        status = [n.replicator.status() for n in net.running()]
        assert kept(net) > 0 and not any(each.copies.copying for each in status)
        assert all(each.copies.oldest_s == 0 for each in status)
        before = moved(net)
        net.strangers |= {node.id for node in net.list[2:4]}
        await asyncio.sleep(SOON_S)
        assert net.is_level() and moved(net) == before, "keepers own now what the silent did, and nothing moves twice"

    network(6, story)


@in_network(6)
async def test_a_reboot_moves_nothing_and_neither_does_a_cut(net: Net) -> None:
    await filled(net)
    before = moved(net)
    await killed(net, net.list[2])
    await asyncio.sleep(300.0)
    net.list[2].start()
    await net.all_ready()
    net.cut = {node.id for node in net.list[:3]}
    await asyncio.sleep(300.0)
    net.cut = set()
    await asyncio.sleep(120.0)
    assert moved(net) == before and net.is_level()


@in_network(6)
async def test_what_is_new_has_all_its_copies_at_once_and_none_too_many_when_the_owner_is_back(net: Net) -> None:
    await filled(net)
    await killed(net, net.list[2])
    await asyncio.sleep(5.0)
    new = range(PAGES, PAGES + 50)
    await net.list[0].replicator.write([draft(n, hosts=97) for n in new])
    await asyncio.sleep(2.0)
    assert set(copies(net, new)) == {3}
    net.list[2].start()
    await net.all_ready()
    await net.until(net.is_level)
    assert set(copies(net, range(PAGES + 50))) == {3}


def test_owners_that_come_back_late_have_everything_and_keepers_forget_it_ten_minutes_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(absences, "STABLE_S", SHORT_S)

    async def story(net: Net) -> None:
        await filled(net)
        await killed(net, *net.list[2:4])
        await asyncio.sleep(SHORT_S + PATIENCE_S + 700.0)
        late = range(PAGES, PAGES + 50)
        await net.list[0].replicator.write([draft(n, hosts=97) for n in late])
        for node in net.list[2:4]:
            node.start()
        await net.all_ready()
        await asyncio.sleep(KEPT_S / 2)
        assert max(copies(net)) > 3, "they stay for a while: who came back may fall silent again"
        await asyncio.sleep(KEPT_S)
        assert set(copies(net, range(PAGES + 50))) == {3} and net.is_level() and not kept(net)

    network(6, story)


ME, A, B, C, D = (NodeId(bytes([n]) * 20) for n in range(5))
SLOT = Slot(3)
OTHERS = (A, B, C, D)


def story(*live: NodeId, before: tuple[NodeId, ...] = OTHERS) -> tuple[Durability, Absences]:
    """A node that has just learned that only these of the others live."""
    absences = Absences()
    for there in (before, live):
        absences.refresh(0.0, OTHERS, frozenset(there), lambda peer: None, lambda peer: True)
    return Durability(ME, absences), absences


def slot(*holders: NodeId, stable: bool = True, keepers: tuple[NodeId, ...] = (ME,)) -> SlotCopies:
    """A slot of A, B and C, of whom those who do not hold it are silent."""
    return SlotCopies((A, B, C), holders, {p: stable for p in (A, B, C) if p not in holders}, keepers)


def due(durability: Durability, now: float, copies: SlotCopies) -> dict[Slot, int]:
    return dict(durability.refresh(now, [(SLOT, copies)]))


def test_one_copy_is_copied_at_once_when_the_silence_is_sure() -> None:
    durability, _ = story(A, D)
    assert not due(durability, LAST_S - 1, slot(A))
    assert due(durability, LAST_S, slot(A)) == {SLOT: 1}
    assert SLOT in due(durability, LAST_S + 8, slot(A)), "who has begun goes on"
    assert SLOT in due(durability, LAST_S + 9, slot(A, ME)), "and keeps what it has"
    assert not due(durability, LAST_S + 9, slot(A, B, C, ME, keepers=())), "the owners are back"


def test_two_copies_wait_for_who_is_late() -> None:
    durability, _ = story(A, B, D)
    assert not due(durability, STABLE_S, slot(A, B))
    assert not due(durability, STABLE_S + PATIENCE_S - 1, slot(A, B))
    assert durability.counts(STABLE_S + 5)[1:] == (5, SLOT)
    assert due(durability, STABLE_S + PATIENCE_S, slot(A, B)) == {SLOT: 2}


def test_laptops_that_sleep_are_copies() -> None:
    durability, _ = story(A, D)
    assert not due(durability, 8 * 3600.0, slot(A, stable=False))
    assert durability.counts(8 * 3600.0)[1] == 0


def test_who_has_begun_stops_where_enough_are_back_before_it_is_done() -> None:
    durability, _ = story(A, D)
    assert due(durability, LAST_S, slot(A))
    assert not due(durability, LAST_S + 1, SlotCopies((A, B, C), (A, B, D), {}, (ME,)))


def test_a_keeper_that_sleeps_is_a_copy_as_an_owner_is() -> None:
    durability, _ = story(A, B)
    assert not due(durability, 0.0, SlotCopies((A, B, C), (A, B), {D: False}, (ME,)))
    assert durability.counts(0.0)[1:] == (0.0, None), "C is gone, D keeps what it had, and sleeps"


def test_where_nobody_has_it_there_is_nothing_to_copy() -> None:
    durability, _ = story(D)
    assert not due(durability, 86_400.0, slot())


def test_a_silent_owner_that_never_had_the_slot_is_no_copy() -> None:
    durability, _ = story(A, D)
    assert due(durability, 0.0, SlotCopies((A, B, C), (A,), {}, (ME,))) == {SLOT: 1}


def test_the_second_keeper_begins_when_the_first_has_had_its_time() -> None:
    durability, _ = story(A, D)
    copies = slot(A, keepers=(D, ME))
    assert not due(durability, LAST_S, copies) and not due(durability, LAST_S + TURN_S - 1, copies)
    assert due(durability, LAST_S + TURN_S, copies) == {SLOT: 1}


def test_a_cut_is_waited_out() -> None:
    durability, absences = story(A)
    assert absences.waits(1.0) and not due(durability, CUT_S - 1, slot(A))
    assert due(durability, CUT_S, slot(A)) == {SLOT: 1}


def test_live_copies_are_counted_by_own_slots() -> None:
    durability, _ = story(A, B, D)
    own = SlotCopies((ME, A, B), (ME, A, B), {}, ())
    durability.refresh(0.0, [(Slot(1), own), (Slot(2), own), (Slot(4), SlotCopies((ME, A, C), (ME, A), {C: True}, ()))])
    assert durability.counts(0.0)[0] == {2: 1, 3: 2}
