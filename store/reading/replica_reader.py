"""Reading records wherever they lie: here if this node is ready for the slot, else from ready replicas in turn.

Everything from a peer is checked by its own proof before it is believed. A replica that stays silent for a moment is
hedged with the next one, and asked last for a while; so is who was refuted. Where one ready replica lacks a record, the
next one is asked: nothing proves that a record does not exist.

Reads are checked after the reader has its records: a record proves itself, but not that it is the newest. Only versions
are compared, which costs little. Where another peer has other versions, a third is asked. A peer that alone lacks what
two have had for long is avoided. A peer that alone has a newer version must prove that its author might write it:
readers do not ask for that.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf

from dht import DocumentId, Key, NodeId, Overlay, PeerAudit, RemoteError, Topic, slot_of
from store.catalog.record_store import RecordStore
from store.config import StoreConfig
from store.errors import BadReplica
from store.record.messages import MAX_WANTED, AskVersions, FetchRecords, FetchReply, VersionsReply, Wanted
from store.record.record import Kind, Record, ShortVersion
from store.repair.peer_sync import PeerSync

MAX_NAMES = 32  # of one answer
YOUNG_S = 60.0  # what was written later than so long ago may be on its way

Versions = Mapping[Wanted, ShortVersion | None]
Flaw = Callable[[NodeId, Wanted], Awaitable[str]]


class RecordAudit:
    """Asks others for the versions of what peers gave, or said they do not have."""

    def __init__(self, audit: PeerAudit, overlay: Overlay, config: StoreConfig, flaw: Flaw) -> None:
        """`flaw` says why the record that a peer gives is one that its author had no right to write, "" where it may
        have had."""
        self._audit, self._overlay, self._config, self._flaw = audit, overlay, config, flaw

    def offer(self, peer: NodeId, given: Versions) -> None:
        """Take in what a peer gave, None for what it does not have, where there is room."""
        self._audit.checks.offer(Topic.RECORDS, partial(self._confirm, peer, dict(list(given.items())[:MAX_NAMES])))

    async def _confirm(self, peer: NodeId, given: Versions) -> None:
        if self._audit.is_avoided(peer):
            return
        said = {want: {peer: version} for want, version in given.items()}
        await self._ask(said)
        unlike = {want: each for want, each in said.items() if len(set(each.values())) > 1}
        if unlike:
            await self._ask(unlike)
        elif any(len(each) > 1 for each in said.values()):
            self._audit.agreed(peer, Topic.RECORDS)
        for want, each in unlike.items():
            await self._judge(want, each)

    async def _judge(self, want: Wanted, said: Mapping[NodeId, ShortVersion | None]) -> None:
        if alone := self._who_lacks(said):
            against = [other for other in said if other != alone]
            reason = f"that there is no newer record of {want.id.hex()}"
            self._audit.refute(alone, Topic.RECORDS, reason, against, is_behind=True)
        elif (alone := _who_has_more(said)) and not self._audit.is_avoided(alone):
            try:
                flaw = await self._flaw(alone, want)
            except RemoteError:
                return
            if flaw:
                against = [other for other in said if other != alone]
                self._audit.refute(alone, Topic.RECORDS, f"record {want.id.hex()}: {flaw}", against)

    def _who_lacks(self, said: Mapping[NodeId, ShortVersion | None]) -> NodeId | None:
        """Return the one peer of at least three whose version is missing or older than the version of each other; None
        where there is no such peer. The oldest version of the others must have been written YOUNG_S ago, under a lease:
        without a lease a version does not show when it was written.

        `said`: the newest version of one record at each peer, None where the peer has none."""
        for peer, version in said.items():
            others = [each for other, each in said.items() if other != peer]
            if len(others) < 2 or any(each is None or (version is not None and each <= version) for each in others):
                continue
            oldest = min(each for each in others if each is not None)
            if oldest.epoch and oldest.at_ms / 1000 < self._audit.wall - YOUNG_S:
                return peer
        return None

    async def _ask(self, said: Mapping[Wanted, dict[NodeId, ShortVersion | None]]) -> None:
        """Ask one more ready replica of each, and note what it says."""
        parts: dict[NodeId, list[Wanted]] = {}
        for want, heard in said.items():
            if peer := next(iter(self._others(want, heard)), None):
                parts.setdefault(peer, []).append(want)
        for peer, wants in parts.items():
            try:
                asked = AskVersions(tuple(wants))
                reply = await self._overlay.ask(peer, asked, VersionsReply, timeout_s=self._config.read_timeout_s)
            except RemoteError:
                continue
            for want, held in zip(wants, reply.versions, strict=False):
                said[want][peer] = None if held is None else ShortVersion(held.epoch, held.at_ms, held.digest)

    def _others(self, want: Wanted, heard: Iterable[NodeId]) -> list[NodeId]:
        view, without = self._overlay.view, {*heard, self._overlay.view.node_id, *self._audit.refuted()}
        return [peer for peer in view.ready(slot_of(want.key, view.strategy.slot_bits)) if peer not in without]


def _who_has_more(said: Mapping[NodeId, ShortVersion | None]) -> NodeId | None:
    """Return who alone of three has a version, or a newer one."""
    for peer, version in said.items():
        others = [each for other, each in said.items() if other != peer]
        if len(others) > 1 and version is not None and all(each is None or each < version for each in others):
            return peer
    return None


log = logging.getLogger(__name__)
Name = tuple[Kind, DocumentId]
Records = Mapping[Name, Record]
Wants = Sequence[tuple[Kind, DocumentId, Key]]  # what to read: the key says where it lies
_ROUNDS = 4  # replicas tried for one record
NOT_THERE = 2  # replicas have to say so


@dataclass(slots=True)
class _Sought:
    """A record that is sought. `sources`: whom to ask next; `lacking`: who answered for it and does not have it."""

    want: Wanted
    sources: list[NodeId]
    lacking: list[NodeId] = field(default_factory=list)


class ReplicaReader:
    """Reads records for the rest of the node: every read of a record that may lie elsewhere comes through here."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        rng: random.Random,
        is_ready: Callable[[bytes], bool],
        sync: PeerSync,
        audit: PeerAudit,
    ) -> None:
        """`is_ready(key)`: whether this node answers for the slot of a key by itself."""
        self._sync, self._late, self._times, self._audit = sync, overlay.late, overlay.times, audit
        self.record_audit = RecordAudit(audit, overlay, store.config, sync.write_flaw)
        self._config, self._store = store.config, store
        self._overlay, self._rng, self._is_ready = overlay, rng, is_ready

    async def read_sure(self, wanted: Wants, *, content: bool = False) -> tuple[Records, frozenset[Name]]:
        """Return those of many records that exist, and the names of those whose existence nobody ready told."""
        found: dict[Name, Record] = {}
        open_: dict[Name, _Sought] = {}
        turns = dict[NodeId, int]()  # the same for all records of a read, so that few peers are asked for many
        here = [self._store.find(kind, id, content=content) for kind, id, _ in wanted]  # what is damaged shows by this
        keys = dict.fromkeys(key for _, _, key in wanted)  # a page and its visit have one, and are asked of the same
        elsewhere = {key: self._sources(key, turns) for key in keys if not self._is_ready(key)}
        for (kind, id, key), record in zip(wanted, here, strict=True):
            if record is not None:
                found[kind, id] = record  # better than nothing should nobody answer
            if key in elsewhere:
                open_[kind, id] = _Sought(Wanted(kind, id, key), [*elsewhere[key]])
        if open_:
            await self._ask_around(open_, found, content)
        return found, frozenset(open_)

    async def _ask_around(self, open_: dict[Name, _Sought], found: dict[Name, Record], content: bool) -> None:
        """Ask the first source of each, after a moment the next of what is still open, and so on: late ones last."""
        all_sought, refuted = dict(open_), self._audit.refuted()
        async with asyncio.TaskGroup() as tasks:
            asking: dict[asyncio.Task[None], NodeId] = {}
            for _ in range(_ROUNDS):
                parts: dict[NodeId, list[Wanted]] = {}
                for sought in open_.values():
                    sought.sources.sort(
                        key=lambda peer: (self._late.is_late(peer), peer in refuted, self._times.slowness(peer))
                    )
                    if sought.sources:  # some were found late in the turn before
                        parts.setdefault(sought.sources.pop(0), []).append(sought.want)
                for peer, wants in parts.items():
                    for start in range(0, len(wants), MAX_WANTED):
                        part = wants[start : start + MAX_WANTED]
                        asking[tasks.create_task(self._ask(peer, part, content, open_, found), name="store-read")] = (
                            peer
                        )
                await _settled(asking, open_, self._config.hedge_after_s)
                if not asking or not open_:
                    break
                self._late.note_late(peer for task, peer in asking.items() if not task.done())
                for name in [name for name, sought in open_.items() if self._is_told(sought)]:
                    del open_[name]
            is_told = all(sought.lacking for sought in open_.values())
            await _settled(asking, open_, self._config.hedge_after_s if is_told else inf)
            for task in asking:
                task.cancel()
        for name, sought in all_sought.items():
            if sought.lacking:
                open_.pop(name, None)
                self._note_lacking(sought, name in found)

    def _note_lacking(self, sought: _Sought, is_found: bool) -> None:
        """Have others asked about a replica that does not have what there is."""
        if is_found:
            for peer in sought.lacking:
                self.record_audit.offer(peer, {sought.want: None})

    async def _ask(
        self,
        peer: NodeId,
        wants: Sequence[Wanted],
        content: bool,
        open_: dict[Name, _Sought],
        found: dict[Name, Record],
    ) -> None:
        """Ask one peer until it has nothing left to send; whatever it settles leaves `open_`."""
        given: dict[Wanted, ShortVersion | None] = {}
        try:
            while wants:
                message = FetchRecords(tuple(wants), content)
                reply = await self._overlay.ask(peer, message, FetchReply, timeout_s=self._config.read_timeout_s)
                for record in await self._sync.prove(peer, reply, wants, content=content):
                    name = (record.kind, record.id)
                    if name not in found or record.version >= found[name].version:
                        found[name] = record
                    open_.pop(name, None)
                    given[Wanted(record.kind, record.id, record.key)] = record.version.short
                pending = set(reply.later) | set(reply.unsure)
                for want in (want for n, want in enumerate(wants) if n not in pending and want not in given):
                    given[want] = None
                    self._lacks(peer, want, open_)
                later = [wants[n] for n in sorted(set(reply.later)) if 0 <= n < len(wants)]
                wants = later if len(later) < len(wants) else []
        except RemoteError as error:
            log.info("replica not read peer=%s records=%d reason=%s", peer.hex(), len(wants), error)
            if isinstance(error, BadReplica):  # what it gives does not prove itself
                self._audit.refute(peer, Topic.RECORDS, str(error))
        if given and self._audit.is_due(peer, Topic.RECORDS):
            self.record_audit.offer(peer, given)

    def _lacks(self, peer: NodeId, want: Wanted, open_: dict[Name, _Sought]) -> None:
        """Note that a peer does not have a record, which is not there where enough say so."""
        name = want.kind, DocumentId(want.id)
        if sought := open_.get(name):
            sought.lacking.append(peer)
            if self._is_told(sought):
                del open_[name]

    def _is_told(self, sought: _Sought) -> bool:
        """Whether enough say that a record is not there: two, or one where everybody else is late."""
        is_last = all(self._late.is_late(peer) for peer in sought.sources)
        return len(sought.lacking) >= (1 if is_last else NOT_THERE)

    def _sources(self, key: bytes, turns: dict[NodeId, int]) -> list[NodeId]:
        """Return the peers to ask for a key, in order: ready replicas by their turns, those behind relays last, then
        live owners."""
        view = self._overlay.view
        slot = slot_of(key, view.strategy.slot_bits)
        ready = [p for p in view.ready(slot) if p != view.node_id]
        self._rng.shuffle(ready)
        for peer in ready:
            turns.setdefault(peer, len(turns))
        ready.sort(key=lambda peer: (not self._overlay.is_direct(peer), turns[peer]))
        return ready + [p for p in view.live_owners(slot) if p != view.node_id and p not in ready]


async def _settled(asking: Collection[asyncio.Task[None]], open_: Collection[Name], most_s: float = inf) -> None:
    """Wait until nothing is open, all have answered, or the time is over."""
    ends = asyncio.get_running_loop().time() + most_s
    while open_ and (left := [task for task in asking if not task.done()]):
        rest_s = ends - asyncio.get_running_loop().time()
        if rest_s <= 0:
            return
        await asyncio.wait(left, timeout=rest_s if rest_s < inf else None, return_when=asyncio.FIRST_COMPLETED)
