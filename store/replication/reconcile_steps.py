"""The messages of a reconciliation, made of what its sessions say in either form.

Pure: values in, values out. The first message is in the form of older nodes and has a salt; whoever knows the short
form answers in it, and then all goes on in short.
"""

from store.errors import BadReplica
from store.record.range_reconciliation import FORM, ItemsBetween, answer
from store.record.short_reconciliation import ShortSession, short_answer, short_opening
from store.replication.messages import ReconcileReply, ReconcileStep


def first_step(session: ShortSession, today: int) -> ReconcileStep | None:
    """Return the message that opens a session, None where there is nothing to compare."""
    ranges = session.open()
    return ReconcileStep(today, ranges, FORM, session.salt) if ranges else None


def next_step(session: ShortSession, asked: ReconcileStep, reply: ReconcileReply) -> ReconcileStep | None:
    """Take in the answer to a message and return what to send next, None when done. Raises BadReplica where the answer
    is malformed."""
    if reply.short is not None:
        short = session.receive_short(reply.short)
        return ReconcileStep(asked.today, (), FORM, session.salt, short) if short else None
    if asked.short is not None:
        raise BadReplica("reconciliation", "an answer that is not in short, as it was before")
    ranges = session.receive(reply.ranges)
    return ReconcileStep(asked.today, ranges, FORM) if ranges else None


def answer_step(between: ItemsBetween, asked: ReconcileStep) -> ReconcileReply:
    """Return what the answering side says to a message. Raises BadReplica where it is malformed."""
    if asked.short is not None:
        return ReconcileReply((), FORM, short_answer(between, asked.short, asked.salt))
    if asked.salt:
        return ReconcileReply((), FORM, short_opening(between, asked.ranges, asked.salt))
    return ReconcileReply(answer(between, asked.ranges), FORM)
