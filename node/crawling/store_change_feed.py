"""Gives the store's change log to the index.

A cursor is the store's incarnation and a sequence number; one of another incarnation is not known.
"""

from collections.abc import Sequence

from index import DocumentChange, Text
from node.crawling.record_rules import RecordRules
from store import Document, Kind, Record, RecordChange, RecordCheck, RecordStore, decode_document

CHECK = RecordCheck(RecordRules())


class StoreChangeFeed:
    """The index's `ChangeFeed`, read from a record store."""

    def __init__(self, store: RecordStore) -> None:
        self._store, self._log = store, store.log

    def knows(self, cursor: bytes) -> bool:
        """Tell whether nothing that the log has forgotten came after this cursor."""
        if not cursor:
            return True
        return cursor[:16] == self._log.incarnation and self.sequence(cursor) >= self._log.horizon

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        """Return up to `limit` changes of documents after the cursor, and the next cursor."""
        changed = self._log.changes(self.sequence(cursor), limit)
        if not changed:
            return [], cursor
        documents = [self._read(change) for change in changed if change.kind == Kind.DOCUMENT]
        return documents, self._cursor(changed[-1].sequence)

    def _read(self, change: RecordChange) -> DocumentChange:
        record = None if change.removed else self._store.find(change.kind, change.id, content=False)
        return DocumentChange(change.id, text_of(record), record.version.at_ms / 1000 if record else 0.0)

    def lag(self, cursor: bytes) -> int:
        """Return how many changes there are after the cursor, of any kind."""
        return self._log.sequence - self.sequence(cursor)

    def sequence(self, cursor: bytes) -> int:
        """Return the number of the last change before the cursor."""
        return int.from_bytes(cursor[16:], "big")

    async def wait(self, cursor: bytes) -> None:
        """Return when there is something after the cursor."""
        await self._log.wait(self.sequence(cursor))

    def _cursor(self, sequence: int) -> bytes:
        return self._log.incarnation + sequence.to_bytes(8, "big")


def text_of(record: Record | None) -> Text | None:
    """Return what the index sees of a stored document; None where it is gone, not to be found, or says what none may:
    an older version of this node may have taken it."""
    if record is None or CHECK.said_flaw(record):
        return None
    document = decode_document(record.body)
    return None if document.gone else text_of_document(record, document)


def text_of_document(record: Record, document: Document) -> Text:
    """Return a live document's searchable text, with the version that its fetcher signed."""
    return Text(
        id=record.id,
        key=record.key,
        version=record.version.digest,
        url=document.url,
        title=document.title,
        headings=document.headings,
        body=document.text,
        language=document.language,
        fetched_at=document.fetched_at,
        boilerplate=document.boilerplate,
        max_snippet=document.max_snippet,
        signature=document.signature,
        published_at=document.published_at,
        modified_at=document.modified_at,
    )
