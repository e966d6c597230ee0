"""Which keeper copies a slot, and when: by how many copies live, and how many will be back."""

from dht import NodeId, Slot
from store.repair.absences import CUT_S, LAST_S, STABLE_S, Absences
from store.repair.durability import PATIENCE_S, TURN_S, Durability, SlotCopies

ME, A, B, C, D = (NodeId(bytes([n]) * 20) for n in range(5))
SLOT = Slot(3)
OTHERS = (A, B, C, D)


def story(*live: NodeId, before: tuple[NodeId, ...] = OTHERS) -> tuple[Durability, Absences]:
    """A node that has just learned that only these of the others live."""
    absences = Absences()
    absences.refresh(0.0, OTHERS, frozenset(before))
    absences.refresh(0.0, OTHERS, frozenset(live))
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
