"""Reads what the network knows of URLs: their visits and pages, from their places, wherever those lie now."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from crawl import Visit
from dht import DocumentId, Key, SiteShards, document_id, site_of
from index import Text
from node.crawling.frontier_sync import visit_of
from node.crawling.store_change_feed import text_of
from store import Document, Kind, Record, Replicator, decode_document

Learn = Callable[[Iterable[str]], Awaitable[object]]
"""Reads the host records of sites, where they were not read lately."""


class UrlLookup:
    """Reads records of canonical URLs, here or from a ready replica; what nobody has, or answers for, is missing."""

    def __init__(self, replicator: Replicator, places: SiteShards, learn: Learn) -> None:
        self._replicator, self._places, self._learn = replicator, places, learn

    async def place(self, url: str) -> Key:
        """Return where the records of a URL live, by its site's host record as the network has it now."""
        await self._learn([site_of(url)])
        return self._places.key_of(url)

    async def find(self, urls: Sequence[str]) -> Mapping[str, Visit]:
        """Return the visits that are known, by URL."""
        return {url: visit_of(record) for url, record in (await self._read(Kind.VISIT, urls, False)).items()}

    async def documents(self, urls: Sequence[str]) -> Mapping[str, Document]:
        """Return the pages that are stored, without their contents, by URL."""
        found = await self._read(Kind.DOCUMENT, urls, False)
        return {url: decode_document(record.body) for url, record in found.items()}

    async def records(self, urls: Sequence[str], *, content: bool) -> Mapping[str, Record]:
        """Return the documents that are stored, as records, by URL."""
        return await self._read(Kind.DOCUMENT, urls, content)

    async def texts(self, wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        """Read signed documents by id and place, as the searcher shows them; None where nobody has one."""
        records = await self._replicator.read_many([(Kind.DOCUMENT, id, key) for id, key in wanted])
        return {id: text_of(records.get((Kind.DOCUMENT, id))) for id, _ in wanted}

    async def _read(self, kind: Kind, urls: Sequence[str], content: bool) -> Mapping[str, Record]:
        """Read from their places now, else from those where they lay before; whoever asks for a URL learns where it
        lies."""
        await self._learn({site_of(url) for url in urls})
        found, places = dict[str, Record](), {url: self._places.keys_of(url) for url in urls}
        for turn in range(max(map(len, places.values()), default=0)):
            left = {url: keys[turn] for url, keys in places.items() if url not in found and turn < len(keys)}
            wanted = [(kind, document_id(url), key) for url, key in left.items()]
            records = await self._replicator.read_many(wanted, content=content)
            found |= {url: r for url in left if (r := records.get((kind, document_id(url)))) is not None}
        return found
