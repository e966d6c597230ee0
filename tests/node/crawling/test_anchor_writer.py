"""What other sites hear of a page's links, and that it is taken back."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from crawl import Page
from crawl.content.page import Link
from dht import DocumentId, Identity, Key, Now, RemoteError, document_id, placement_key
from node.crawling.anchor_writer import MOST_LINKS, AnchorWriter, anchor_texts
from node.crawling.ingest import Ingest, document_of
from store import Draft, Kind, Record, decode_anchor, encode_document, sign_package

PORT, QUAY = "https://port.example/times", "https://quay.example/"
FIRST, SECOND = "https://press.example/1", "https://press.example/2"


def page_of(url: str, at: float, **links: str) -> Page:
    """A page with links to hosts of these names."""
    found = tuple(Link({"port": PORT, "quay": QUAY}[name], text) for name, text in links.items())
    return Page(url, at, 200, (), b"x", "text/html", "", "", "t", (), "main", found)


class Network:
    """Keeps the newest version of each record."""

    def __init__(self) -> None:
        self.records: dict[tuple[Kind, DocumentId], Record] = {}
        self.written = 0
        self.is_down, self.takes_anchors, self.has_anchors = False, asyncio.Event(), asyncio.Event()
        self.takes_anchors.set()

    async def write(self, drafts: Sequence[Draft]) -> None:
        if self.is_down:
            raise RemoteError
        if any(draft.kind == Kind.ANCHOR for draft in drafts):
            await self.takes_anchors.wait()
        for record in sign_package(drafts, Identity(bytes(32))):
            held = self.records.get((record.kind, record.id))
            self.records[record.kind, record.id] = max(filter(None, (held, record)), key=lambda each: each.version)
            self.written += 1
            if record.kind == Kind.ANCHOR:
                self.has_anchors.set()

    async def read_many(
        self, wanted: Sequence[tuple[Kind, DocumentId, Key]]
    ) -> Mapping[tuple[Kind, DocumentId], Record]:
        return {name[:2]: self.records[name[:2]] for name in wanted if name[:2] in self.records}

    def said(self, url: str) -> list[str]:
        anchors = (decode_anchor(each.body) for (kind, _), each in self.records.items() if kind == Kind.ANCHOR)
        return [each.text for each in anchors if each.url == url]


class Crawl:
    """One node that stores pages and tells others of their links."""

    def __init__(self) -> None:
        self.network, self.at, self.tells = Network(), 1.0, True
        self.anchors = AnchorWriter(self.network, self._find, placement_key)

    def _find(self, id: DocumentId) -> Record | None:
        return self.network.records.get((Kind.DOCUMENT, id))

    async def fetch(self, url: str, **links: str) -> None:
        """Store a page with links to hosts of these names."""
        self.at += 1.0
        page = page_of(url, self.at, **links)
        before = self.anchors.texts_before(page)
        body, at_ms = encode_document(document_of(page)), int(self.at * 1000)
        if not self.network.is_down:
            await self.network.write([Draft(Kind.DOCUMENT, document_id(url), placement_key(url), 1, at_ms, 9, body)])
        self.anchors.note(page, 1, before, 9)
        if self.tells:
            await self.anchors.tell()


async def test_a_link_that_goes_takes_back_what_it_said_and_nothing_else() -> None:
    crawl = Crawl()
    await crawl.fetch(FIRST, port="ferry times", quay="boats")
    assert (crawl.network.said(PORT), crawl.network.said(QUAY)) == (["ferry times"], ["boats"])
    await crawl.fetch(FIRST, port="ferry times")
    assert (crawl.network.said(PORT), crawl.network.said(QUAY)) == (["ferry times"], [""])
    await crawl.fetch(SECOND, port="zanzibar ferry")
    assert crawl.network.said(PORT) == ["zanzibar ferry"], "the newest page of a domain"
    await crawl.fetch(FIRST)
    assert crawl.network.said(PORT) == ["zanzibar ferry"], "it is another page's by now"
    await crawl.fetch(SECOND)
    assert crawl.network.said(PORT) == [""]
    await crawl.fetch(FIRST, port="ferry times")
    assert crawl.network.said(PORT) == ["ferry times"]


async def test_pages_that_are_told_of_together_say_what_they_would_one_by_one() -> None:
    crawl = Crawl()
    await crawl.fetch(FIRST, port="ferry times", quay="boats")
    crawl.tells = False
    await crawl.fetch(SECOND, port="zanzibar ferry", quay="boats")
    await crawl.fetch(FIRST, quay="boats")
    assert crawl.network.said(PORT) == ["ferry times"], "nobody waits for what others hear"
    await crawl.fetch(FIRST)
    await crawl.anchors.tell()
    assert (crawl.network.said(PORT), crawl.network.said(QUAY)) == (["zanzibar ferry"], [""])


async def test_a_page_is_kept_though_nobody_takes_its_anchors() -> None:
    crawl = Crawl()
    ingest = Ingest(crawl.network, lambda: Now(86_400.0, 0.0), anchors=crawl.anchors)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.anchors.run())
        crawl.network.takes_anchors.clear()
        await ingest.keep(page_of(FIRST, 1.0, port="ferry times"), 1)
        assert (Kind.DOCUMENT, document_id(FIRST)) in crawl.network.records and not crawl.network.said(PORT)
        crawl.network.takes_anchors.set()
        await crawl.network.has_anchors.wait()
        running.cancel()


async def test_pages_that_link_alike_are_told_once_and_what_failed_again() -> None:
    crawl = Crawl()
    crawl.network.is_down = True
    await crawl.fetch(FIRST, port="ferry times")
    crawl.network.is_down = False
    for number in range(20):
        await crawl.fetch(f"https://press.example/{number}", port="ferry times")
    assert crawl.network.said(PORT) == ["ferry times"] and crawl.network.written == 20 + 1


@pytest.mark.parametrize(
    "link",
    [
        ("https://www.press.example/x", "own site"),
        (PORT, " \n"),
        (PORT, "see https://port.example/times"),
        ("http://[/", "odd"),
    ],
)
def test_links_within_a_site_and_without_words_say_nothing(link: tuple[str, str]) -> None:
    assert anchor_texts(FIRST, [link]) == {}


def test_a_page_says_so_much_at_most() -> None:
    links = [(f"https://x{number}.example/", f"a  b\n{'c' * 999}") for number in range(MOST_LINKS + 9)]
    found = anchor_texts(FIRST, links)
    assert len(found) == MOST_LINKS and set(map(len, found.values())) == {160}
