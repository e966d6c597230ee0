"""Gives one peer its part of a package, or keeps it where the peer is this node itself, and says what was not taken.

The sender remembers how long each peer takes to store a package, and which grants it was sent. The times say when a
peer that has not answered is late, and how long to gather the next package (source of the estimate: RFC 6298, section
2). A holder writes under one grant for minutes, so each peer is sent it once. A peer that refuses anything is sent all
grants again; one that lost them lacks them for one answer.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence, Set

from dht import MachineRefuses, NodeId, Overlay, RemoteError, SignedGrant, SiteShards, Slot, remember, site_of, slot_of
from store.catalog.record_store import RecordStore
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, url_of
from store.record.package_part import PackagePart, whole_parts
from store.record.record import Record
from store.writing.admission import is_import
from store.writing.ruling import Ruling
from store.writing.write_right import WriteRight

# below the 5 s after which a put fails; peers that are always slow are no reason to copy more
LEAST_S, MOST_S = 0.3, 4.0
UNKNOWN_S = 0.5
OUTLIER = 2  # times the patience before, so much of one time counts: a peer that slept amid a put is not slow
MOST_PEERS = 1024  # peers; the one heard of first gives way
LONGEST_GATHERING_S = 1.0  # a crawl's links wait twice on the way to who fetches them: here, and in the feed


class PutTimes:
    """Remembers how long each peer took, as a smoothed time and how far it varies."""

    def __init__(self) -> None:
        self._seen: dict[NodeId, tuple[float, float]] = {}

    def note(self, peer: NodeId, took_s: float) -> None:
        """Take note that a peer answered after so long."""
        took_s = min(took_s, OUTLIER * self.patience_s([peer]) if peer in self._seen else UNKNOWN_S)
        mean, spread = self._seen.pop(peer, (took_s, took_s / 2))
        spread += (abs(took_s - mean) - spread) / 4
        self._seen[peer] = mean + (took_s - mean) / 8, spread
        if len(self._seen) > MOST_PEERS:
            del self._seen[next(iter(self._seen))]

    def patience_s(self, peers: Iterable[NodeId]) -> float:
        """Return after how many seconds without an answer the slowest of some peers is late."""
        usual = [mean + 4 * spread for mean, spread in (self._seen.get(peer, (UNKNOWN_S, 0.0)) for peer in peers)]
        return min(max([LEAST_S, *usual]), MOST_S)


def gathering_s(flush_after_s: float, peers: int) -> float:
    """Return the seconds from one package to the next that is not full, where the last one went to so many peers."""
    return min(flush_after_s * max(1, peers), max(flush_after_s, LONGEST_GATHERING_S))


MOST_SENT = 16_384  # pairs of a peer and a grant


class SentGrants:
    """Remembers which grants this node sent to which peers."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[NodeId, SignedGrant], None] = OrderedDict()

    def lacking(self, peer: NodeId, grants: Iterable[SignedGrant]) -> tuple[SignedGrant, ...]:
        """Return those of some grants that a peer may not have."""
        return tuple(grant for grant in grants if (peer, grant) not in self._known)

    def note(self, peer: NodeId, grants: Iterable[SignedGrant]) -> None:
        """Take note that a peer took all records that came with these grants."""
        for grant in grants:
            self._known[peer, grant] = None
            self._known.move_to_end((peer, grant))
        while len(self._known) > MOST_SENT:
            self._known.popitem(last=False)

    def forget(self, peer: NodeId) -> None:
        """Take note that a peer refused something."""
        for pair in [pair for pair in self._known if pair[0] == peer]:
            del self._known[pair]


log = logging.getLogger(__name__)
NOT_KEPT = "not ready: the disk takes nothing"  # says a peer whose disk is full, or fails
MOST_NAMED = 256  # peers that are remembered
Refused = dict[int, str]  # why each record that a peer did not take was not, by its number; "" unknown


