"""Reads what the network knows of URLs: their visits and pages, from their places, wherever those lie now."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from crawl import Visit
from dht import DocumentId, Key, SiteShards, document_id, site_of
from index import Text
from node.crawling.store_change_feed import is_hidden, shown_page, shown_text, visit_of
from store import (
    Document,
    Kind,
    Record,
    RecordStore,
    Replicator,
    decode_document,
    former_id,
    page_in,
)

PAGE = (Kind.DOCUMENT, Kind.STANDING)  # of a page there may be two versions, of which one is shown
Records = Mapping[tuple[Kind, DocumentId], Record]
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
        return {url: visit_of(record) for url, record in (await self._read((Kind.VISIT,), urls, False)).items()}

    async def documents(self, urls: Sequence[str]) -> Mapping[str, Document]:
        """Return the pages that are stored, without their contents, by URL."""
        found = await self._read(PAGE, urls, False)
        return {url: decode_document(record.body) for url, record in found.items()}

    async def records(self, urls: Sequence[str], *, content: bool) -> Mapping[str, Record]:
        """Return the documents that are stored, as records, by URL."""
        return await self._read(PAGE, urls, content)

    def here(self, url: str) -> Record | None:
        """Return the document of a URL that lies on this node, as a record without its content; None where there is
        none or it must not be shown."""
        id, find = document_id(url), self._store.find
        record = self._store.find_page(id, content=False)
        return None if is_hidden(find(Kind.VISIT, id, content=False, proven=False)) else record

    async def texts(self, wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        """Read signed documents by id and place, as the searcher shows them; None where nobody has one, nothing where
        it may just have been taken back."""
        kinds = [(kind, id, key) for kind in (*PAGE, Kind.VISIT) for id, key in wanted]
        records, unsure = await self._replicator.read_sure(kinds)
        shown = {id: records.get((Kind.VISIT, id)) for id, _ in wanted}
        texts = {id: shown_text(shown_page(records, id), visit) for id, visit in shown.items() if not is_hidden(visit)}
        is_told = {id: not self._is_vanishing() and (Kind.DOCUMENT, id) not in unsure for id in texts}
        return {id: text for id, text in texts.items() if text or is_told[id]}

    async def shown(self, urls: Sequence[str]) -> Mapping[str, Record | None]:
        """Return the versions of pages that are shown, by URL; None where there surely is none, nothing where nobody
        can tell."""
        await self._learn({site_of(url) for url in urls})
        places = {url: self._places.keys_of(url) for url in urls}
        wanted = [(kind, document_id(url), keys[0]) for kind in PAGE for url, keys in places.items()]
        found, unsure = await self._replicator.read_sure(wanted)
        pages = {url: shown_page(found, document_id(url)) for url in urls}
        doubted = {url for url in urls if any((kind, document_id(url)) in unsure for kind in PAGE)}
        doubted |= {url for url, page in pages.items() if page is None and len(places[url]) > 1}  # on its way perhaps
        return {url: page for url, page in pages.items() if url not in doubted}

    async def former(self, url: str, at_ms: int) -> Record | None:
        """Return the version of a page that was written at an instant, where it is kept as a former one."""
        id = former_id(document_id(url), at_ms)
        found = await self._replicator.read_many([(Kind.FORMER, id, await self.place(url))])
        return page_in(found[Kind.FORMER, id]) if found else None

    async def _read(self, kinds: Sequence[Kind], urls: Sequence[str], content: bool) -> Mapping[str, Record]:
        """Read from their places now, else from those where they lay before; whoever asks for a URL learns where it
        lies. A document that its site's rules disallow by now is not shown."""
        await self._learn({site_of(url) for url in urls})
        hidden, found, places = set[str](), dict[str, Record](), {url: self._places.keys_of(url) for url in urls}
        for turn in range(max(map(len, places.values()), default=0)):
            left = {url: keys[turn] for url, keys in places.items() if url not in found and turn < len(keys)}
            wanted = [
                (kind, document_id(url), key)
                for kind in dict.fromkeys((*kinds, Kind.VISIT))
                for url, key in left.items()
            ]
            records = await self._replicator.read_many(wanted, content=content)
            found |= {url: r for url in left if (r := _chosen(kinds, records, document_id(url))) is not None}
            hidden |= {url for url in left if is_hidden(records.get((Kind.VISIT, document_id(url))))}
        return found if kinds != PAGE else {url: r for url, r in found.items() if url not in hidden}


def _chosen(kinds: Sequence[Kind], records: Records, id: DocumentId) -> Record | None:
    return shown_page(records, id) if kinds == PAGE else records.get((kinds[0], id))
