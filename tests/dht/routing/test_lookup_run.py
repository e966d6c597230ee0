"""Lookups against liars: whatever a peer answers, a lookup ends."""

from collections.abc import Callable

import pytest

from dht.clock import Now
from dht.errors import BadMessage
from dht.identity.node_key import Identity
from dht.membership.working_families import WorkingFamilies
from dht.routing.lookup_run import LookupAsker, LookupRun
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Contact, Endpoint
from dht.wire.packets import Body, Found, PackedContact, Packet

NOW = Now(1_000_000.0, 10.0)
OWN, LIAR = Identity(bytes([1]) * 32), Identity(bytes([2]) * 32)


def test_a_malformed_contact_fails_its_sender_and_not_the_lookup() -> None:
    ended: list[list[tuple[bytes, Contact]]] = []
    asked: list[Callable[[Now, Packet | None, Body | None], None]] = []

    def ask(now: Now, body: Body, key: bytes, contact: Contact, done: object, slow: object = None) -> None:
        asked.append(done)  # type: ignore[arg-type]

    run = LookupRun(
        LookupAsker(OWN.node_id, ask, WorkingFamilies({4}), lambda: AddressPolicy(allow_private=True)),
        bytes(20),
        lambda _, w: ended.append(w.result()),
    )
    run.start(NOW, [(LIAR.public_key, Contact(LIAR.node_id, (Endpoint("127.0.0.1", 1, 1),)))])
    with pytest.raises(BadMessage):
        asked[0](NOW, None, Found((PackedContact(bytes(32), ((b"\x7f\0\0", 1, 1),)),), b"token"))
    assert ended == [[]]
    assert run.tokens == {}
