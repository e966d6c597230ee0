"""Gives the store's change log to the index, and tells the store what it cannot know by itself of URLs and visits.

A cursor is the store's incarnation and a sequence number; one of another incarnation is not known. Pages that changed
lately are remembered, so that the log is read anew only for an index that is far behind.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from msgspec.structs import astuple

from crawl import Visit, decode_visit, domain_of, is_canonical, visit_flaw
from dht import DocumentId, split_url
from index import DocumentChange, Image, Text
from node.crawling.change_follower import ChangedRecord, ChangeFollower
from node.crawling.is_shown import is_withheld_page, may_turn, shown_document
from store import (
    Document,
    Kind,
    Record,
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


MOST_PAGES = 8192  # remembered, some 150 bytes each: as many as an index takes in within a minute


class RecentPages:
    """Remembers which pages changed lately, each with its last change. `since`: all changes after it are here."""

    def __init__(self, since: int, most: int = MOST_PAGES) -> None:
        self._sequences: dict[DocumentId, int] = {}  # by ascending number
        self._most, self.since = most, since

    def note(self, id: DocumentId, sequence: int) -> None:
        """Take note of a page's newest change; it is the newest of all."""
        self._sequences.pop(id, None)
        self._sequences[id] = sequence
        if len(self._sequences) > self._most:
            self.since = self._sequences.pop(next(iter(self._sequences)))

    def after(self, sequence: int, limit: int) -> list[tuple[DocumentId, int]]:
        """Return the first pages that changed after a number, and the number of each's last change."""
        newest_first = takewhile(lambda page: page[1] > sequence, reversed(self._sequences.items()))
        return list(newest_first)[::-1][:limit]


class StoreChangeFeed:
    """The index's `ChangeFeed`, read from a record store by way of the one follower of its log."""

    def __init__(self, changes: ChangeFollower, store: RecordStore) -> None:
        self._changes, self._store, self._log = changes, store, store.log
        self._pages = RecentPages(changes.sequence)
        changes.listen(self._hear)

    def knows(self, cursor: bytes) -> bool:
        """Tell whether nothing that the log has forgotten came after this cursor."""
        if not cursor:
            return True
        return cursor[:16] == self._log.incarnation and self.sequence(cursor) >= self._log.horizon

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        """Return up to `limit` changes of documents after the cursor, and the next cursor."""
        after = self.sequence(cursor)
        if after < self._pages.since:
            changed, last = self._changes.read(after, limit)
            pages = dict.fromkeys(each.id for each in changed if _concerns_pages(each))
        else:
            if after >= self._changes.sequence:
                self._changes.step()
            found = self._pages.after(after, limit)
            pages = dict.fromkeys(id for id, _ in found)
            last = found[-1][1] if len(found) == limit else max(after, self._changes.sequence)
        return self.read(list(pages)), self._cursor(last) if last > after else cursor

    def read(self, ids: Sequence[DocumentId]) -> Sequence[DocumentChange]:
        """Return documents as they are in the store now."""
        return list(map(self._read, ids))

    def _hear(self, changed: ChangedRecord) -> None:
        if _concerns_pages(changed):
            self._pages.note(changed.id, changed.sequence)

    def _read(self, id: DocumentId) -> DocumentChange:
        page, record, denial = self._find(Kind.DOCUMENT, id), self._find(Kind.VISIT, id), self._store.denial
        visit = self._changes.visits.of(record) if record is not None and not _is_find(record) else None
        text = shown_text(page, visit, denial)
        is_new = text is not None or (page is not None and not is_withheld_page(page, visit, denial))
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


def _concerns_pages(changed: ChangedRecord) -> bool:
    """Whether a change may alter what the index holds: a visit does where it hides a page, or shows it again, and
    where it goes."""
    if changed.kind != Kind.VISIT:
        return changed.kind == Kind.DOCUMENT
    if changed.record is not None and _is_find(changed.record):
        return False
    return changed.visit is None or may_turn(changed.visit)


def _is_find(visit: Record) -> bool:
    """Whether a VISIT says no more than that its URL was found: it hides nothing, and need not be decoded."""
    return not visit.version.epoch


def visit_of(record: Record) -> Visit:
    """Return the visit in a VISIT record."""
    return decode_visit(record.body)


def shown_text(page: Record | None, visit: Visit | None, denial: RecordDenial) -> Text | None:
    """Return what the index sees of a page, given its record and its visit; None where it is not shown, or says what
    none may."""
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
        media_type=document.media_type,
        images=tuple(Image(*astuple(image)) for image in document.images),
        first_seen=document.first_seen,
        site_links=document.site_links,
    )
