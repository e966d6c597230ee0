"""Calls wait until they are due; whose word is worth least is answered last, and who called in vain no more."""

from collections.abc import Sequence

import pytest

from dht import Identity, NodeId, document_id, placement_key
from node.witness.call_queue import (
    IDLE_S,
    MAX_CALLS,
    MAX_CALLS_EACH,
    MAX_HANDED,
    MAX_HANDED_EACH,
    TRUE_S,
    Call,
    CallQueue,
)
from node.witness.statement import Statement
from store import Document, Draft, Kind, Record, encode_document, sign_package

DAY = 20_000
LIAR, ONE, TWO, THREE = (Identity(bytes([n]) * 32) for n in range(1, 5))


async def nobody(record: Record, statement: Statement) -> None:
    """Nobody is told anything here."""


def call(
    author: Identity, caller: Identity, site: str, due_at: float = 0.0, until: float = 600.0, at_ms: int = 0
) -> Call:
    url = f"https://{site}/"
    body = encode_document(Document(url, DAY * 86_400.0, 200, title="a page", text="words"))
    draft = Draft(Kind.DOCUMENT, document_id(url), placement_key(url), 1, DAY * 86_400_000 + at_ms, DAY + 30, body)
    (record,) = sign_package([draft], author)
    return Call(record, caller.node_id, nobody, due_at, until)


def answered(queue: CallQueue, now: float, doubted: Sequence[Identity] = ()) -> list[NodeId]:
    """Who called, in the order in which a node answers."""
    found = list[NodeId]()
    while (due := queue.next(now, {each.node_id for each in doubted})) is not None:
        queue.take_up(due)
        found.append(due.caller)
    return found


def filled(*calls: Call) -> CallQueue:
    queue = CallQueue()
    for each in calls:
        queue.add(each, 0.0)
    return queue


def test_a_call_is_answered_when_it_is_due_and_not_after_its_time():
    queue = filled(call(LIAR, ONE, "a.example", 30.0, 600.0), call(LIAR, TWO, "b.example", 20.0, 25.0))
    assert queue.next(19.0) is None
    assert (due := queue.next(20.0)) is not None and due.caller == TWO.node_id
    assert answered(queue, 30.0) == [ONE.node_id] and not answered(queue, 31.0)


def test_while_a_call_waits_both_its_author_and_its_caller_are_doubted():
    queue = filled(call(LIAR, ONE, "a.example", 30.0))
    assert set(queue.doubted(0.0)) == {(LIAR.node_id, "a.example"), (ONE.node_id, "")}
    queue.note_idle(ONE.node_id, 0.0)
    assert not set(queue.doubted(1.0)), "it called in vain"


def test_whose_page_was_seen_to_be_true_is_in_no_doubt_by_calls_for_a_while():
    queue = filled(call(ONE, LIAR, "a.example", 30.0, 9e9))
    queue.note_true(ONE.node_id, 0.0)
    assert set(queue.doubted(TRUE_S)) == {(LIAR.node_id, "")}
    assert len(set(queue.doubted(TRUE_S + 1.0))) == 2
    queue.note_true(LIAR.node_id, TRUE_S + 1.0)
    assert set(queue.doubted(TRUE_S + 2.0)) == {(ONE.node_id, "a.example")}


def test_where_one_of_both_is_known_to_write_what_no_site_says_the_other_is_in_no_doubt():
    known = {LIAR.node_id}
    accused, accuses = filled(call(LIAR, ONE, "a.example", 30.0)), filled(call(ONE, LIAR, "b.example", 30.0))
    assert set(accused.doubted(0.0, known)) == {(LIAR.node_id, "a.example")}
    assert set(accuses.doubted(0.0, known)) == {(LIAR.node_id, "")}
    accused.note_true(LIAR.node_id, 0.0)
    assert set(accused.doubted(0.0, known)) == {(LIAR.node_id, "a.example")}, "one true page acquits nobody"


@pytest.mark.parametrize("first", [True, False])
def test_whom_two_accuse_waits_for_them_whenever_it_called(first: bool):
    calls = [call(ONE, LIAR, "a.example"), call(LIAR, ONE, "b.example", 30.0), call(LIAR, TWO, "c.example", 30.0)]
    queue = filled(*(calls if first else calls[::-1]))
    assert queue.next(20.0) is None
    assert answered(queue, 30.0)[0] != LIAR.node_id


def test_one_accuser_with_many_calls_holds_nobody_up():
    queue = filled(*(call(ONE, LIAR, f"s{n}.example", 30.0) for n in range(3)), call(LIAR, ONE, "b.example"))
    assert answered(queue, 0.0) == [ONE.node_id]


def test_older_versions_come_first_so_that_all_bring_the_same_hearings_to_an_end():
    young, old = call(LIAR, ONE, "a.example", at_ms=2), call(LIAR, TWO, "b.example", at_ms=1)
    assert answered(filled(young, old), 0.0) == [TWO.node_id, ONE.node_id]


def test_who_was_found_to_write_what_no_site_says_is_answered_last_and_then_who_called_in_vain():
    queue = filled(call(ONE, LIAR, "a.example"), call(LIAR, TWO, "b.example"), call(LIAR, THREE, "c.example"))
    queue.note_idle(TWO.node_id, 0.0)
    assert answered(queue, 1.0, [LIAR]) == [THREE.node_id, TWO.node_id, LIAR.node_id]


def test_who_called_twice_in_vain_is_heard_again_after_an_hour():
    queue = filled(call(ONE, LIAR, "a.example"))
    for _ in range(2):
        queue.note_idle(LIAR.node_id, 0.0)
    queue.add(call(ONE, LIAR, "b.example", until=9e9), 1.0)
    assert not answered(queue, 2.0)
    queue.add(call(ONE, LIAR, "b.example", until=9e9), IDLE_S + 1.0)
    assert answered(queue, IDLE_S + 1.0) == [LIAR.node_id]


def test_no_caller_takes_all_places():
    queue = filled(*(call(ONE, LIAR, f"s{n}.example") for n in range(MAX_CALLS)))
    assert len(answered(queue, 0.0)) == MAX_CALLS_EACH
    crowd = [Identity(bytes([n]) * 32) for n in range(10, 10 + MAX_CALLS + 5)]
    assert len(answered(filled(*(call(ONE, each, "a.example") for each in crowd)), 0.0)) == MAX_CALLS


def test_of_one_owner_few_pages_are_taken_that_it_cannot_look_at():
    queue = CallQueue()
    for number in range(MAX_HANDED_EACH + 2):
        queue.hand(call(LIAR, ONE, f"s{number}.example").record, ONE.node_id)
    assert len(queue.handed()) == MAX_HANDED_EACH
    queue.take_handed(queue.handed()[0].id)
    queue.hand(call(LIAR, ONE, "t.example").record, ONE.node_id)
    assert len(queue.handed()) == MAX_HANDED_EACH
    for number in range(MAX_HANDED):
        queue.hand(call(LIAR, TWO, f"u{number}.example").record, NodeId(bytes([number]) * 20))
    assert len(queue.handed()) == MAX_HANDED
