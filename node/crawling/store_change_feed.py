"""Gives the store's change log to the index.

A cursor is the store's incarnation and a sequence number; one of another incarnation is not known.
"""

from collections.abc import Mapping, Sequence

from crawl import Visit, decode_visit
from dht import DocumentId
from index import DocumentChange, Text
from node.crawling.record_rules import RecordRules
from store import Document, Kind, Record, RecordChange, RecordCheck, RecordStore, decode_document, page_in

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
        touched = dict.fromkeys(change.id for change in changed if self._is_of_a_page(change))
        return [self._read(id) for id in touched], self._cursor(changed[-1].sequence)

    def _is_of_a_page(self, change: RecordChange) -> bool:
        """Whether a change may alter what the index holds: a visit does where it hides a page, or shows it again."""
        if change.kind != Kind.VISIT:
            return change.kind in (Kind.DOCUMENT, Kind.STANDING)
        visit = None if change.removed else self._find(Kind.VISIT, change.id)
        return visit is not None and visit_of(visit).barred_at != 0

    def _read(self, id: DocumentId) -> DocumentChange:
        record = self._store.find_page(id, content=False, proven=False)
        if record is None or is_hidden(self._find(Kind.VISIT, id)):
            return DocumentChange(id, None, 0.0)
        return DocumentChange(id, text_of(record), record.version.at_ms / 1000)

    def _find(self, kind: Kind, id: DocumentId) -> Record | None:
        return self._store.find(kind, id, content=False, proven=False)

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


def shown_page(records: Mapping[tuple[Kind, DocumentId], Record], id: DocumentId) -> Record | None:
    """Return the version of a page that is shown, of those records of it that were read; None where there is none."""
    standing = records.get((Kind.STANDING, id))
    return page_in(standing) if standing is not None else records.get((Kind.DOCUMENT, id))


def is_hidden(visit: Record | None) -> bool:
    """Tell whether the visit of a page says that it must not be shown, because its site disallows it by now."""
    return visit is not None and visit_of(visit).is_hidden


def visit_of(record: Record) -> Visit:
    """Return the visit in a VISIT record."""
    return decode_visit(record.body)


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
        written_at=record.version.at_ms / 1000,
        origin=document.origin,
    )
