"""When a slot may be answered for, decision by decision."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from dht import NodeId, Slot
from store import StoreConfig
from store.repair.former_slots import KEPT_S, LONGEST_SHOW_AGAIN_S, SHOW_AGAIN_S, UNKNOWN_KEPT_S
from store.repair.readiness import (
    FAILURES,
    GAP_S,
    GIVE_WAY_S,
    MAX_FAILING,
    Readiness,
    SlotReplicas,
    StartupGate,
    SyncJob,
    SyncPurpose,
)

A, B, C, D, ME = (NodeId(bytes([n]) * 20) for n in range(5))
CONFIG = StoreConfig()
LATE = CONFIG.start_window_s + 100  # long after the start
SLOT, OTHER = Slot(1), Slot(2)


@dataclass
class World:
    """The view of the overlay, the same for every slot."""

    owners: tuple[NodeId, ...] = ()
    live: tuple[NodeId, ...] = ()
    ready: tuple[NodeId, ...] = ()
    seen: list[Slot] = field(default_factory=list)

    def __call__(self, slot: Slot) -> SlotReplicas:
        self.seen.append(slot)
        return SlotReplicas(self.owners, self.live, self.ready)


def first(peers: Sequence[NodeId]) -> NodeId:
    return peers[0]


def jobs(readiness: Readiness, world: World, busy: set[NodeId] | None = None) -> list[tuple[NodeId, SyncPurpose]]:
    return [(j.peer, j.purpose) for j in readiness.jobs(world, first, busy or set())]


def owning(*slots: Slot, started_at: float = 0.0) -> Readiness:
    readiness = Readiness(CONFIG, ME, started_at)
    readiness.owns(frozenset(slots), ())
    return readiness


def meet(readiness: Readiness, peer: NodeId, purpose: SyncPurpose = SyncPurpose.JOIN, slot: Slot = SLOT) -> None:
    readiness.done(SyncJob(peer, purpose, (slot,)), [slot])


def gone(readiness: Readiness, at: float, world: World, *, known: bool = True, short: bool = False) -> list[Slot]:
    return readiness.gone(at, world, lambda _: known, lambda: "full" * short)


def show(readiness: Readiness, world: World, at: float, *peers: NodeId, slot: Slot = SLOT) -> None:
    """Owners show their copies of a former slot."""
    assert {peer for peer, slots in readiness.to_show(at, world).items() if slot in slots} >= set(peers)
    for peer in peers:
        readiness.former.showed(at, peer, slot, world(slot).owners)


@pytest.mark.parametrize("ready", [(B, C), ()])
def test_a_gained_slot_is_ready_after_every_holder_that_is_ready_or_else_every_live_one_was_met(
    ready: tuple[NodeId, ...],
) -> None:
    readiness, world = owning(SLOT), World((A, B, C), (A, B, C), ready=ready)
    for peer in ready or (A, B, C):
        readiness.update(LATE, world)
        assert not readiness.ready and jobs(readiness, world) == [(peer, SyncPurpose.JOIN)]
        meet(readiness, peer)
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT}


def test_a_young_node_doubts_itself_when_another_holder_shows_up_and_an_old_one_does_not() -> None:
    for now, stays in ((1.0, False), (LATE, True)):
        readiness, world = owning(SLOT), World()
        readiness.update(now, world)
        world.live = world.ready = (B,)
        readiness.update(now, world)
        assert (SLOT in readiness.ready) is stays
        meet(readiness, B)
        readiness.update(now, world)
        assert SLOT in readiness.ready


def test_a_young_node_serves_on_while_it_is_like_another_who_does() -> None:
    readiness, world = owning(SLOT), World((ME, B, C), (B, C), ready=(B,))
    meet(readiness, B)
    readiness.update(1.0, world)
    assert readiness.ready == {SLOT}
    world.ready = (B, C)  # C was compared with B, too
    for now in (2.0, LATE):
        readiness.update(now, world)
        assert readiness.ready == {SLOT}
        assert jobs(readiness, world) == [(C, SyncPurpose.JOIN)]
    meet(readiness, C)
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT}
    young, world = owning(SLOT), World((ME, B, C), (B,), ready=(B,))
    meet(young, B)
    young.update(1.0, world)
    world.live = world.ready = (C,)
    young.update(2.0, world)
    assert not young.ready, "who it was like serves no more, and nobody knows what C has"


def test_a_settled_node_does_not_even_look() -> None:
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    world.seen.clear()
    readiness.update(LATE, world)
    assert readiness.jobs(world, first, set()) == [] and not world.seen


def test_a_holder_that_keeps_failing_is_done_without_only_if_another_one_sufficed() -> None:
    readiness, world = owning(SLOT), World((A, B), (A, B), ready=(A, B))
    for _ in range(FAILURES):
        readiness.failed(SyncJob(B, SyncPurpose.JOIN, (SLOT,)))
    readiness.update(LATE, world)
    assert not readiness.ready
    meet(readiness, A)
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT}
    alone, only = owning(SLOT), World((B,), (B,), ready=(B,))
    for _ in range(FAILURES):
        alone.failed(SyncJob(B, SyncPurpose.JOIN, (SLOT,)))
    alone.update(LATE, only)
    assert not alone.ready


def test_a_lost_slot_is_served_until_all_its_owners_have_everything() -> None:
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    readiness.owns(frozenset(), ())
    world.owners, world.live, world.ready = (A, B), (A, B), (A,)
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT} and jobs(readiness, world) == [(A, SyncPurpose.HANDOFF)]
    meet(readiness, A, SyncPurpose.HANDOFF)
    assert jobs(readiness, world) == []  # B is not ready yet: it fetches from us by itself
    world.ready = (A, B)
    assert jobs(readiness, world) == [(B, SyncPurpose.HANDOFF)]
    meet(readiness, B, SyncPurpose.HANDOFF)
    readiness.update(LATE, world)
    assert not readiness.ready and not readiness.to_show(LATE, world)
    settled = LATE + CONFIG.handoff_settle_s
    show(readiness, world, settled, A)
    assert gone(readiness, settled, world) == [], "B says that it has everything, and has not shown it"
    show(readiness, world, settled, B)
    assert gone(readiness, settled, world) == [SLOT]
    readiness.dropped(SLOT)
    assert not readiness.former.held


def test_a_new_owner_must_have_everything_too_before_a_lost_slot_goes() -> None:
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    readiness.owns(frozenset(), ())
    world.owners = world.live = world.ready = (A, B)
    meet(readiness, A, SyncPurpose.HANDOFF)
    world.owners = world.live = world.ready = (A, C)
    meet(readiness, B, SyncPurpose.HANDOFF)
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT} and jobs(readiness, world) == [(C, SyncPurpose.HANDOFF)]


def test_records_found_in_slots_of_others_are_handed_over_and_not_served() -> None:
    readiness, world = Readiness(CONFIG, ME, 0), World((A,), (A,), (A,))
    readiness.owns(frozenset(), [OTHER])
    readiness.update(LATE, world)
    assert not readiness.ready and jobs(readiness, world) == [(A, SyncPurpose.HANDOFF)]


def test_a_slot_that_returns_is_served_on_and_compared_again() -> None:
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    readiness.owns(frozenset(), ())
    readiness.owns(frozenset([SLOT]), [SLOT])
    assert SLOT in readiness.ready and not readiness.former.held


def test_a_refused_record_makes_a_slot_unready_unless_nobody_else_holds_it() -> None:
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    readiness.incomplete(SLOT, world)
    assert readiness.ready == {SLOT}
    world.ready = (B,)
    readiness.incomplete(SLOT, world)
    assert not readiness.ready and jobs(readiness, world) == [(B, SyncPurpose.JOIN)]


def test_one_session_a_peer_none_with_a_busy_one_joins_first() -> None:
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    readiness.check(A, [SLOT, OTHER])
    assert jobs(readiness, world) == [(A, SyncPurpose.CHECK)] and jobs(readiness, world, {A}) == []
    readiness.owns(frozenset([SLOT, OTHER]), ())
    world.owners = world.live = world.ready = (A,)
    assert jobs(readiness, world) == [(A, SyncPurpose.JOIN)]


def test_slots_split_and_merge_with_their_readiness() -> None:
    readiness = owning(Slot(0), Slot(1), Slot(2))
    readiness.update(LATE, World())
    readiness.resize(2, 3)
    assert readiness.ready == {Slot(n) for n in range(6)}
    readiness.resize(3, 1)
    assert readiness.ready == {Slot(0)}


def test_a_former_slot_is_served_on_in_its_parts() -> None:
    readiness = owning(Slot(0), Slot(1))
    readiness.update(LATE, World())
    readiness.owns(frozenset([Slot(0)]), [Slot(0), Slot(1)])
    readiness.resize(2, 3)
    readiness.owns(frozenset([Slot(0)]), [Slot(0), Slot(1), Slot(2), Slot(3)])
    assert readiness.ready == {Slot(n) for n in range(4)}
    assert readiness.former.held == {Slot(1), Slot(2), Slot(3)}


def test_only_so_many_slots_change_hands_at_once() -> None:
    config = replace(CONFIG, handover_slots=3)
    readiness, world = Readiness(config, ME, 0.0), World()
    readiness.owns(frozenset(Slot(n) for n in range(10)), ())
    world.owners = world.live = world.ready = (A, B)
    found = readiness.jobs(world, lambda peers: peers[0], set())
    assert sum(len(job.slots) for job in found) == 3
    under_way = [Slot(n) for n in range(3)]
    assert readiness.jobs(world, first, {A}, under_way) == []
    assert sum(len(job.slots) for job in readiness.jobs(world, first, {A}, under_way[:1])) == 2


def test_what_one_holder_gives_just_now_is_asked_of_no_other_meanwhile() -> None:
    owner, world = owning(SLOT, OTHER), World((A, B), (A, B), ready=(A, B))
    keeper, owners = owning(), World((A, B), (A, B), ready=(A, B))
    keeper.keep({SLOT: 1, OTHER: 2})
    for readiness, around, purpose in ((owner, world, SyncPurpose.JOIN), (keeper, owners, SyncPurpose.KEEP)):
        assert readiness.jobs(around, first, {A}, [SLOT]) == [SyncJob(B, purpose, (OTHER,))]
        assert readiness.jobs(around, first, {A}, [SLOT, OTHER]) == []
        assert readiness.jobs(around, first, {A}) == [SyncJob(B, purpose, (SLOT, OTHER))]


def test_the_gate_waits_for_company_and_quiet_but_not_for_ever() -> None:
    assert StartupGate(CONFIG, 0, expects_others=False).refresh(0, (A,), 0)
    gate = StartupGate(CONFIG, 0, expects_others=True)
    assert not gate.refresh(0.1, (A,), 0)
    assert not gate.refresh(1.0, (A, B), 1)
    assert not gate.refresh(1.9, (A, B, C), 2)
    assert not gate.refresh(2.8, (A, B, C), 2)
    assert gate.refresh(2.9 + CONFIG.view_settle_s, (A, B, C), 2)
    lonely = StartupGate(CONFIG, 0, expects_others=True)
    assert not lonely.refresh(CONFIG.join_wait_s - 0.1, (A, D), 0)
    assert lonely.refresh(CONFIG.join_wait_s, (A, D), 0)


def settled(*slots: Slot) -> tuple[Readiness, World]:
    """Ready beside B, long after the start."""
    readiness, world = owning(*slots), World((ME, B, C), (B,), ready=(B,))
    for slot in slots:
        meet(readiness, B, slot=slot)
    readiness.update(LATE, world)
    assert readiness.ready == set(slots)
    return readiness, world


def test_who_stood_still_gives_way_to_who_did_not_and_comes_back_by_comparing() -> None:
    readiness, world = settled(SLOT)
    readiness.stood_still()
    world.live = world.ready = (B, C)
    readiness.update(LATE, world)
    assert not readiness.ready
    for peer in (B, C):
        assert jobs(readiness, world) == [(peer, SyncPurpose.JOIN)]
        meet(readiness, peer)
        readiness.update(LATE, world)
    assert readiness.ready == {SLOT}


def test_who_stood_still_serves_on_where_nobody_else_is_ready() -> None:
    readiness, world = settled(SLOT)
    readiness.stood_still()
    world.live = world.ready = ()
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT} and not jobs(readiness, world)
    world.live = (B,)  # it woke, too, and is not ready
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT} and jobs(readiness, world) == [(B, SyncPurpose.JOIN)]
    meet(readiness, B)
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT}


def test_of_two_with_a_gap_the_first_owner_goes_on() -> None:
    for owners, goes_on in (((ME, B), True), ((B, ME), False)):
        readiness, world = settled(SLOT)
        readiness.stood_still()
        world.owners = owners
        readiness.update(LATE, world)
        assert (SLOT in readiness.ready) is goes_on
        assert jobs(readiness, world) == [(B, SyncPurpose.JOIN)]


def test_whom_sleepers_left_alone_serves_on_until_they_have_given_way() -> None:
    for owners in ((ME, B, C), (B, C, ME)):
        readiness, world = settled(SLOT)
        world.owners, world.live, world.ready = owners, (), ()
        readiness.alone(LATE, [SLOT])
        readiness.update(LATE + GAP_S, world)
        readiness.alone(LATE, [])
        world.live = world.ready = (B, C)  # they woke, and do not know it yet
        readiness.update(LATE + 60, world)
        assert readiness.ready == {SLOT}
        world.ready = ()  # now they know
        readiness.update(LATE + 62, world)
        assert readiness.ready == {SLOT}
        for peer in (B, C):
            meet(readiness, peer)
        readiness.update(LATE + 63, world)
        assert readiness.ready == {SLOT}


def test_who_was_cut_off_gives_way_to_who_was_not() -> None:
    readiness, world = settled(SLOT)
    world.live = world.ready = ()
    readiness.alone(LATE, [SLOT])
    readiness.update(LATE + GAP_S, world)
    readiness.alone(LATE, [])
    world.live = world.ready = (B, C)
    for since, serves in ((0.0, True), (GIVE_WAY_S - 0.1, True), (GIVE_WAY_S, False)):
        readiness.update(LATE + 60 + since, world)
        assert (SLOT in readiness.ready) is serves


def test_an_owner_whose_fellows_were_silent_for_a_while_serves_on_and_is_compared_anew() -> None:
    readiness, world = settled(SLOT)
    world.live = world.ready = ()
    readiness.alone(LATE, [SLOT])
    readiness.update(LATE + GAP_S - 0.1, world)
    assert not jobs(readiness, World((ME, B, C), (D,), ready=(B,)))
    readiness.update(LATE + GAP_S, world)
    assert readiness.ready == {SLOT}
    world.live = (D,)  # stands in: it is compared with, and confirms nothing
    assert jobs(readiness, world) == [(D, SyncPurpose.JOIN)]
    meet(readiness, D)
    readiness.update(LATE + 20, world)
    assert readiness.ready == {SLOT} and not jobs(readiness, world)


def test_a_former_owner_serves_until_two_live_owners_have_everything_and_keeps_it_for_the_dead() -> None:
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    readiness.owns(frozenset(), ())
    world.owners, world.live, world.ready = (A, B, C), (A, B), (A, B)
    for peer, serves in ((A, True), (B, False)):
        meet(readiness, peer, SyncPurpose.HANDOFF)
        readiness.update(LATE, world)
        assert (SLOT in readiness.ready) is serves
    assert readiness.former.held == {SLOT} and not readiness.to_show(LATE + 1e6, world)
    world.live = world.ready = (A, B, C)
    assert jobs(readiness, world) == [(C, SyncPurpose.HANDOFF)]
    meet(readiness, C, SyncPurpose.HANDOFF)
    readiness.update(LATE, world)
    show(readiness, world, LATE + CONFIG.handoff_settle_s, A, B, C)
    assert gone(readiness, LATE + CONFIG.handoff_settle_s, world) == [SLOT]


def test_what_was_left_here_meanwhile_is_not_dropped_with_what_was_handed_over() -> None:
    readiness, world = Readiness(CONFIG, ME, 0), World((A,), (A,), (A,))
    readiness.owns(frozenset(), [SLOT])
    meet(readiness, A, SyncPurpose.HANDOFF)
    readiness.update(LATE, world)
    show(readiness, world, LATE + CONFIG.handoff_settle_s, A)
    readiness.took(SLOT)
    assert gone(readiness, LATE + 1e6, world) == [] and jobs(readiness, world) == [(A, SyncPurpose.HANDOFF)]


def test_of_peers_that_fail_and_go_no_more_than_some_are_remembered() -> None:
    readiness = owning(SLOT)
    strangers = [NodeId(number.to_bytes(20, "big")) for number in range(MAX_FAILING)]
    for peer in (B, *strangers):
        assert readiness.failed(SyncJob(peer, SyncPurpose.JOIN, (SLOT,))) == 1
    assert readiness.failed(SyncJob(strangers[-1], SyncPurpose.JOIN, (SLOT,))) == 2
    assert readiness.failed(SyncJob(B, SyncPurpose.JOIN, (SLOT,))) == 1, "it failed longest ago"


def test_a_keeper_compares_as_an_owner_does_what_is_most_urgent_first() -> None:
    readiness, world = owning(), World((A, B, C), (A, B, ME), ready=(A, B))
    readiness.owns(frozenset(), (), frozenset({SLOT, OTHER}))
    readiness.update(LATE, world)
    assert not jobs(readiness, world), "it takes what is new, and nothing else is due"
    readiness.keep({SLOT: 2, OTHER: 1})
    job = readiness.jobs(world, first, set())[0]
    assert (job.peer, job.purpose, job.slots) == (A, SyncPurpose.KEEP, (OTHER, SLOT))
    for peer in (A, B):
        readiness.update(LATE, world)
        assert SLOT not in readiness.ready
        meet(readiness, peer, SyncPurpose.KEEP)
    readiness.update(LATE, world)
    assert readiness.ready == {SLOT}


def test_where_nobody_is_ready_there_is_nothing_to_keep() -> None:
    readiness, world = owning(), World((A, B, C), (A, ME))
    readiness.owns(frozenset(), (), frozenset({SLOT}))
    readiness.keep({SLOT: 1})
    readiness.update(LATE, world)
    assert not readiness.ready and not jobs(readiness, world)


def test_a_keepers_copy_stays_for_a_while_when_the_owners_have_it_again() -> None:
    readiness, world = owning(), World((A, B, C), (A, B, ME), ready=(A, B))
    readiness.owns(frozenset(), (), frozenset({SLOT}))
    readiness.keep({SLOT: 1})
    meet(readiness, A, SyncPurpose.KEEP)
    meet(readiness, B, SyncPurpose.KEEP)
    readiness.update(LATE, world)
    world.live = world.ready = (A, B, C)
    readiness.keep({})
    readiness.owns(frozenset(), [SLOT])
    for peer in (A, B, C):
        assert SLOT in readiness.former.held
        meet(readiness, peer, SyncPurpose.HANDOFF)
    readiness.update(LATE, world)
    assert not readiness.ready and not gone(readiness, LATE + 1e6, world)
    show(readiness, world, LATE + 100, A, B, C)
    assert not gone(readiness, LATE + 100 + KEPT_S - 1, world)
    assert gone(readiness, LATE + 100 + KEPT_S, world) == [SLOT]


def test_who_says_that_it_has_everything_and_shows_nothing_is_handed_it_again_and_again_ever_more_seldom() -> None:
    readiness, world, now, pauses = Readiness(CONFIG, ME, 0), World((A, B), (A, B), (A, B)), LATE, list[float]()
    readiness.owns(frozenset(), [SLOT])
    meet(readiness, A, SyncPurpose.HANDOFF)
    for _ in range(8):
        meet(readiness, B, SyncPurpose.HANDOFF)
        readiness.update(now, world)
        since, now = now, now + CONFIG.handoff_settle_s
        while B not in readiness.to_show(now, world):
            now += 1.0
        pauses.append(now - since)
        readiness.former.showed(now, A, SLOT, world(SLOT).owners)
        readiness.former.not_shown(now, B, SLOT, is_missing=True)
        assert not gone(readiness, now + 1e6, world) and jobs(readiness, world) == [(B, SyncPurpose.HANDOFF)]
    assert pauses[1] == SHOW_AGAIN_S and pauses[-1] == LONGEST_SHOW_AGAIN_S and pauses == sorted(pauses)
    meet(readiness, B, SyncPurpose.HANDOFF)
    readiness.update(now, world)
    show(readiness, world, now + LONGEST_SHOW_AGAIN_S, B)
    assert gone(readiness, now + LONGEST_SHOW_AGAIN_S, world) == [SLOT]


def test_who_becomes_an_owner_after_the_others_have_shown_their_copies_has_to_show_its_own() -> None:
    readiness, world = Readiness(CONFIG, ME, 0), World((A,), (A,), (A,))
    readiness.owns(frozenset(), [SLOT])
    meet(readiness, A, SyncPurpose.HANDOFF)
    readiness.update(LATE, world)
    show(readiness, world, LATE + 10, A)
    world.owners = world.live = world.ready = (A, B)
    assert not gone(readiness, LATE + 10, world)
    readiness.former.not_shown(LATE + 10, B, SLOT, is_missing=True)
    assert jobs(readiness, world) == [(B, SyncPurpose.HANDOFF)]


def handed_over() -> tuple[Readiness, World]:
    """A slot that was lost, and that its new owners A and B have and have shown."""
    readiness, world = owning(SLOT), World()
    readiness.update(LATE, world)
    readiness.owns(frozenset(), ())
    world.owners = world.live = world.ready = (A, B)
    for peer in (A, B):
        meet(readiness, peer, SyncPurpose.HANDOFF)
    readiness.update(LATE, world)
    show(readiness, world, LATE + 10, A, B)
    return readiness, world


def test_where_no_owner_is_known_for_a_day_a_copy_stays_for_one_and_longer_where_the_owners_change() -> None:
    readiness, world = handed_over()
    assert not readiness.ready and readiness.former.is_let_go(SLOT)
    assert not gone(readiness, LATE + 10 + UNKNOWN_KEPT_S - 1, world, known=False)
    world.owners = world.live = world.ready = (A, C)
    assert not gone(readiness, LATE + 10 + UNKNOWN_KEPT_S, world, known=False)
    assert not readiness.former.is_let_go(SLOT) and jobs(readiness, world) == [(C, SyncPurpose.HANDOFF)]
    meet(readiness, C, SyncPurpose.HANDOFF)
    readiness.update(LATE + 1e6, world)
    show(readiness, world, LATE + 2e6, C)
    assert not gone(readiness, LATE + 2e6 + UNKNOWN_KEPT_S - 1, world, known=False)
    assert gone(readiness, LATE + 2e6 + UNKNOWN_KEPT_S, world, known=False) == [SLOT]
    assert not readiness.former.given_up(LATE + 3e6)


def test_a_copy_that_waits_for_its_day_goes_first_where_room_runs_short_and_that_is_told_for_a_day() -> None:
    readiness, world = handed_over()
    assert gone(readiness, LATE + 10, world, known=False, short=True) == [SLOT]
    readiness.dropped(SLOT)
    assert readiness.former.given_up(LATE + 10) == 1 and not readiness.former.given_up(LATE + 10 + UNKNOWN_KEPT_S)


def test_a_whole_copy_is_served_again_while_no_owner_lives_and_handed_over_when_one_is_back() -> None:
    readiness, world = handed_over()
    world.live, world.ready = (C,), (C,)
    readiness.update(LATE + 20, world)
    assert not readiness.ready, "a stand-in that is ready has what was written meanwhile"
    world.ready = ()
    readiness.update(LATE + 20, world)
    assert readiness.ready == {SLOT}
    world.live, world.ready = (A,), (A,)
    readiness.update(LATE + 30, world)
    assert not readiness.ready and jobs(readiness, world) == [(A, SyncPurpose.HANDOFF)]
