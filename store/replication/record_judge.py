"""Judges what a peer brings before any of it is written: who may bring it, what it says, and under what right.

Peers are hostile until a record proves itself. `Admission` decides which peers may write, and signatures and places are
checked beside the event loop where they are many.
"""

from collections.abc import Sequence
from typing import NamedTuple

from dht import NodeId
from store.catalog.record_store import RecordStore
from store.record.messages import PutPackage
from store.record.package import open_package
from store.record.package_part import PackagePart, open_parts
from store.record.record import Record
from store.record.record_check import RecordCheck, RefusalCounts
from store.writing.admission import Admission
from store.writing.proof_thread import ProofThread
from store.writing.write_right import Ruling, WriteRight


class Judgement(NamedTuple):
    """Says why each record is refused, "" where it is not, and which new ones are taken, each with its ruling."""

    reasons: list[str]
    taken: list[tuple[Record, Ruling]]


class RecordJudge:
    """Opens and judges messages for one node, and counts what it refuses against its author."""

    def __init__(
        self,
        store: RecordStore,
        proofs: ProofThread,
        check: RecordCheck,
        admission: Admission,
        refusals: RefusalCounts,
        right: WriteRight,
    ) -> None:
        self._store, self._proofs, self._check, self._admission = store, proofs, check, admission
        self._refusals, self._right, self._clock = refusals, right, store.clock

    async def open(self, message: PutPackage) -> tuple[list[Record], list[PackagePart]]:
        """Return all records of a message, and the parts that some of them came in. Raises BadReplica."""
        return await self._proofs.run(lambda: _opened(message), _size(message))

    async def judge(self, peer: NodeId, message: PutPackage, records: Sequence[Record]) -> Judgement:
        """Judge the records of a message. What would change nothing need not prove itself: of the URLs that pages
        name most are known."""
        size = _size(message)
        reasons = self._admission.objections(self._clock(), peer, records, is_hint=bool(message.hinted_for))
        news = [n for n, r in enumerate(records) if not (reasons[n] or self._store.knows(r))]
        fresh = [records[n] for n in news]
        flaws = await self._proofs.run(lambda: self._check.flaws(fresh), size)
        for n, flaw, refusal in zip(news, flaws, self._store.refusals(fresh), strict=True):
            reasons[n] = flaw.reason or refusal
            if flaw.is_authors or (refusal and not flaw.reason):
                self._refusals.count(records[n].proof.author, peer)
        news = [n for n in news if not reasons[n]]
        rulings = await self._right.judge(peer, [records[n] for n in news], message.grants, counts=True)
        for n, ruling in zip(news, rulings, strict=True):
            reasons[n] = ruling.reason
            if ruling.is_blamed:
                self._refusals.count(records[n].proof.author, peer)
        return Judgement(
            reasons, [(records[n], ruling) for n, ruling in zip(news, rulings, strict=True) if not reasons[n]]
        )


def _size(message: PutPackage) -> int:
    return len(message.package) + sum(map(len, message.parts))


def _opened(message: PutPackage) -> tuple[list[Record], list[PackagePart]]:
    records = open_package(message.package)
    parts = open_parts(message.parts, len(records))
    return [*records, *(record for part in parts for record in part.records)], parts
