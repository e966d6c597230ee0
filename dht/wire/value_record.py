"""Small signed values lie at points of the key space; the newest strategy is found by them.

Pure: values, their codec and a bounded store. The newest sequence of an author wins; readers merge what different
authors wrote. The network's id is part of the signed domain. Model: BEP 44, with absolute expiry.
"""

from collections.abc import Callable, Collection, Iterator
from math import inf

import msgspec

from dht.audit.evidence import EVIDENCE_AT_POINT
from dht.clock import Now
from dht.errors import MALFORMED, BadMessage, BadSignature
from dht.identity.node_key import Identity, node_id_of, verify
from dht.keys import KEY_BYTES, Key, NodeId, distance

RECORD_LIMIT_BYTES = 1000
LIFE_LIMIT_S = 48 * 3600.0  # an author that still means a record writes it again each day
AUTHORS_LIMIT = 16  # of one point; a point of evidence holds EVIDENCE_AT_POINT (dht/audit/evidence.py)

DOMAIN = b"small record\0"


class ValueRecord(msgspec.Struct, frozen=True, array_like=True):
    """Holds a value that an author puts at a point, until `expires_at` (Unix seconds) or a higher sequence."""

    key: bytes
    public_key: bytes
    sequence: int
    expires_at: float
    value: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ValueRecord)


def sign_record(
    identity: Identity, network: bytes, *, key: Key, sequence: int, expires_at: float, value: bytes
) -> bytes:
    """Sign a record; return its wire form: signature, then fields. Raises ValueError above 1000 bytes."""
    body = _encoder.encode(ValueRecord(key, identity.public_key, sequence, expires_at, value))
    data = identity.sign(DOMAIN + network, body) + body
    if len(data) > RECORD_LIMIT_BYTES:
        raise ValueError(f"record of {len(data)} bytes, {RECORD_LIMIT_BYTES} is the limit")
    return data


def open_record(data: bytes, now: Now, network: bytes) -> ValueRecord:
    """Verify the wire form of a record; raises BadMessage or BadSignature."""
    if len(data) > RECORD_LIMIT_BYTES:
        raise BadMessage("", f"record of {len(data)} bytes, {RECORD_LIMIT_BYTES} is the limit")
    try:
        record = _decoder.decode(data[64:])
    except MALFORMED as error:
        raise BadMessage("", f"record does not decode: {error}") from error
    if not verify(DOMAIN + network, record.public_key, data[64:], data[:64]):
        raise BadSignature("record", "not signed by the key in it for this network")
    if len(record.key) != KEY_BYTES or not 0 <= record.sequence < 1 << 63:
        raise BadMessage("", "record with a key or sequence out of range")
    if not now.wall < record.expires_at <= now.wall + LIFE_LIMIT_S:
        raise BadMessage("", "record has expired, or lives for more than 48 h")
    return record


class ValueStore:
    """Keeps the records that lie at this node; when full, those furthest from it give way.

    A point holds one record an author. Where it is full, the record of the youngest member gives way.
    A holder stores each record again at the nodes nearest to its key, in place of those that have gone, some time
    after anybody has done so last. Each holder waits for another time, so mostly one does it for all.
    """

    def __init__(
        self,
        own: NodeId,
        limit: int,
        rest_s: Callable[[], float] = lambda: inf,
        joined_on: Callable[[NodeId], int | None] = lambda author: None,
        evidence_points: Collection[bytes] = (),
    ) -> None:
        """`rest_s`: drawn for each record whenever it is stored here, until this node stores it again elsewhere.
        `joined_on`: the day since which an author is a member, None where it is none."""
        self._own, self._rest_s, self._joined_on, self._evidence_points = own, rest_s, joined_on, evidence_points
        self._again_at: dict[tuple[bytes, bytes], float] = {}  # steady seconds, by key and author
        self._limit = limit
        self._kept: dict[bytes, dict[bytes, tuple[ValueRecord, bytes]]] = {}
        self._count = 0

    def put(self, record: ValueRecord, data: bytes, at: float = 0.0) -> bool:
        """Keep a verified record, now being `at` (steady); False where there is no room, or a newer one lies here."""
        is_kept = self._put(record, data)
        if is_kept:
            self._again_at[record.key, record.public_key] = at + self._rest_s()
        return is_kept

    def due(self, now: Now) -> bytes | None:
        """Return a valid record that should be stored again elsewhere, None where none should."""
        self.expire(now)
        first = min(self._again_at, key=self._again_at.__getitem__, default=None)
        if first is None or self._again_at[first] > now.steady:
            return None
        self._again_at[first] = now.steady + self._rest_s()
        return self._kept[first[0]][first[1]][1]

    def _put(self, record: ValueRecord, data: bytes) -> bool:
        authors = self._kept.setdefault(record.key, {})
        old = authors.get(record.public_key)
        if old and old[0].sequence >= record.sequence:
            return old[1] == data
        if old is None and not self._make_room(record, authors):
            if not authors:
                del self._kept[record.key]
            return False
        self._kept.setdefault(record.key, authors)[record.public_key] = record, data
        self._count += old is None
        return True

    def at(self, key: bytes, now: Now) -> Iterator[bytes]:
        """Return the valid records at a point, the smallest first, so that many fit into an answer."""
        found = [data for record, data in self._kept.get(key, {}).values() if record.expires_at > now.wall]
        return iter(sorted(found, key=lambda data: (len(data), data)))

    def expire(self, now: Now) -> None:
        """Forget the records that have expired."""
        for key in list(self._kept):
            authors = self._kept[key]
            for author in [a for a, (record, _) in authors.items() if record.expires_at <= now.wall]:
                self._forget(key, authors, author)
            if not authors:
                del self._kept[key]

    def __len__(self) -> int:
        return self._count

    def _age_rank(self, author: bytes) -> float:
        """The day on which an author joined; later than any for one that is no member."""
        day = self._joined_on(node_id_of(author))
        return inf if day is None else day

    def _forget(self, key: bytes, authors: dict[bytes, tuple[ValueRecord, bytes]], author: bytes) -> None:
        del authors[author], self._again_at[key, author]
        self._count -= 1

    def _make_room(self, record: ValueRecord, authors: dict[bytes, tuple[ValueRecord, bytes]]) -> bool:
        key = record.key
        if len(authors) >= (EVIDENCE_AT_POINT if key in self._evidence_points else AUTHORS_LIMIT):
            youngest = max(authors, key=lambda author: (self._age_rank(author), author))
            if self._age_rank(record.public_key) >= self._age_rank(youngest):
                return False
            self._forget(key, authors, youngest)
            return True
        if self._count < self._limit:
            return True
        furthest = max((k for k, kept in self._kept.items() if kept), key=lambda k: distance(k, self._own), default=key)
        if distance(furthest, self._own) <= distance(key, self._own):
            return False
        gone = self._kept.pop(furthest)
        self._count -= len(gone)
        for author in gone:
            del self._again_at[furthest, author]
        return True
