"""Reads what the network knows of URLs: their visits and pages, from their places, wherever those lie now."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from crawl import Visit
from dht import DocumentId, Key, SiteShards, document_id, site_of
from index import Text
from node.crawling.is_shown import is_withheld_page, visit_in
from node.crawling.store_change_feed import shown_text, visit_of
from store import (
    Document,
    Kind,
    Record,
    RecordStore,
    Replicator,
    decode_document,
)

Learn = Callable[[Iterable[str]], Awaitable[object]]
"""Reads the host records of sites, where they were not read lately."""


class UrlLookup:
    """Reads records of canonical URLs, here or from a ready replica; what nobody has, or answers for, is missing."""

    def __init__(
        self,
        store: RecordStore,
        replicator: Replicator,
        places: SiteShards,
        learn: Learn,
        is_vanishing: Callable[[], bool],
    ) -> None:
        """`is_vanishing`: whether pages are taken back just now, which some indexes still have."""
        self._store, self._replicator, self._places, self._learn = store, replicator, places, learn
        self._is_vanishing = is_vanishing

    async def place(self, url: str) -> Key:
        """Return where the records of a URL live, by its site's host record as the network has it now."""
        await self._learn([site_of(url)])
        return self._places.key_of(url)

    async def find(self, urls: Sequence[str]) -> Mapping[str, Visit]:
        """Return the visits that are known, by URL."""
        found = await self._read([Kind.VISIT], urls, content=False)
        return {url: visit_of(records[Kind.VISIT]) for url, records in found.items()}

    async def documents(self, urls: Sequence[str]) -> Mapping[str, Document]:
        """Return the pages that are stored, without their contents, by URL."""
        return {url: decode_document(page.body) for url, page in (await self.records(urls, content=False)).items()}

    async def records(self, urls: Sequence[str], *, content: bool) -> Mapping[str, Record]:
        """Return the documents that are stored, as records, by URL; those that are withheld are missing."""
        found, denial = await self._read([Kind.DOCUMENT, Kind.VISIT], urls, content=content), self._store.denial
        pages = {url: (of_url[Kind.DOCUMENT], visit_in(of_url.get(Kind.VISIT))) for url, of_url in found.items()}
        return {url: page for url, (page, visit) in pages.items() if not is_withheld_page(page, visit, denial)}

    def here(self, url: str) -> Record | None:
        """Return the document of a URL that lies on this node, as a record without its content; None where there is
        none or it is withheld."""
        id, find = document_id(url), self._store.find
        page, visit = find(Kind.DOCUMENT, id, content=False), find(Kind.VISIT, id, content=False, proven=False)
        return None if is_withheld_page(page, visit_in(visit), self._store.denial) else page

    async def texts(self, wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        """Read signed documents by id and place, as the searcher shows them; None where nobody has one, nothing where
        it is withheld or may just have been taken back."""
        kinds = [(kind, id, key) for kind in (Kind.DOCUMENT, Kind.VISIT) for id, key in wanted]
        records, unsure = await self._replicator.read_sure(kinds)
        denial, texts = self._store.denial, dict[DocumentId, Text | None]()
        for id, _ in wanted:
            page, visit = records.get((Kind.DOCUMENT, id)), visit_in(records.get((Kind.VISIT, id)))
            text, is_sure = shown_text(page, visit, denial), (Kind.DOCUMENT, id) not in unsure
            if text or (is_sure and not self._is_vanishing() and not is_withheld_page(page, visit, denial)):
                texts[id] = text
        return texts

    async def _read(
        self, kinds: Sequence[Kind], urls: Sequence[str], *, content: bool
    ) -> Mapping[str, Mapping[Kind, Record]]:
        """Read the records of these kinds of some URLs, at their places now and then at those where they lay before. A
        URL is asked for until a record of the first kind is found; by asking, the caller learns where it lies."""
        await self._learn({site_of(url) for url in urls})
        found, places = {url: dict[Kind, Record]() for url in urls}, {url: self._places.keys_of(url) for url in urls}
        for turn in range(max(map(len, places.values()), default=0)):
            left = {url: keys[turn] for url, keys in places.items() if kinds[0] not in found[url] and turn < len(keys)}
            wanted = [(kind, document_id(url), key) for kind in kinds for url, key in left.items()]
            records = await self._replicator.read_many(wanted, content=content)
            for url in left:
                here = {kind: r for kind in kinds if (r := records.get((kind, document_id(url)))) is not None}
                found[url] = here | found[url]
        return {url: records for url, records in found.items() if kinds[0] in records}
