"""The proof that a record's bytes lie at a node: the part that is shown, and how it is checked.

Pure: bytes in, digests out. The digest covers some bytes of the record, which the asker chooses, under a nonce of its
own; so nobody can have computed it before. It names who asks and who answers, so that what one owner shows cannot be
passed on as another's: a node without the bytes has to fetch the record itself, within the time that it has to answer.
Source: Juels & Kaliski 2007, "PORs: Proofs of Retrievability for Large Files", section 1, for spot checks.
"""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from random import Random
from typing import TypeVar

from dht import DocumentId, NodeId
from store.record.messages import MAX_STRETCH, SHOWN_BYTES, Challenge, HeldVersion, PossessionReply, Shown
from store.record.record import Kind, Record

_PERSON = b"dse-possession"
LOOKED_AT_BYTES = 4 << 20  # of records, for one message; the rest is asked for again

Item = TypeVar("Item")
Find = Callable[[Kind, DocumentId], Record | None]


def sample(items: Iterable[Item], most: int, rng: Random) -> list[Item]:
    """Return some of many items, each as likely as any other; all where they are few.

    Source: Vitter 1985, "Random Sampling with a Reservoir", algorithm R."""
    chosen = list[Item]()
    for n, item in enumerate(items):
        if n < most:
            chosen.append(item)
        elif (place := rng.randrange(n + 1)) < most:
            chosen[place] = item
    return chosen


def challenge(record: Record, rng: Random) -> Challenge:
    """Choose what to ask of a record: all of a small one, some bytes from anywhere of a larger one."""
    size = size_of(record)
    length = max(min(size, MAX_STRETCH), 1)
    return Challenge(record.kind, record.id, *record.version.short, rng.randrange(size - length + 1 or 1), length)


def size_of(record: Record) -> int:
    """Return how many bytes of a record may be asked for."""
    return len(record.body) + len(record.content or b"")


def shown(record: Record, asked: Challenge, nonce: bytes, asker: NodeId, answerer: NodeId) -> bytes:
    """Return the digest that proves a record to lie at the answerer's."""
    end, begin = asked.offset + asked.length, asked.offset - len(record.body)
    stretch = record.body[asked.offset : end] + (record.content or b"")[max(begin, 0) : max(begin + asked.length, 0)]
    said = asker + answerer + bytes([record.kind]) + record.id + stretch
    return blake2b(said, digest_size=SHOWN_BYTES, key=nonce, person=_PERSON).digest()


def answer(find: Find, challenges: tuple[Challenge, ...], nonce: bytes, asker: NodeId, me: NodeId) -> PossessionReply:
    """Answer challenges by what lies here, until so many bytes were looked at that the rest has to wait."""
    found, later, looked_at = list[Shown](), list[int](), 0
    for n, asked in enumerate(challenges):
        record = find(asked.kind, DocumentId(asked.id)) if looked_at < LOOKED_AT_BYTES else None
        if looked_at >= LOOKED_AT_BYTES:
            later.append(n)
        looked_at += size_of(record) if record is not None else 0
        if record is None:
            found.append(Shown())
        elif record.version.short == asked.version:
            found.append(Shown(shown(record, asked, nonce, asker, me)))
        else:
            found.append(Shown(held=HeldVersion(*record.version.short)))
    return PossessionReply(tuple(found), tuple(later))
