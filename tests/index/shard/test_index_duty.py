"""Which slots a node indexes: the first owners at once, the next ready holder where too few answer."""

from dataclasses import dataclass, field
from typing import Any

from dht import NodeId, Slot, Strategy
from index.shard.index_duty import SPARE_S, WAIT_S, IndexDuty

A, B, C, D = (NodeId(bytes([n]) * 20) for n in range(4))
SLOT = Slot(5)


@dataclass
class Team:
    """A view of one slot, whose ranking is A, B, C, D and whose owners are the first three."""

    node_id: NodeId
    index_copies: int = 2
    silent: set[NodeId] = field(default_factory=set)
    answers: set[NodeId] = field(default_factory=lambda: {A, B})

    @property
    def strategy(self) -> Strategy:
        return Strategy(network="", version=1, effective_at=0, expires_at=1, next_at=0, slot_bits=4,
                        index_copies=self.index_copies)  # fmt: skip

    def owned(self) -> frozenset[Slot]:
        return frozenset({SLOT} if self.node_id != D else ())

    def kept(self) -> frozenset[Slot]:
        return frozenset({SLOT} if self.node_id == D else ())

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return A, B, C

    def candidates(self, slot: Slot) -> tuple[NodeId, ...]:
        return A, B, C, D

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        return peer not in self.silent

    def ready(self, slot: Slot, *, answering: bool) -> tuple[NodeId, ...]:
        return tuple(sorted(self.answers - self.silent))


def indexes(duty: IndexDuty, team: Any, now: float, begun: tuple[Slot, ...] = ()) -> bool:
    slots = duty.refresh(team, now, begun).slots
    return slots is None or SLOT in slots


def test_the_first_owners_index_and_the_third_stores() -> None:
    assert [indexes(IndexDuty(), Team(each), 0.0) for each in (A, B, C, D)] == [True, True, False, False]


def test_all_index_where_as_many_are_asked_for_as_there_are_copies() -> None:
    assert IndexDuty().refresh(Team(D, index_copies=3), 0.0, ()).slots is None  # type: ignore[arg-type]


def test_the_next_one_waits_where_another_answers_and_begins_at_once_where_nobody_does() -> None:
    duty, team = IndexDuty(), Team(C)
    indexes(duty, team, 0.0)
    team.silent = {A}
    assert not indexes(duty, team, 1.0) and not indexes(duty, team, WAIT_S)
    team.silent = set()
    assert not indexes(duty, team, WAIT_S + 0.5), "it is back: the wait begins anew next time"
    team.silent = {A}
    assert not indexes(duty, team, WAIT_S + 1.0)
    assert indexes(duty, team, 2 * WAIT_S + 1.0)
    assert indexes(IndexDuty(), Team(C, silent={A, B}), 0.0)


def test_only_as_many_begin_as_lack() -> None:
    duty, team = IndexDuty(), Team(D, silent={A})
    assert not any(indexes(duty, team, now) for now in (0.0, WAIT_S, 10 * WAIT_S)), "C comes before it"
    assert indexes(IndexDuty(), Team(D, silent={A, B}), 0.0), "two lack"


def test_it_goes_on_until_enough_others_have_answered_for_an_hour() -> None:
    duty, team = IndexDuty(), Team(C, silent={A, B}, answers={A, B, C})
    assert indexes(duty, team, 0.0)
    team.silent = set()
    assert indexes(duty, team, 10.0, (SLOT,)) and indexes(duty, team, 9.0 + SPARE_S, (SLOT,))
    team.silent = {B}
    assert indexes(duty, team, 20.0 + SPARE_S, (SLOT,)), "one is away again: the hour begins anew"
    team.silent = set()
    assert indexes(duty, team, 30.0 + SPARE_S, (SLOT,))
    assert not indexes(duty, team, 30.0 + 2 * SPARE_S, (SLOT,))


def test_what_is_indexed_at_the_start_counts_as_begun_and_an_empty_slot_is_let_go_at_once() -> None:
    assert indexes(IndexDuty(), Team(C), 0.0, (SLOT,))
    duty, team = IndexDuty(), Team(C, silent={A, B})
    assert indexes(duty, team, 0.0)
    team.silent = set()
    assert not indexes(duty, team, 1.0)
