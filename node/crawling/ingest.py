"""Turns what the crawler brings into records: pages into documents, links and outcomes into visits, all in their slots.

The write that stores a document also hands each link to its owners: as a WAITING visit of epoch 0, which changes
nothing where the URL is known.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec.structs import astuple

from crawl import Page, Visit, encode_visit, reach
from dht import Clock, Key, document_id, placement_key
from store import (
    KEPT_DAYS,
    MAX_MEDIA_TYPE_CHARS,
    Document,
    Draft,
    ImageNote,
    Kind,
    Replicator,
    RequestNote,
    encode_document,
)

DAY_S = 86_400
KEEP_DOCUMENT_DAYS = KEPT_DAYS  # a page that nobody could fetch for a year leaves the answers
KEEP_GONE_DAYS = KEEP_DOCUMENT_DAYS + 2  # longer than the page that it replaces, clocks apart, or that would come back
KEEP_VISIT_DAYS = 730  # URL state outlives its document, so that a vanished page is not found "new"


FindVisits = Callable[[Sequence[str]], Awaitable[Mapping[str, Visit]]]


async def no_visits(urls: Sequence[str]) -> Mapping[str, Visit]:
    """Return nothing, as a `FindVisits` where nobody knows a URL."""
    return {}


class Ingest:
    """The crawler's `Sink`, which writes to the network's store."""

    def __init__(
        self,
        writer: Replicator,
        clock: Clock,
        place: Callable[[str], Key] = placement_key,
        find: FindVisits = no_visits,
    ) -> None:
        """`place`: where the records of a canonical URL live now. `find`: reads the visits of canonical URLs."""
        self._writer, self._clock, self._place, self.find = writer, clock, place, find

    async def keep(self, page: Page, epoch: int, found: Sequence[Visit] = (), outcome: Visit | None = None) -> bool:
        """Store a page under the lease epoch of its slot, and hand over what it links to. Returns when min_acks owners
        have each of them on disk: True where the outcome went with them, since all have the same owners."""
        drafts = [self._draft(page, epoch, document_of(page)), *self._found(found)]
        is_together = outcome is not None and self._writer.have_same_owners([draft.key for draft in drafts])
        if outcome is not None and is_together:
            drafts.append(self._outcome(outcome, epoch))
        await self._writer.write(drafts)
        return is_together

    def imported(self, page: Page, origin: str) -> Draft:
        """Return the draft of a page that somebody brings from elsewhere; it expires as if it were fetched today."""
        return self._draft(page, 0, document_of(page, origin))

    async def write(self, drafts: Sequence[Draft]) -> None:
        """Write drafts to their owners."""
        await self._writer.write(drafts)

    async def discover(self, found: Sequence[Visit]) -> None:
        """Hand found URLs to their owners."""
        await self._writer.write(self._found(found))

    async def submit(self, seeds: Sequence[Visit]) -> None:
        """Hand URLs of people to their owners; raises TooFewCopies as soon as too few nodes live to keep them."""
        await self._writer.write(self._found(seeds), is_patient=False)

    async def record(self, visit: Visit, epoch: int) -> None:
        """Write an outcome; from then on no other holder fetches this URL before it is due."""
        await self._writer.write([self._outcome(visit, epoch)])

    async def record_now(self, outcomes: Sequence[tuple[Visit, int]]) -> None:
        """Write outcomes that no fetch brought, each under the lease epoch of its slot. They are dated now: no grant
        that this node still has covers the instant of a visit long ago."""
        at_ms, expires_day = int(self._clock().wall * 1000), self._day() + KEEP_VISIT_DAYS
        await self._writer.write([self._visit(visit, epoch, at_ms, expires_day) for visit, epoch in outcomes])

    def _draft(self, page: Page, epoch: int, document: Document) -> Draft:
        return Draft(
            kind=Kind.DOCUMENT,
            id=document_id(page.url),
            key=self._place(page.url),
            epoch=epoch,
            at_ms=int(page.fetched_at * 1000),
            expires_day=self._expires_day(page),
            body=encode_document(document),
            content=page.content,
            content_digest=page.content_digest,
        )

    def _outcome(self, visit: Visit, epoch: int) -> Draft:
        return self._visit(visit, epoch, int(visit.visited_at * 1000), self._day() + KEEP_VISIT_DAYS)

    def _found(self, found: Sequence[Visit]) -> list[Draft]:
        expires_day = self._day() + KEEP_VISIT_DAYS
        return [self._visit(visit, 0, reach(visit), expires_day) for visit in found]

    def _visit(self, visit: Visit, epoch: int, at_ms: int, expires_day: int) -> Draft:
        return visit_draft(visit, epoch, at_ms, expires_day, self._place(visit.url))

    def _expires_day(self, page: Page) -> int:
        """Return the day of `unavailable_at` at the latest, should nobody be able to read the page then; not today, or
        the network would not take it."""
        if page.gone:
            return self._day() + KEEP_GONE_DAYS
        last_day = self._day() + KEEP_DOCUMENT_DAYS
        wished_day = int(page.unavailable_at // DAY_S) if page.unavailable_at else last_day
        return max(min(last_day, wished_day), self._day() + 1)

    def _day(self) -> int:
        return int(self._clock().wall // DAY_S)


def visit_draft(visit: Visit, epoch: int, at_ms: int, expires_day: int, key: Key) -> Draft:
    """Return a visit as a record at the place of its URL."""
    return Draft(Kind.VISIT, document_id(visit.url), key, epoch, at_ms, expires_day, encode_visit(visit))


def document_of(page: Page, origin: str = "") -> Document:
    """Return a page as it is stored; with its `origin` where it is an import."""
    return Document(
        url=page.url,
        fetched_at=page.fetched_at,
        status=page.status,
        headers=page.headers,
        media_type=page.media_type[:MAX_MEDIA_TYPE_CHARS],
        charset=page.charset,
        language=page.language,
        title=page.title,
        headings=page.headings,
        text=page.text,
        links=tuple((link.url, link.anchor) for link in page.links),
        gone=page.gone,
        signature=page.signature,
        description=page.description,
        published_at=page.published_at,
        modified_at=page.modified_at,
        boilerplate=page.boilerplate,
        max_snippet=page.max_snippet,
        noarchive=page.noarchive,
        origin=origin,
        request=RequestNote(*astuple(page.sent)) if page.sent else None,
        images=tuple(ImageNote(*astuple(image)) for image in page.images),
        first_seen=page.first_seen,
        site_links=page.site_links,
    )
