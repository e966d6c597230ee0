"""Nodes of two versions reconcile: who knows the short form meets who does not, on either side."""

from collections.abc import Callable

import msgspec
import pytest

from store.errors import BadReplica
from store.record.range_reconciliation import FORM, ItemsBetween, RangeEntry, RangeSession, among, answer
from store.record.short_reconciliation import SALT_BYTES, ShortSession
from store.replication.messages import ReconcileReply, ReconcileStep
from store.replication.reconcile_steps import answer_step, first_step, next_step
from tests.store.record.test_range_reconciliation import WHOLE, made, sets

TODAY = 20_000
COUNT = 3000
MINE = sets(dict.fromkeys(range(COUNT), 1))
THEIRS = sets(dict.fromkeys(range(5, COUNT), 1) | {100: 2, COUNT: 1})
WANTED = {made(100, 2).entry, made(COUNT, 1).entry}
OWED = {made(n, 1).entry for n in range(5)}

Answerer = Callable[[ItemsBetween, ReconcileStep], ReconcileReply]


def of_an_older_node(between: ItemsBetween, asked: ReconcileStep) -> ReconcileReply:
    """It reads the first three fields, and sends two."""
    return ReconcileReply(answer(between, asked.ranges), FORM)


def run(answerer: Answerer) -> tuple[set[RangeEntry], set[RangeEntry], list[ReconcileStep]]:
    session, asked = ShortSession(MINE, WHOLE, b"s" * SALT_BYTES), list[ReconcileStep]()
    step = first_step(session, TODAY)
    while step is not None:
        asked.append(msgspec.msgpack.decode(msgspec.msgpack.encode(step), type=ReconcileStep))
        reply = msgspec.msgpack.encode(answerer(among(THEIRS), asked[-1]))
        step = next_step(session, step, msgspec.msgpack.decode(reply, type=ReconcileReply))
    return set(session.wanted), set(session.owed), asked


def test_two_that_know_it_go_on_in_short() -> None:
    wanted, owed, asked = run(answer_step)
    assert (wanted, owed) == (WANTED, OWED)
    assert len(asked) > 1 and all(step.short is not None and not step.ranges for step in asked[1:])


def test_an_older_node_answers_as_ever() -> None:
    wanted, owed, asked = run(of_an_older_node)
    assert (wanted, owed) == (WANTED, OWED)
    assert len(asked) > 1 and all(step.short is None and not step.salt for step in asked[1:])


def test_an_older_node_is_answered_as_ever() -> None:
    session = RangeSession(MINE, WHOLE)
    ranges = session.open()
    while ranges:
        sent = msgspec.msgpack.encode([TODAY, ranges, FORM])
        reply = answer_step(among(THEIRS), msgspec.msgpack.decode(sent, type=ReconcileStep))
        assert reply.short is None
        ranges = session.receive(reply.ranges)
    assert (set(session.wanted), set(session.owed)) == (WANTED, OWED)


def test_a_peer_that_forgets_the_short_form_meanwhile_is_not_taken_for_equal() -> None:
    """It was started again in an older version: that reads no question, and answers nothing."""
    answerers = iter([answer_step, of_an_older_node])
    with pytest.raises(BadReplica, match="not in short"):
        run(lambda between, asked: next(answerers)(between, asked))


def test_equal_sets_take_one_exchange() -> None:
    session = ShortSession(MINE, WHOLE, b"s" * SALT_BYTES)
    step = first_step(session, TODAY)
    assert step is not None
    reply = answer_step(among(MINE), step)
    assert next_step(session, step, reply) is None and not session.wanted and not session.owed
    assert len(msgspec.msgpack.encode(step)) + len(msgspec.msgpack.encode(reply)) < 200


def test_nothing_to_compare_asks_nothing() -> None:
    assert first_step(ShortSession([], [], b"s" * SALT_BYTES), TODAY) is None
