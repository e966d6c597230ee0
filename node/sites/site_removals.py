"""Knows what the owners of the sites that lie here want removed, and has it hidden.

Proofs are pages (`node/sites/removal_proof.py`) that come by the store's change log. Which pages they are is noted in
the store, so that a node that starts again need not look for them.
"""

import logging

from dht import Clock, DocumentId, MachineRefuses
from node.crawling.change_follower import ChangedRecord
from node.sites.removal_proof import Removal, proved
from store import PROOF_PATH, Document, Kind, RecordStore, decode_document

log = logging.getLogger(__name__)
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
            id = DocumentId(noted[start : start + ID_BYTES])
            record = store.find(Kind.DOCUMENT, id, content=False, proven=False)
            self._take(id, decode_document(record.body) if record is not None else None)
        self._is_told = self._is_noted = True
        self._tell()

    @property
    def is_any(self) -> bool:
        """Whether the owner of any site that lies here removes anything."""
        return bool(self._proofs)

    def hear(self, changed: ChangedRecord) -> None:
        """Take in a change of the store."""
        if changed.kind == Kind.DOCUMENT:
            self._take(changed.id, changed.document if PROOF_PATH in changed.url else None)

    async def tend(self) -> bool:
        """Have hidden what is removed by now, and note the proofs; there is never more to do at once."""
        if not self._is_told:
            self._is_told = True
            self._tell()
        if not self._is_noted:
            try:
                await self._store.tables.write_note(NOTE, b"".join(self._proofs))
                self._is_noted = True
            except MachineRefuses as error:  # the store shows it; noted later
                log.debug("removals not noted reason=%s", error)
        return False

    def _take(self, id: DocumentId, document: Document | None) -> None:
        removal, before = proved(document) if document is not None else None, self._proofs.get(id)
        if removal == before:
            return
        if removal is None:
            del self._proofs[id]
        elif before is not None or len(self._proofs) < MAX_PROOFS:
            self._proofs[id] = removal
        else:
            return
        self._is_told = self._is_noted = False

    def _tell(self) -> None:
        sites: dict[str, set[str]] = {}
        for site, prefix in self._proofs.values():
            sites.setdefault(site, set()).add(prefix)
        removed = {site: tuple(sorted(prefixes)) for site, prefixes in sites.items()}
        self._store.denial.remove(removed, self._clock().steady)
        log.info("removals by sites' owners sites=%d", len(removed))
