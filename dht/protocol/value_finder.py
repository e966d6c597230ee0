"""The value finder looks up nodes, and puts and gets small records at points of the key space.

Pure: `now` is an argument. A record goes to the 16 nodes nearest to its key that answered the lookup. A reader merges
their records, and sends the newest to nodes that had less.

Keeps the tables of a node useful: far buckets are filled by lookups, small records are stored where they belong.

Pure: `now` and `rng` are arguments.
"""

from collections import Counter
from collections.abc import Callable, Collection
from itertools import chain, islice
from random import Random

from dht.clock import Now
from dht.errors import RemoteError
from dht.identity.node_key import Identity
from dht.keys import Key, NodeId
from dht.membership.member_table import MemberTable
from dht.membership.working_families import WorkingFamilies
from dht.protocol.network_rules import NetworkRules
from dht.protocol.requester import Requester
from dht.routing.lookup_run import K_EACH, DisjointPaths, LookupAsker, LookupRun
from dht.routing.routing_table import K, RoutingTable
from dht.wire.contact import Contact
from dht.wire.packets import Body, Packet, Put, Stored
from dht.wire.value_record import ValueRecord, ValueStore, open_record, sign_record


class ValueFinder:
    """Finds nodes and records for one node."""

    def __init__(
        self,
        identity: Identity,
        rules: NetworkRules,
        requester: Requester,
        routing: RoutingTable,
        store: ValueStore,
        members: MemberTable,
        families: WorkingFamilies,
        notice: Callable[[Now, list[tuple[bytes, Contact]]], None],
    ) -> None:
        """`notice` is given the contacts of each answer."""
        self._identity = identity
        self._rules = rules
        self._requester = requester
        self._routing = routing
        self._store = store
        self._members = members
        self._asker = LookupAsker(identity.node_id, requester.ask, families, lambda: rules.policy, self._signed, notice)
        self.hops: Counter[int] = Counter()  # lookups that ended, by how many questions in a row led to the nearest

    def find(self, now: Now, target: bytes, done: Callable[[Now, list[Contact]], None]) -> None:
        """Find the 16 nodes nearest to a point; `done` gets them nearest first, none where nobody answers."""
        self._look_up(now, target, lambda at, run: done(at, [c for _, c in run.result()]))

    def put(self, now: Now, record: bytes, done: Callable[[Now, int], None]) -> None:
        """Store a signed record; `done` gets how many nodes have it. Raises RemoteError where it is none."""
        opened = open_record(record, now, self._rules.network)
        kept = int(self._store.put(opened, record, now.steady))

        def found(at: Now, run: LookupRun) -> None:
            self._put_to(at, record, run.result(), run.tokens, lambda then, count: done(then, count + kept))

        self._look_up(now, opened.key, found)

    def write(self, now: Now, key: Key, value: bytes, life_s: float, done: Callable[[Now, int], None]) -> None:
        """Sign a small record of this node and store it; `done` gets how many nodes have it."""
        network, sequence, expires_at = self._rules.network, int(now.wall), now.wall + life_s
        record = sign_record(self._identity, network, key=key, sequence=sequence, expires_at=expires_at, value=value)
        self.put(now, record, done)

    def restore(self, now: Now) -> None:
        """Store one of the records that lie here again where it belongs now, if it is time for any."""
        record = self._store.due(now)
        if record is not None:
            self.put(now, record, lambda _now, _count: None)

    def get(self, now: Now, key: Key, done: Callable[[Now, list[ValueRecord]], None], skip: int = 0) -> None:
        """Read the newest valid record of each author at a point, but for the first `skip`, as many as fit into an
        answer; `done` gets them by author. Repairs nodes that had older ones."""

        def path(claim: Callable[[NodeId], bool], ended: Callable[[Now, LookupRun], None]) -> LookupRun:
            return self._made(key, ended, skip=skip, claim=claim, k=K_EACH)

        paths = DisjointPaths(key, path, lambda at, found: done(at, self._merge(at, key, found, skip)))
        paths.start(now, self._seeds(key))

    def _look_up(self, now: Now, target: bytes, done: Callable[[Now, LookupRun], None]) -> None:
        self._made(target, done).start(now, self._seeds(target))

    def _made(
        self,
        target: bytes,
        done: Callable[[Now, LookupRun], None],
        *,
        skip: int | None = None,
        claim: Callable[[NodeId], bool] = lambda peer: True,
        k: int = K,
    ) -> LookupRun:
        def ended(at: Now, run: LookupRun) -> None:
            self.hops[run.hops] += 1
            done(at, run)

        return LookupRun(self._asker, target, ended, skip=skip, claim=claim, k=k)

    def _signed(self, peer: NodeId) -> Contact | None:
        known = self._members.find(peer)
        return known.opened.contact if known else None

    def _seeds(self, target: bytes) -> list[tuple[bytes, Contact]]:
        seeds = self._routing.closest(target, K) or list(self._routing.entries())[:K]
        return [(e.public_key, e.contact) for e in seeds]

    def _put_to(
        self,
        now: Now,
        record: bytes,
        peers: list[tuple[bytes, Contact]],
        tokens: dict[NodeId, bytes],
        done: Callable[[Now, int], None],
    ) -> None:
        """PUT to the peers that gave us a token; `done` gets how many took it."""
        asked = [(key, c) for key, c in peers if c.node_id in tokens]
        answers: list[bool] = []

        def heard(at: Now, _packet: Packet | None, body: Body | None) -> None:
            answers.append(isinstance(body, Stored) and body.ok)
            if len(answers) == len(asked):
                done(at, sum(answers))

        for public_key, contact in asked:
            self._requester.ask(now, Put(tokens[contact.node_id], record), public_key, contact, heard)
        if not asked:
            done(now, 0)

    def _merge(self, now: Now, key: Key, paths: DisjointPaths, skip: int) -> list[ValueRecord]:
        newest: dict[bytes, tuple[ValueRecord, bytes]] = {}
        lies_here = islice(self._store.at(key, now), skip, None)
        for raw in [*lies_here, *chain.from_iterable(paths.records.values())]:
            try:
                record = open_record(raw, now, self._rules.network)
            except RemoteError:
                self._requester.refused["record"] += 1
                continue
            old = newest.get(record.public_key)
            if record.key == key and (old is None or old[0].sequence < record.sequence):
                newest[record.public_key] = record, raw
        for _, raw in newest.values() if not skip else ():
            stale = [(k, c) for k, c in paths.result() if raw not in paths.records.get(c.node_id, (raw,))]
            self._put_to(now, raw, stale, paths.tokens, lambda _now, _count: None)
        return [newest[author][0] for author in sorted(newest)]


