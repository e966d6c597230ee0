"""Lookups against liars: whatever a peer answers, a lookup ends."""

from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address
from random import Random

import pytest

from dht.clock import Now
from dht.errors import BadMessage
from dht.identity.node_key import Identity, node_id_of
from dht.keys import NodeId, distance
from dht.membership.working_families import WorkingFamilies
from dht.routing.lookup_run import K_EACH, PATHS, DisjointPaths, LookupAsker, LookupRun
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Contact, Endpoint
from dht.wire.packets import Body, Found, Got, PackedContact, Packet

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


RNG = Random(6)
KEYS = [RNG.randbytes(32) for _ in range(300)]
PLACES = {node_id_of(key): f"11.{n // 250}.{n % 250}.1" for n, key in enumerate(KEYS)}
OWNERS = {node_id_of(key): key for key in KEYS}
TARGET = RNG.randbytes(20)
NEAREST = sorted(OWNERS, key=lambda p: distance(p, TARGET))

Hear = Callable[[Now, Packet | None, Body | None], None]


def contact(peer: NodeId) -> Contact:
    return Contact(peer, (Endpoint(PLACES[peer], 1, 1),))


def packed(peer: NodeId) -> PackedContact:
    return PackedContact(OWNERS[peer], ((ip_address(PLACES[peer]).packed, 1, 1),))


def table(peer: NodeId) -> list[NodeId]:
    """Return the peers that a node knows: some anywhere, and those next to it."""
    far = Random(peer).sample(NEAREST, 24)
    return far + sorted(OWNERS, key=lambda p: distance(p, peer))[1:17]


class Net:
    """Answers questions in the order in which they were asked; `liars` name each other and know of no record."""

    def __init__(self, liars: frozenset[NodeId] = frozenset()) -> None:
        self.liars = liars
        self.asked: Counter[NodeId] = Counter()
        self._queue: list[tuple[NodeId, Hear]] = []

    def ask(self, now: Now, body: Body, key: bytes, to: Contact, done: Hear, slow: object = None) -> None:
        self.asked[to.node_id] += 1
        self._queue.append((to.node_id, done))

    def read(self, seeds: list[NodeId]) -> DisjointPaths:
        ended: list[DisjointPaths] = []

        def path(claim: Callable[[NodeId], bool], done: Callable[[Now, LookupRun], None]) -> LookupRun:
            asker = LookupAsker(NodeId(bytes(20)), self.ask, WorkingFamilies({4}), AddressPolicy)  # type: ignore[arg-type]
            return LookupRun(asker, TARGET, done, skip=0, claim=claim, k=K_EACH)

        DisjointPaths(TARGET, path, lambda _, paths: ended.append(paths)).start(
            NOW, [(OWNERS[s], contact(s)) for s in seeds]
        )
        while self._queue:
            peer, done = self._queue.pop(0)
            done(NOW, None, self._answer(peer))
        (paths,) = ended
        return paths

    def _answer(self, peer: NodeId) -> Got:
        known = list(self.liars) if peer in self.liars else table(peer)
        near = sorted(known, key=lambda p: distance(p, TARGET))[:16]
        records = (b"record",) if peer in NEAREST[:16] and peer not in self.liars else ()
        return Got(records, tuple(packed(p) for p in near), bytes(8))


SEEDS = sorted(Random(1).sample(NEAREST[50:], 16), key=lambda p: distance(p, TARGET))


def test_no_node_is_asked_twice_and_the_sixteen_nearest_are_found() -> None:
    net = Net()
    paths = net.read(SEEDS)
    assert max(net.asked.values()) == 1
    assert [c.node_id for _, c in paths.result()] == NEAREST[:16]
    assert {peer for peer, records in paths.records.items() if records} == set(NEAREST[:16])
    assert set(paths.tokens) == set(net.asked)


def test_liars_on_the_way_divert_their_own_path_and_the_record_is_read() -> None:
    """They hold the two contacts from which one path starts, and name nobody but each other."""
    gang = frozenset({SEEDS[0], SEEDS[3], *NEAREST[100:112]})
    net = Net(gang)
    paths = net.read(SEEDS[:6])
    assert max(net.asked.values()) == 1
    assert len([peer for peer, records in paths.records.items() if records]) >= 12
    assert len({c.node_id for _, c in paths.result()} & set(NEAREST[:16])) >= 12


def test_few_seeds_or_none_end_all_the_same() -> None:
    assert Net().read([]).result() == []
    assert [c.node_id for _, c in Net().read(SEEDS[:1]).result()][:K_EACH] == NEAREST[:K_EACH]
    assert PATHS == 3
