"""Decides which peer's copies are challenged when, and remembers which records peers did not show. It also keeps the
accusations by other owners.

Pure: `now` is steady time in seconds. Once a minute one other owner is asked for bytes of 16 records that both should
have, drawn evenly from all that lie here. A challenge finds a node that lacks one record in 100 with 1 - .99^16 = 15 %.
All owners together ask it once a minute on average. So it is noticed within 7 minutes on average, and within 29 with 99
%. That costs each node some 1.2 kB a minute.

If records of a slot were not shown, the slot is compared with the peer, and the challenge is repeated. Such a record
may have been new, or just replaced. Where the peer fails again, its copies of those slots do not count for as long as
it does not show the records. All of this is one node's memory. It says when work is done and who is asked last, never
who owns what. The word of another owner counts as well, for an hour: it costs one more copy at most.

A digest proves that a record's bytes lie at a node. It covers some bytes of the record, which the asker chooses, under
a nonce of its own; so nobody can have computed it before. It names the asker and the answerer, so that no node can pass
on the digest of another. A node without the bytes has to fetch the record itself, within the time that it has to
answer.
Source: Juels & Kaliski 2007, "PORs: Proofs of Retrievability for Large Files", section 1, for spot checks.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import NamedTuple, TypeVar

from dht import CHALLENGE_EVERY_S, DocumentId, NodeId, Slot
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


AGAIN_S = 90.0  # until what was not shown is asked for again; what is on its way arrives within 60 s
DOUBTED_AGAIN_S = 600.0  # until a doubted copy is asked for the same again
HEARD_S = 3600.0  # how long another owner's word counts; it is said again with each failure
REMEMBERED = 4096  # peers
SUSPECTED = 64  # records of one peer that are asked for again
HEARD = 1024  # words of others that count at one time
TOLD, TELL_S = 16, 86_400.0  # words about this node that its operator is shown, and for how long
REMEDY = "they are compared and copied again; if this goes on, stop the node and run `dse-node store verify`"


class RecordName(NamedTuple):
    """Names a record, whatever its version, and the slot in which it lies."""

    kind: Kind
    id: DocumentId
    slot: Slot


@dataclass(slots=True)
class PeerFigures:
    """Counts the challenges of one peer.

    `challenged`, `answered`: records that it was asked to show, and of these it showed.
    `failed`: records that it did not show when asked twice.
    `silent`: challenges that it did not answer at all.
    `last_failed_at`: Unix seconds, 0 for never."""

    challenged: int = 0
    answered: int = 0
    failed: int = 0
    silent: int = 0
    last_failed_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Accusation:
    """Says that a peer finds records missing here. `at`: Unix seconds."""

    peer: NodeId
    at: float
    slots: int
    records: int


Outcome = Mapping[RecordName, bool]  # of one challenge: of each record whether it was shown


def missing(outcome: Outcome) -> list[RecordName]:
    """Return the records that were not shown."""
    return [name for name, is_shown in outcome.items() if not is_shown]


class Consequence(NamedTuple):
    """The consequences of an outcome.

    `compare`: slots to be compared with the peer at once.
    `accuse`: records because of which the peer's copies of their slots do not count. The peer and the slots' keepers
    receive a notice."""

    compare: frozenset[Slot] = frozenset()
    accuse: tuple[RecordName, ...] = ()


@dataclass(slots=True)
class _Suspicion:
    missing: tuple[RecordName, ...]
    again_at: float
    doubted: frozenset[Slot] = frozenset()  # slots whose copy does not count by now


class PossessionAudit:
    """Remembers one node's challenges. `slot_bits` may change: call `renumbered` then."""

    def __init__(self, now: float, draw: Callable[[], float]) -> None:
        """`draw` gives a random number from 0 to 1."""
        self._next_at = now + CHALLENGE_EVERY_S * draw()
        self._suspicions: dict[NodeId, _Suspicion] = {}
        self._figures: OrderedDict[NodeId, PeerFigures] = OrderedDict()
        self._heard = OrderedDict[tuple[NodeId, NodeId], tuple[frozenset[Slot], float]]()  # by who says it and of whom
        self._accusations: deque[Accusation] = deque(maxlen=TOLD)

    def is_due(self, now: float) -> bool:
        """Tell whether some other owner is challenged now; it is not again before a minute has passed."""
        if now < self._next_at:
            return False
        self._next_at = now + CHALLENGE_EVERY_S
        return True

    def again(self, now: float) -> Iterable[tuple[NodeId, Sequence[RecordName]]]:
        """Return who is asked once more for records that it did not show."""
        return [(peer, each.missing) for peer, each in self._suspicions.items() if now >= each.again_at]

    def judge(self, now: float, wall: float, peer: NodeId, outcome: Outcome, *, is_again: bool) -> Consequence:
        """Take note of what a peer showed; `is_again`: of what it had not shown before."""
        lacks = missing(outcome)
        self.count(wall, peer, outcome, is_failure=is_again)
        if not is_again:
            return self._suspect(now, peer, lacks)
        if not lacks:
            self._suspicions.pop(peer, None)
            return Consequence()
        slots = frozenset(name.slot for name in lacks)
        self._suspicions[peer] = _Suspicion(tuple(lacks), now + DOUBTED_AGAIN_S, slots)
        return Consequence(slots, tuple(lacks))

    def count(self, wall: float, peer: NodeId, outcome: Outcome, *, is_failure: bool = True) -> None:
        """Add the outcome of one challenge to a peer's figures.

        `is_failure`: whether records that the peer did not show count against it. `wall`: Unix seconds, noted as the
        time of its last failure."""
        figures, failed = self._of(peer), len(missing(outcome)) if is_failure else 0
        figures.challenged += len(outcome)
        figures.answered += sum(outcome.values())
        figures.failed += failed
        figures.last_failed_at = wall if failed else figures.last_failed_at

    def unheard(self, now: float, peer: NodeId) -> None:
        """Count a challenge that a peer did not answer. Nothing follows but another challenge: a lost answer is no
        evidence."""
        self._of(peer).silent += 1
        if peer in self._suspicions:
            self._suspicions[peer].again_at = now + AGAIN_S

    def heard(self, now: float, accuser: NodeId, peer: NodeId, slots: frozenset[Slot]) -> None:
        """Take note that another owner of some slots says that a peer does not show records there."""
        self._heard.pop((accuser, peer), None)
        self._heard[accuser, peer] = slots, now + HEARD_S
        if len(self._heard) > HEARD:
            self._heard.popitem(last=False)

    def accused(self, accuser: NodeId, wall: float, slots: int, records: int) -> None:
        """Take note that a peer finds records missing here."""
        kept = [each for each in self._accusations if each.peer != accuser]
        self._accusations = deque([*kept, Accusation(accuser, wall, slots, records)], maxlen=TOLD)

    def doubted(self, now: float) -> Mapping[Slot, frozenset[NodeId]]:
        """Return whose copies of which slots do not count: by what this node saw, or other owners say."""
        found: dict[Slot, set[NodeId]] = {}
        for (_, peer), (slots, until) in self._heard.items():
            for slot in slots if now < until else ():
                found.setdefault(slot, set()).add(peer)
        for peer, suspicion in self._suspicions.items():
            for slot in suspicion.doubted:
                found.setdefault(slot, set()).add(peer)
        return {slot: frozenset(peers) for slot, peers in sorted(found.items())}

    def figures(self) -> Mapping[NodeId, PeerFigures]:
        """Return what each peer was asked to show, since this node started."""
        return self._figures

    def accusations(self) -> Sequence[Accusation]:
        """List who finds records missing here, the newest last."""
        return tuple(self._accusations)

    def warnings(self, wall: float) -> Iterable[str]:
        """Tell the operator, for a day, that others find records missing here, and what helps."""
        recent = [each for each in self._accusations if wall - each.at < TELL_S]
        if recent:
            peers, records = len(recent), max(each.records for each in recent)
            yield f"{peers} peers find records missing here, up to {records} of them: {REMEDY}"

    def renumbered(self) -> None:
        """Forget everything about slots, which have other numbers from now on."""
        self._suspicions.clear()
        self._heard.clear()

    def only(self, members: Iterable[NodeId]) -> None:
        """Forget those who are no members any more."""
        for peer in self._suspicions.keys() - set(members):
            del self._suspicions[peer]

    def _suspect(self, now: float, peer: NodeId, lacks: Sequence[RecordName]) -> Consequence:
        if not lacks:
            return Consequence()
        before = self._suspicions.setdefault(peer, _Suspicion((), now + AGAIN_S))
        before.missing = tuple(dict.fromkeys((*before.missing, *lacks)))[:SUSPECTED]
        return Consequence(frozenset(name.slot for name in lacks))

    def _of(self, peer: NodeId) -> PeerFigures:
        figures = self._figures.pop(peer, None) or PeerFigures()
        self._figures[peer] = figures
        if len(self._figures) > REMEMBERED:
            self._figures.popitem(last=False)
        return figures