class PackageSender:
    """Sends, and remembers of each peer how long it takes and which grants it has."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        right: WriteRight,
        places: SiteShards,
        refused: Callable[[Slot, NodeId], None],
        left_here: Callable[[Set[Slot]], None],
    ) -> None:
        """`refused(slot, peer)` is called for a slot of which this node could not keep a copy, `left_here(slots)` for
        slots of others whose copies it keeps for them. `places` learns of sites that lie elsewhere by the word of
        owners."""
        self._store, self._config, self._clock = store, store.config, store.clock
        self._overlay, self._right, self._places = overlay, right, places
        self._refused, self._left_here = refused, left_here
        self._times, self._sent = PutTimes(), SentGrants()
        self.took_nothing: dict[NodeId, float] = {}  # by peer: when (Unix seconds) its disk last took nothing

    def patience_s(self, peers: Iterable[NodeId]) -> float:
        """Return after how many seconds without an answer the slowest of some peers is late."""
        return self._times.patience_s(peers)

    async def send(
        self,
        peer: NodeId,
        records: list[Record],
        grants: Sequence[SignedGrant | None],
        lacking: tuple[NodeId, ...],
        packed: Sequence[PackagePart],
    ) -> Refused:
        """Give records to a peer, each with the grant that it is written under, and return those that it did not take.

        `lacking`: the owners for whom the peer only keeps them. Whole parts of `packed` travel as they are."""
        parts, began = whole_parts(packed, records), self._clock().steady
        if peer == self._overlay.view.node_id:
            refused = await self._keep(records, grants, lacking, parts)
        else:
            named = tuple(dict.fromkeys(grant for grant in grants if grant is not None))
            refused = await self._ask(peer, records, lacking, named, parts)
        if refused:
            self._right.budgets.note_refusals(peer, refused.values())
            if NOT_KEPT in refused.values():
                remember(self.took_nothing, peer, self._clock().wall, MOST_NAMED)
        if len(refused) < len(records):
            self._times.note(peer, self._clock().steady - began)
        return refused

    async def _keep(
        self,
        records: list[Record],
        grants: Sequence[SignedGrant | None],
        lacking: tuple[NodeId, ...],
        parts: list[PackagePart],
    ) -> Refused:
        rulings = [
            self._right.own_ruling(record)
            if is_import(record) and not self._store.knows(record)
            else Ruling(grant=grant)
            for record, grant in zip(records, grants, strict=True)
        ]
        if lacking:
            self._left_here({slot_of(r.key, self._slot_bits) for r in records})
        try:
            kept = [(r, ruling) for r, ruling in zip(records, rulings, strict=True) if not ruling.reason]
            await self._right.put([record for record, _ in kept], [ruling for _, ruling in kept], parts)
        except MachineRefuses:
            for slot in sorted({slot_of(r.key, self._slot_bits) for r in records}):
                self._refused(slot, self._overlay.view.node_id)
            return dict.fromkeys(range(len(records)), "")
        reasons = zip(rulings, self._store.refusals(records), strict=True)
        return {n: reason for n, pair in enumerate(reasons) if (reason := pair[0].reason or pair[1])}

    async def _ask(
        self,
        peer: NodeId,
        records: list[Record],
        lacking: tuple[NodeId, ...],
        grants: tuple[SignedGrant, ...],
        parts: list[PackagePart],
    ) -> Refused:
        """Send records to a peer, those of `parts` as these were packed. Return the records that it did not take; all
        of them where it does not answer."""
        inside = [record for part in parts for record in part.records]
        names = {id(record): n for n, record in enumerate(records)}
        in_parts = [names[id(record)] for record in inside]
        order = [*sorted({*range(len(records))} - {*in_parts}), *in_parts]  # as the peer numbers them
        beside = [records[n] for n in order[: len(records) - len(inside)]]
        new_grants = self._sent.lacking(peer, grants)
        message = PutPackage(pack(beside), lacking, new_grants, tuple(part.data for part in parts))
        try:
            reply = await self._overlay.ask(peer, message, PutReply, timeout_s=self._config.put_timeout_s)
        except RemoteError as error:
            log.debug("package not delivered peer=%s records=%d reason=%s", peer.hex(), len(records), error)
            return dict.fromkeys(range(len(records)), "")
        self._wonder([records[n] for n in order], reply.astray)
        if reply.refused:
            self._sent.forget(peer)
        else:
            self._sent.note(peer, grants)
        return {order[r.index]: r.reason for r in reply.refused if r.index < len(order)}

    def _wonder(self, records: list[Record], astray: Sequence[int]) -> None:
        """Read the records of sites that an owner knows to be spread, and write to their places from now on."""
        for url in {url_of(records[n]) for n in astray if 0 <= n < len(records)}:
            self._places.hosts.doubt(site_of(url))

    @property
    def _slot_bits(self) -> int:
        return self._overlay.view.strategy.slot_bits
