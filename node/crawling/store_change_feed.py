"""Gives the store's change log to the index, and tells the store what it cannot know by itself of URLs and visits.

A cursor is the store's incarnation and a sequence number; one of another incarnation is not known.
"""

import re
from collections.abc import Sequence

from crawl import Visit, decode_visit, domain_of, is_canonical, visit_flaw
from dht import DocumentId, split_url
from index import DocumentChange, Text
from node.crawling.is_shown import is_withheld_page, may_turn, shown_document
from store import (
    Document,
    Kind,
    Record,
    RecordChange,
    RecordCheck,
    RecordDenial,
    RecordStore,
    SoundRecords,
)

_PUNYCODE = re.compile(r"(?<=[/.])xn--[a-z0-9-]+")  # what such a label may hold changes with each version of Unicode


class RecordRules:
    """The `BodyRules` of every node's store."""

    sound = SoundRecords()  # one for all: what is so by these rules is so wherever they are asked

    def url_flaw(self, url: str) -> str:
        """Say why no record may be about a URL, "" where it is canonical."""
        scheme, separator, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        plain = f"{scheme}{separator}{_PUNYCODE.sub('x', '/' + host)[1:]}{slash}{path}" if "xn--" in host else url
        return "" if is_canonical(plain) else f"{url[:80]!a} is no canonical URL"

    def visit_flaw(self, body: bytes, epoch: int, at_ms: int) -> str:
        """Say why a body is no visit of this version; raises ValueError or RecursionError where it is none at all."""
        return visit_flaw(decode_visit(body), epoch, at_ms)

    def domain_of(self, url: str) -> str:
        """Return the registrable domain of a URL; raises ValueError where it is none."""
        return domain_of(split_url(url).host)


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
        pages = dict.fromkeys(change.id for change in changed if self._concerns_pages(change))
        return list(map(self._read, pages)), self._cursor(changed[-1].sequence)

    def _concerns_pages(self, change: RecordChange) -> bool:
        """Whether a change may alter what the index holds: a visit does where it hides a page, or shows it again, and
        where it goes."""
        if change.kind != Kind.VISIT:
            return change.kind == Kind.DOCUMENT
        visit = None if change.removed else self._find(Kind.VISIT, change.id)
        return visit is None or may_turn(visit)

    def _read(self, id: DocumentId) -> DocumentChange:
        page, visit, denial = self._find(Kind.DOCUMENT, id), self._find(Kind.VISIT, id), self._store.denial
        text = shown_text(page, visit, denial)
        is_new = page is not None and not is_withheld_page(page, visit, denial)
        return DocumentChange(id, text, page.version.at_ms / 1000 if page is not None and is_new else 0.0)

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


def visit_of(record: Record) -> Visit:
    """Return the visit in a VISIT record."""
    return decode_visit(record.body)


def shown_text(page: Record | None, visit: Record | None, denial: RecordDenial) -> Text | None:
    """Return what the index sees of a page, given the records that there are of it; None where it is not shown, or says
    what none may."""
    document = shown_document(page, visit, denial)
    if page is None or document is None or CHECK.said_flaw(page):
        return None
    return text_of_document(page, document)


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
