"""The responder answers FIND, GET and PUT: nearest contacts, small records, and the token that a PUT needs.

Pure: `now` is an argument. No answer is longer than its question. A token proves that its bearer gets packets that are
sent to its address. It is a hash, keyed by a secret of this node, of key, address and a period of five minutes.
"""

from collections.abc import Iterable
from hashlib import blake2b
from hmac import compare_digest
from itertools import islice

from dht.clock import Now
from dht.keys import KEY_BYTES
from dht.routing.routing_table import K, RoutingEntry, RoutingTable
from dht.wire.contact import Address
from dht.wire.heartbeat import pack_endpoint
from dht.wire.packets import Body, Find, Found, Get, Got, PackedContact, Packet, Put, Stored, body_size
from dht.wire.value_record import ValueStore, open_record

TOKEN_S = 300.0


class Responder:
    """Answers from the routing table and the store of records."""

    def __init__(self, routing: RoutingTable, store: ValueStore, network: bytes, secret: bytes) -> None:
        self._routing = routing
        self._store = store
        self._network = network
        self._secret = secret

    def answer(self, now: Now, packet: Packet, body: Body, source: Address, room: int) -> Body | None:
        """Return the answer in at most `room` bytes, None where the question is not worth one; raises RemoteError."""
        if isinstance(body, Put):
            return self._put(now, packet, body, source)
        if not isinstance(body, (Find, Get)) or len(body.target) != KEY_BYTES:
            return None
        token = self._token(packet.public_key, source, int(now.steady // TOKEN_S))
        nearest = self._contacts(packet.public_key, self._routing.closest(body.target, K + 1))
        if isinstance(body, Find):
            return _fit_found(Found(tuple(nearest), token), room)
        records = islice(self._store.at(body.target, now), max(body.skip, 0), None)
        return _fit_got(Got(tuple(records), tuple(nearest), token), room)

    def _put(self, now: Now, packet: Packet, body: Put, source: Address) -> Stored:
        period = int(now.steady // TOKEN_S)
        if not any(compare_digest(body.token, self._token(packet.public_key, source, period - n)) for n in (0, 1)):
            return Stored(False)
        return Stored(self._store.put(open_record(body.record, now, self._network), body.record, now.steady))

    def _token(self, public_key: bytes, source: Address, period: int) -> bytes:
        text = public_key + f"{source.host} {source.port} {period}".encode()
        return blake2b(text, key=self._secret, digest_size=8).digest()

    @staticmethod
    def _contacts(asker: bytes, entries: Iterable[RoutingEntry]) -> list[PackedContact]:
        others = [e for e in entries if e.public_key != asker][:K]
        return [PackedContact(e.public_key, tuple(pack_endpoint(p) for p in e.contact.endpoints)) for e in others]


def _fit_found(found: Found, room: int) -> Found | None:
    while body_size(found) > room:
        if not found.contacts:
            return None
        found = Found(found.contacts[:-1], found.token)
    return found


def _fit_got(got: Got, room: int) -> Got | None:
    """Records come first; of them the smallest, then contacts while there is room."""
    while body_size(got) > room:
        if got.contacts:
            got = Got(got.records, got.contacts[:-1], got.token)
        elif got.records:
            got = Got(got.records[:-1], got.contacts, got.token)
        else:
            return None
    return got