RESTORE_S = 900.0  # to twice that: until a small record that lies here is stored again where it belongs
RESTORE_EACH_S = 5.0  # between two of them: a full store costs some 15 packets a second at most
WELCOMED_S = 1.0  # after first contact, until the own neighbourhood is looked up


class TableUpkeep:
    """Refreshes the tables of one node by its finder, which is there before the first `poll`; `refresh_s`: about the
    time between two lookups. `joined_on`: the day since which a node is a member, None where it is none."""

    def __init__(
        self,
        node_id: NodeId,
        stored_records: int,
        refresh_s: float,
        rng: Random,
        joined_on: Callable[[NodeId], int | None],
        evidence_points: Collection[bytes],
    ) -> None:
        self._node_id, self._refresh_s, self._rng = node_id, refresh_s, rng
        rest_s = lambda: RESTORE_S * rng.uniform(1.0, 2.0)  # noqa: E731
        self.store = ValueStore(node_id, stored_records, rest_s, joined_on, evidence_points)
        self._restore_at = float("-inf")
        self.next_due = float("-inf")

    def poll(self, now: Now, finder: ValueFinder) -> None:
        """Look up this node's own neighbourhood or a random point, and store records again, as is due."""
        if now.steady >= self.next_due:
            self.next_due = now.steady + self._refresh_s * self._rng.uniform(0.75, 1.25)
            self.store.expire(now)
            target = self._node_id if self._rng.random() < 0.5 else self._rng.randbytes(len(self._node_id))
            finder.find(now, target, lambda _now, _contacts: None)
        if now.steady >= self._restore_at:
            self._restore_at = now.steady + RESTORE_EACH_S
            finder.restore(now)

    def welcomed(self, now: Now) -> None:
        """Look around soon: first contact was made."""
        self.next_due = min(self.next_due, now.steady + WELCOMED_S)
