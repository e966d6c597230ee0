"""Writes of records: which nodes accept one, when it is safe, and which keep a copy for owners that do not answer."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from dht import NodeId, Slot
from store.writing.replica_writer import is_safe, next_candidates, write_team

ME, A, B, C, D, E = (NodeId(bytes([n]) * 20) for n in range(6))
SLOT = Slot(3)


@dataclass
class Seen:
    """A view of one slot whose ranking is A, B, C, D, E, ME."""

    node_id: NodeId = ME
    live: tuple[NodeId, ...] = (A, B, C, D, E, ME)
    announced: tuple[NodeId, ...] = (A, B, C)
    old: tuple[NodeId, ...] = ()
    strategy: Any = field(default_factory=lambda: SimpleNamespace(min_acks=2))
    stopped: frozenset[NodeId] = frozenset()

    def away(self) -> frozenset[NodeId]:
        return self.stopped

    uncounted = away

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (A, B, C)

    def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return tuple(peer for peer in (A, B, C) if peer in self.live)

    def candidates(self, slot: Slot) -> tuple[NodeId, ...]:
        return (A, B, C, D, E, ME)

    def keepers(self, slot: Slot) -> tuple[NodeId, ...]:
        silent = sum(peer not in self.live for peer in (A, B, C))
        return tuple(peer for peer in (D, E, ME) if peer in self.live)[:silent]

    def ready(self, slot: Slot) -> tuple[NodeId, ...]:
        return tuple(peer for peer in self.announced if peer in self.live)

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        return peer in self.ready(slot)

    def is_live(self, peer: NodeId) -> bool:
        return peer in self.live

    def seasoned(self, peers: Any) -> tuple[NodeId, ...]:
        return tuple(peer for peer in peers if peer in self.old)


def test_who_answers_is_written_to_and_does_not_count() -> None:
    view: Any = Seen(announced=(A, B, D))
    team = write_team(view, SLOT)
    assert team.all == (A, B, C, D)
    assert not is_safe(view, team, {A, D}) and is_safe(view, team, {A, B})


def test_a_copy_kept_for_an_owner_counts() -> None:
    view: Any = Seen()
    team = write_team(view, SLOT)
    assert is_safe(view, team, {A, E}) and is_safe(view, team, {D, ME}) and not is_safe(view, team, {E})


def test_where_newcomers_decide_nothing_a_copy_counts_with_who_is_older() -> None:
    view: Any = Seen(old=(A, B, E))
    team = write_team(view, SLOT)
    assert not is_safe(view, team, {A, C}) and not is_safe(view, team, {A, D})
    assert not is_safe(view, team, {A, ME}), "its own word counts where it is an owner"
    assert is_safe(view, team, {A, E}) and is_safe(view, team, {A, B})


def test_this_node_keeps_copies_first_and_then_the_next_in_rank_that_live() -> None:
    view: Any = Seen(live=(A, B, C, E, ME))
    team = write_team(view, SLOT)
    assert next_candidates(view, team, set(), set()) == [ME, E]
    assert next_candidates(view, team, {A}, set()) == [ME]
    assert next_candidates(view, team, {A}, {ME}) == [E]
    assert next_candidates(view, team, {A}, {ME, E}) == []


def test_who_keeps_copies_for_a_silent_owner_gets_them_at_once_and_they_count() -> None:
    view: Any = Seen(live=(A, B, D, E, ME), announced=(A, B, D, E))
    team = write_team(view, SLOT)
    assert team.all == (A, B, D, E), "D keeps them for C; E answers for the slot, and does not count"
    assert is_safe(view, team, {A, D}) and not is_safe(view, team, {A, E})
    assert next_candidates(view, team, {A}, set()) == [ME]


def test_who_said_farewell_is_no_copy_and_is_not_waited_for() -> None:
    view: Any = Seen(live=(A, C), stopped=frozenset([B]))
    assert is_safe(view, write_team(view, SLOT), {A, C}) and not is_safe(view, write_team(view, SLOT), {A})
    view = Seen(live=(A, B), stopped=frozenset([B, C]))
    assert is_safe(view, write_team(view, SLOT), {A}) and not is_safe(view, write_team(view, SLOT), {B})
