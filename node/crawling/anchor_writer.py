"""Tells the pages that a page of another site links to how it calls them, and takes that back when a link goes.

Nobody waits for it: pages that were stored lately are told of together, after their outcomes are on their way. An
anchor that cannot be written now is left out: nothing but an answer's order hangs on it, and the page's next version
brings it again. The same text of the same domain is sent once for as long as it is remembered.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawl import Page, domain_of
from dht import DocumentId, Key, RemoteError, document_id, split_url
from store import (
    MAX_TEXT_CHARS,
    Anchor,
    Draft,
    Kind,
    Record,
    anchor_id,
    decode_anchor,
    decode_document,
    encode_anchor,
)

log = logging.getLogger(__name__)

KEEP_ANCHOR_DAYS = 730  # one that nobody takes back leaves with what is known of its page's URL
MOST_LINKS = 32  # of a page, those that come first
REMEMBERED = 1 << 15  # anchors that were sent lately: some 4 MB
MOST_WAITING = 1024  # pages, of which nothing was told yet
AT_ONCE = 64  # pages

Find = Callable[[DocumentId], Record | None]
"""Returns the page that lies here, without its content."""


class AnchorStore(Protocol):
    """Reads and writes records of the network: the store's replicator, as far as this file needs it."""

    async def write(self, drafts: Sequence[Draft]) -> None: ...

    async def read_many(
        self, wanted: Sequence[tuple[Kind, DocumentId, Key]]
    ) -> Mapping[tuple[Kind, DocumentId], Record]: ...


@dataclass(frozen=True, slots=True)
class _StoredPage:
    """A version of a page that was stored. `before`, `now`: how the one before it and this one call others, by URL."""

    url: str
    domain: str
    epoch: int
    at_ms: int
    expires_day: int
    before: Mapping[str, str]
    now: Mapping[str, str]


class AnchorWriter:
    """Writes the anchors of the pages that one node stores."""

    def __init__(self, store: AnchorStore, find: Find, place: Callable[[str], Key]) -> None:
        """`place`: where the records of a canonical URL live now."""
        self._store, self._find, self._place = store, find, place
        self._sent: OrderedDict[tuple[str, str], str] = OrderedDict()  # by domain and page, the text
        self._waiting = deque[_StoredPage](maxlen=MOST_WAITING)
        self._stir = asyncio.Event()

    def texts_before(self, page: Page) -> Mapping[str, str]:
        """Return the anchors of the version of a page that lies here; to be asked before the next one is written."""
        record = self._find(document_id(page.url))
        return anchor_texts(page.url, decode_document(record.body).links) if record is not None else {}

    def note(self, page: Page, epoch: int, before: Mapping[str, str], today: int) -> None:
        """Have told what is new in a version of a page that was stored, given the anchors of the one `before`."""
        now = anchor_texts(page.url, ((link.url, link.anchor) for link in page.links))
        if before or now:
            version = epoch, int(page.fetched_at * 1000), today + KEEP_ANCHOR_DAYS
            self._waiting.append(_StoredPage(page.url, _domain(page.url), *version, before, now))
            self._stir.set()

    async def run(self) -> None:
        """Tell what is noted, for ever."""
        while True:
            await self._stir.wait()
            await self.tell()

    async def tell(self) -> None:
        """Tell all that is noted."""
        self._stir.clear()
        while self._waiting:
            pages = dict[str, _StoredPage]()  # of each URL one version, as the next looks for what this one wrote
            while self._waiting and len(pages) < AT_ONCE and self._waiting[0].url not in pages:
                page = self._waiting.popleft()
                pages[page.url] = page
            try:
                await self._tell(list(pages.values()))
            except RemoteError as error:
                log.debug("anchors not written pages=%d reason=%s", len(pages), error)

    async def _tell(self, pages: Sequence[_StoredPage]) -> None:
        drafts, gone = dict[DocumentId, Draft](), list[list[str]]()
        for page in pages:
            gone.append(await self._own(page.url, page.domain, page.before.keys() - page.now.keys()))
            news = {url: text for url, text in page.now.items() if self._sent.get((page.domain, url)) != text}
            for url, text in news.items():
                draft = self._draft(page, url, text)
                drafts[draft.id] = draft
            for url in gone[-1]:  # unless another page of the domain links there by now
                draft = self._draft(page, url, "")
                drafts.setdefault(draft.id, draft)
        if drafts:
            await self._store.write(list(drafts.values()))
        for page, urls in zip(pages, gone, strict=True):
            self._remember(page.domain, page.now, urls)

    async def _own(self, source: str, domain: str, urls: Iterable[str]) -> list[str]:
        """Return those of some URLs whose anchors of a domain are of this very page; another may link there, too."""
        names = {url: (Kind.ANCHOR, anchor_id(document_id(url), domain)) for url in sorted(urls)}
        if not names:
            return []
        found = await self._store.read_many([(*name, self._place(url)) for url, name in names.items()])
        held = {url: decode_anchor(found[name].body) for url, name in names.items() if name in found}
        return [url for url, anchor in held.items() if anchor.source == source and anchor.text]

    def _draft(self, page: _StoredPage, url: str, text: str) -> Draft:
        id, body = anchor_id(document_id(url), page.domain), encode_anchor(Anchor(url, page.url, text))
        return Draft(Kind.ANCHOR, id, self._place(url), page.epoch, page.at_ms, page.expires_day, body)

    def _remember(self, domain: str, texts: Mapping[str, str], gone: Iterable[str]) -> None:
        for url in gone:
            self._sent.pop((domain, url), None)
        for url, text in texts.items():
            self._sent[domain, url] = text
            self._sent.move_to_end((domain, url))
        while len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)


def anchor_texts(url: str, links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return how a page calls MOST_LINKS of other sites at most, by URL: by the first text that is no address."""
    own, found = _domain(url), dict[str, str]()
    for target, anchor in links:
        text = " ".join(anchor.split())[:MAX_TEXT_CHARS].rstrip()
        if text and "://" not in text and target not in found and _domain(target) not in ("", own):
            found[target] = text
            if len(found) == MOST_LINKS:
                break
    return found


def _domain(url: str) -> str:
    """The registrable domain of a URL, "" where a stranger wrote one that has none."""
    try:
        return domain_of(split_url(url).host)
    except ValueError:
        return ""
