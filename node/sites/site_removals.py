"""Knows what the owners of the sites that lie here want removed, and has it hidden.

Proofs are pages (`node/sites/removal_proof.py`) that come by the store's change log. Which pages they are is noted in
the store, so that a node that starts again need not look for them.
"""

import asyncio
import logging

from dht import Clock, DocumentId
from node.sites.removal_proof import Removal, proved
from store import PROOF_PATH, Kind, RecordStore, decode_document, url_of

log = logging.getLogger(__name__)
BATCH = 512
LOOK_EVERY_S = 1.0
MAX_PROOFS = 4096  # further ones are not followed; those of one site lie with few nodes
ID_BYTES = 20
NOTE = "removals"


class SiteRemovals:
    """Keeps the denials of a store true to the proofs that lie there."""

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._proofs: dict[DocumentId, Removal] = {}
        noted = store.tables.read_note(NOTE)
        for start in range(0, len(noted), ID_BYTES):
            self._look_at(DocumentId(noted[start : start + ID_BYTES]))
        self._sequence = store.log.sequence
        self._tell()

    @property
    def is_any(self) -> bool:
        """Whether the owner of any site that lies here removes anything."""
        return bool(self._proofs)

    async def run(self) -> None:
        """Follow the change log until cancelled."""
        while True:
            before = dict(self._proofs)
            is_behind = self._follow()
            if self._proofs != before:
                self._tell()
                await self._store.tables.write_note(NOTE, b"".join(self._proofs))
            await asyncio.sleep(0 if is_behind else LOOK_EVERY_S)

    def _follow(self) -> bool:
        """Take in a batch of changes; return whether there may be more."""
        newest = self._store.log.sequence
        if newest == self._sequence:
            return False
        changes = self._store.log.changes(self._sequence, BATCH)
        for change in changes:
            if change.kind == Kind.DOCUMENT:
                self._look_at(change.id)
        last = changes[-1].sequence if changes else 0
        self._sequence = last if len(changes) == BATCH else max(newest, last)
        return len(changes) == BATCH

    def _look_at(self, id: DocumentId) -> None:
        record = self._store.find(Kind.DOCUMENT, id, content=False, proven=False)
        removal = None
        if record is not None and PROOF_PATH in url_of(record):
            removal = proved(decode_document(record.body))
        if removal is None:
            self._proofs.pop(id, None)
        elif id in self._proofs or len(self._proofs) < MAX_PROOFS:
            self._proofs[id] = removal

    def _tell(self) -> None:
        sites: dict[str, set[str]] = {}
        for site, prefix in self._proofs.values():
            sites.setdefault(site, set()).add(prefix)
        removed = {site: tuple(sorted(prefixes)) for site, prefixes in sites.items()}
        self._store.denial.remove(removed, self._clock().steady)
        log.info("removals by sites' owners sites=%d", len(removed))
