"""Answers what other stores ask of this one: keep, give, compare, report. Bounds are the messages' own.

A record is judged before it is kept: who may bring it, what it says, and under what right. Peers are hostile until a
record proves itself. Signatures and places are checked beside the event loop where they are many.
"""

import logging
from collections.abc import Sequence

from dht import DocumentId, MachineRefuses, NodeId, Overlay, Slot, slot_of, slot_range
from store.catalog.hinted_handoff import HintedHandoff
from store.catalog.record_store import RecordStore
from store.errors import BadReplica
from store.record import messages
from store.record.denial import NO_PAGES
from store.record.package import MAX_RECORDS, open_package, pack, size_of, url_of
from store.record.package_part import PackagePart, open_parts
from store.record.range_reconciliation import FORM
from store.record.range_session import answer
from store.record.record import Kind, Record
from store.record.record_check import RecordCheck
from store.repair.peer_sync import items_between
from store.repair.replica_repair import ReplicaRepair
from store.writing.admission import Admission
from store.writing.package_sender import NOT_KEPT
from store.writing.proof_thread import ProofThread
from store.writing.ruling import Ruling
from store.writing.write_right import WriteRight

log = logging.getLogger(__name__)


class ReplicaServer:
    """Handles what other stores ask of this one; it is told to the overlay when it is made."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        proofs: ProofThread,
        check: RecordCheck,
        admission: Admission,
        repair: ReplicaRepair,
        handoff: HintedHandoff,
        right: WriteRight,
    ) -> None:
        self._store, self._clock, self._overlay, self._proofs = store, store.clock, overlay, proofs
        self._check, self._admission, self._repair, self._handoff, self._right = (
            check,
            admission,
            repair,
            handoff,
            right,
        )
        overlay.serve(messages.PutPackage, self.on_put)
        overlay.serve(messages.FetchRecords, self.on_fetch)
        overlay.serve(messages.AskVersions, self.on_versions)
        overlay.serve(messages.ReconcileStep, self.on_step)
        overlay.serve(messages.SlotReport, self.on_report)

    async def on_put(self, peer: NodeId, message: messages.PutPackage) -> messages.PutReply:
        """Keep what proves itself and belongs here; durable when this returns."""
        if peer not in self._overlay.view.members():
            raise BadReplica("package", "its sender is no member that this node has heard of; send it again later")
        size = len(message.package) + sum(map(len, message.parts))
        records, parts = await self._proofs.run(lambda: _opened(message), size)
        reasons, rulings = await self._judge(peer, message, records, size)
        good = [record for record, reason in zip(records, reasons, strict=True) if not reason]
        taken = [records[n] for n in rulings]
        if message.hinted_for:
            self._repair.left_here({self._slot(r.key) for r in good})
        try:
            await self._right.put(taken, list(rulings.values()), parts)
            await self._keep_for(tuple(map(NodeId, message.hinted_for)), good)
        except MachineRefuses:
            for slot in sorted({self._slot(r.key) for r in taken}):
                self._repair.incomplete(slot)
            reasons = [reason or NOT_KEPT for reason in reasons]
        refused = tuple(messages.RefusedRecord(n, reason[:300]) for n, reason in enumerate(reasons) if reason)
        if refused and len(refused) > sum(reason == NOT_KEPT for reason in reasons):
            log.info("records refused from=%s count=%d first=%s", peer.hex(), len(refused), refused[0].reason)
        return messages.PutReply(refused, self._astray(records, reasons))

    async def _judge(
        self, peer: NodeId, message: messages.PutPackage, records: Sequence[Record], size: int
    ) -> tuple[list[str], dict[int, Ruling]]:
        """Why each record is refused, "" where it is not, and the rulings on new ones that are taken, by their numbers.

        A record that would change nothing needs no proof: most URLs that pages name are known. A refused record counts
        against its author."""
        reasons = self._admission.objections(self._clock(), peer, records, is_hint=bool(message.hinted_for))
        news = [n for n, r in enumerate(records) if not (reasons[n] or self._store.knows(r))]
        fresh = [records[n] for n in news]
        flaws = await self._proofs.run(lambda: self._check.flaws(fresh), size)
        for n, flaw, refusal in zip(news, flaws, self._store.refusals(fresh), strict=True):
            reasons[n] = flaw.reason or refusal
            if flaw.is_authors or (refusal and not flaw.reason):
                self._check.refusals.count(records[n].proof.author, peer)
        news = [n for n in news if not reasons[n]]
        rulings = await self._right.judge(peer, [records[n] for n in news], message.grants, counts=True)
        for n, ruling in zip(news, rulings, strict=True):
            reasons[n] = ruling.reason
            if ruling.is_blamed:
                self._check.refusals.count(records[n].proof.author, peer)
        return reasons, {n: ruling for n, ruling in zip(news, rulings, strict=True) if not ruling.reason}

    async def _keep_for(self, owners: Sequence[NodeId], records: Sequence[Record]) -> None:
        """Owe the owners that a writer did not reach what it left here for them."""
        view = self._overlay.view
        for owner in owners:
            owed = [r for r in records if owner in view.owners(self._slot(r.key)) and owner != view.node_id]
            for copy in await self._handoff.keep_for(owner, owed, is_here=True, now=self._clock().wall):
                self._repair.not_kept(self._slot(copy.key), owner)

    def _astray(self, records: Sequence[Record], reasons: Sequence[str]) -> tuple[int, ...]:
        """Those that were taken and will move on, because their site lies elsewhere by now."""
        places = self._check.places
        if not places.spreads:
            return ()
        taken = [n for n, r in enumerate(records) if not reasons[n] and r.kind != Kind.HOST]
        return tuple(n for n in taken if places.key_of(url_of(records[n])) != records[n].key)

    async def on_fetch(self, peer: NodeId, message: messages.FetchRecords) -> messages.FetchReply:
        """Give what is here of the wanted records, as much as fits. A page that is not may just have been taken back,
        which the peer may not know yet."""
        is_vanishing = self._store.denial.is_vanishing(self._clock().steady)
        records: list[Record] = []
        later, unsure, size = [], [], 0
        for n, want in enumerate(message.wanted):
            if size > messages.FETCH_BYTES or len(records) >= MAX_RECORDS:
                later.append(n)
                continue
            record = self._store.find(want.kind, DocumentId(want.id), content=message.content)
            if record is None:
                if not self._repair.is_ready(want.key) or (is_vanishing and want.kind not in NO_PAGES):
                    unsure.append(n)
            elif records and size + size_of(record) > messages.FETCH_BYTES:
                later.append(n)
            else:
                records.append(record)
                size += size_of(record)
        grants = self._right.named_by(records) if message.content else ()
        return messages.FetchReply(pack(records), tuple(later), tuple(unsure), grants)

    async def on_versions(self, peer: NodeId, message: messages.AskVersions) -> messages.VersionsReply:
        """Name the versions that lie here, and where."""
        places = (self._store.find_place(want.kind, DocumentId(want.id)) for want in message.wanted)
        return messages.VersionsReply(
            tuple(messages.HeldVersion(*version, key) if version else None for version, key in places)
        )

    async def on_step(self, peer: NodeId, message: messages.ReconcileStep) -> messages.ReconcileReply:
        """Answer one message of a session; nothing is kept between them."""
        if abs(message.today - self._store.today) > 1:
            raise BadReplica(
                "reconciliation", f"day {message.today} is not today, {self._store.today} is; set the clock"
            )
        ranges = await self._store.read_ranges(
            lambda catalog: answer(items_between(catalog, message.today), message.ranges, message.salt)
        )
        return messages.ReconcileReply(FORM, ranges)

    async def on_report(self, peer: NodeId, message: messages.SlotReport) -> messages.SlotReportReply:
        """Answer what lies in slots."""
        if any(not 0 <= s < 1 << message.slot_bits for s in message.slots):
            raise BadReplica("slot report", "no such slot")
        return messages.SlotReportReply(tuple(self.state(Slot(s), message.slot_bits) for s in message.slots))

    def state(self, slot: Slot, slot_bits: int) -> messages.SlotState:
        """Return what lies in one slot here."""
        summary = self._store.summary(*slot_range(slot, slot_bits))
        ready = slot_bits == self._overlay.view.strategy.slot_bits and slot in self._repair.ready
        return messages.SlotState(slot, summary.documents, summary.visits, summary.fingerprint, ready)

    def _slot(self, key: bytes) -> Slot:
        return slot_of(key, self._overlay.view.strategy.slot_bits)


def _opened(message: messages.PutPackage) -> tuple[list[Record], list[PackagePart]]:
    """All records of a message, and the parts that some of them came in; raises BadReplica."""
    records = open_package(message.package)
    parts = open_parts(message.parts, len(records))
    return [*records, *(record for part in parts for record in part.records)], parts
