"""Gives the store's change log to the index.

A cursor is the store's incarnation and a sequence number; one of another incarnation is not known.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from crawl import Visit, decode_visit
from dht import DocumentId
from index import DocumentChange, OfferedTerms, Text
from node.crawling.record_rules import RecordRules
from store import (
    Document,
    Kind,
    Record,
    RecordChange,
    RecordCheck,
    RecordStore,
    decode_document,
    encode_head,
    page_in,
    terms_body,
)

CHECK = RecordCheck(RecordRules())

Find = Callable[[DocumentId, bytes], Record | None]


class StoreChangeFeed:
    """The index's `ChangeFeed`, read from a record store."""

    def __init__(self, store: RecordStore, terms: Find | None = None, own: bytes = b"") -> None:
        """`terms` finds what came beside a page, given its digest; `own`: this node's public key."""
        self._store, self._log, self._terms, self._own = store, store.log, terms, own

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
        pages = dict.fromkeys(change.id for change in changed if self._concerns_pages(change))
        return list(map(self._read, pages)), self._cursor(changed[-1].sequence)

    def _offered(self, record: Record | None) -> OfferedTerms | None:
        """What came beside just this version of a page."""
        found = self._terms(record.id, record.version.digest) if self._terms and record else None
        if found is None or found.content is None:
            return None
        author = b"" if found.proof.author == self._own else found.proof.author
        _, digest, analyzer = terms_body(found)
        return OfferedTerms(found.content, digest, analyzer, author, encode_head(found))

    async def read(self, ids: Sequence[DocumentId]) -> Sequence[DocumentChange]:
        """Return what documents are now, with nothing offered."""
        return [replace(self._read(id), offered=None) for id in ids]

    def _concerns_pages(self, change: RecordChange) -> bool:
        """Whether a change may alter what the index holds: a visit does where it hides a page, or shows it again, and
        where it goes."""
        if change.kind != Kind.VISIT:
            return change.kind in (Kind.DOCUMENT, Kind.STANDING)
        visit = None if change.removed else self._find(Kind.VISIT, change.id)
        return visit is None or bool(visit_of(visit).barred_at)

    def _read(self, id: DocumentId) -> DocumentChange:
        record, visit = self._store.find_page(id, content=False, proven=False), self._find(Kind.VISIT, id)
        text = shown_text(record, visit)
        is_told = text is not None or (record is not None and not is_hidden(visit))
        offered = self._offered(record) if text is not None else None
        return DocumentChange(id, text, record.version.at_ms / 1000 if is_told and record is not None else 0.0, offered)

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


def shown_text(record: Record | None, visit: Record | None) -> Text | None:
    """Return what the index sees of a page, given the version that is shown and what is known of its URL; None where
    it is nothing."""
    return None if is_hidden(visit) else text_of(record)


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
