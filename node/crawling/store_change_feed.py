"""Gives the store's change log to the index.

A cursor is the store's incarnation and a sequence number; one of another incarnation is not known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from crawl import Visit, VisitState, decode_visit
from dht import DocumentId, document_id
from index import DocumentChange, Text
from node.crawling.record_rules import RecordRules
from store import (
    Anchor,
    Document,
    Kind,
    Record,
    RecordChange,
    RecordCheck,
    RecordStore,
    decode_document,
    page_in,
    page_part,
    standing_anchors,
)

CHECK = RecordCheck(RecordRules())
LEAST_DOMAINS = 2  # that call a URL something: it is searched before it is fetched

Named = Sequence[tuple[Record, Anchor]]


class StoreChangeFeed:
    """The index's `ChangeFeed`, read from a record store."""

    def __init__(self, store: RecordStore) -> None:
        self._store, self._log = store, store.log

    def knows(self, cursor: bytes) -> bool:
        """Tell whether nothing that the log has forgotten came after this cursor."""
        if not cursor:
            return True
        return cursor[:16] == self._log.incarnation and self.sequence(cursor) >= self._log.horizon

    async def changes(
        self, cursor: bytes, limit: int, known: dict[bytes, int] | None = None
    ) -> tuple[Sequence[DocumentChange], bytes]:
        """Return up to `limit` changes of documents after the cursor, and the next cursor; nothing of those that were
        read since, as `known` says of each: a page's anchors come one by one."""
        changed = self._log.changes(self.sequence(cursor), limit)
        if not changed:
            return [], cursor
        read, now = known if known is not None else {}, self._log.sequence
        found = list[DocumentChange]()
        for change in changed:
            page = page_part(change.id)
            if read.get(page, -1) < change.sequence and (id := self._page_of(change)) is not None:
                read[page] = now
                found.append(self._read(id))
        return found, self._cursor(changed[-1].sequence)

    def _page_of(self, change: RecordChange) -> DocumentId | None:
        """The page of which a change may alter what the index holds, None where there is none: a visit does where it
        hides a page, or shows it again, and where it goes, or other sites call a URL something that has no page."""
        if change.kind == Kind.ANCHOR:
            return self._store.page_of(change.id)
        if change.kind != Kind.VISIT:
            return change.id if change.kind in (Kind.DOCUMENT, Kind.STANDING) else None
        beside = frozenset[Kind]() if change.removed else self._store.kinds_beside(change.id)
        if not change.removed and Kind.DOCUMENT not in beside:
            return change.id if Kind.ANCHOR in beside else None
        visit = None if change.removed else self._find(Kind.VISIT, change.id)
        return change.id if visit is None or visit_of(visit).barred_at else None

    def _read(self, id: DocumentId) -> DocumentChange:
        record, visit = self._store.find_page(id, content=False, proven=False), self._find(Kind.VISIT, id)
        anchors = self._store.anchors(id)
        text = shown_text(record, visit, anchors)
        is_told = text is not None or (record is not None and not is_hidden(visit))
        return DocumentChange(id, text, written_at([record, *anchors]) if is_told else 0.0)

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
    """Return what the index sees of a stored document; None where it is gone, not to be found, or says what none
    may."""
    if record is None or CHECK.said_flaw(record):
        return None
    document = decode_document(record.body)
    return None if document.gone else text_of_document(record, document)


def shown_text(record: Record | None, visit: Record | None, anchors: Sequence[Record]) -> Text | None:
    """Return what the index sees of a page, given the version that is shown, what is known of its URL, and its anchors;
    None where it is nothing. Of a URL that waits, what several other sites call it is seen."""
    named = sound_anchors(anchors)
    if is_hidden(visit):
        return None
    if record is None:
        is_waiting = visit is not None and visit_of(visit).state == VisitState.WAITING
        return text_of_anchors(named) if is_waiting and len(named) >= LEAST_DOMAINS else None
    text = text_of(record)
    if text is None or not named:
        return text
    version, written = version_with(text.version, named), written_at([record, *anchors])
    return replace(text, version=version, written_at=written, anchors=texts_of(named))


def sound_anchors(anchors: Sequence[Record]) -> Named:
    """Return those of a page's anchors that count: the links are there, and each says what one may."""
    return standing_anchors(each for each in anchors if not CHECK.said_flaw(each))


def texts_of(named: Named) -> tuple[str, ...]:
    """Return how other sites call a page, one text of each domain."""
    return tuple(anchor.text for _, anchor in named)


def text_of_anchors(named: Named) -> Text:
    """Return what is searched of a URL that nobody has fetched."""
    first, anchor = named[0]
    return Text(
        id=document_id(anchor.url),
        key=first.key,
        version=version_with(b"", named),
        url=anchor.url,
        title="",
        headings=(),
        body="",
        language="",
        fetched_at=0.0,
        written_at=written_at([record for record, _ in named]),
        anchors=texts_of(named),
    )


def version_with(version: bytes, named: Named) -> bytes:
    """Return the version of a page together with its anchors: equal where both are."""
    return sha256(version + b"".join(record.id + record.version.digest for record, _ in named)).digest()


def written_at(records: Iterable[Record | None]) -> float:
    """Return when the newest of some records was written, by its author's clock."""
    return max((record.version.at_ms / 1000 for record in records if record is not None), default=0.0)


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
