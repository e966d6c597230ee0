"""Reads the host records of sites in doubt from the network, and takes over where they say that sites lie."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from crawl import MirrorAlias
from dht import FRESH_S, site_of
from node.sites.host_book import HostBook, aliases_of
from store import HostRecord, Kind, Record, Replicator, decode_host, host_name

ASK_EVERY_S = 1.0
ASKED_AT_ONCE = 64  # sites


class HostRecords:
    """The host records of the network, as this node reads them and hears of them; `book` remembers what they say."""

    def __init__(
        self, book: HostBook, replicator: Replicator, hear_aliases: Callable[[str, Sequence[MirrorAlias]], None]
    ) -> None:
        """`hear_aliases` is told of each site of which the aliases changed."""
        self.book, self._replicator, self._hear_aliases = book, replicator, hear_aliases

    async def run(self) -> None:
        """Read the records of sites in doubt, until cancelled."""
        while True:
            await asyncio.sleep(ASK_EVERY_S)
            unsaid = list[str]()
            while batch := self.book.take_doubted(ASKED_AT_ONCE):
                unsaid += await self._read(batch)
            for site in unsaid:
                self.book.doubt(site)

    @property
    def has_moved(self) -> bool:
        """Whether any site came to lie elsewhere since `take_moved`."""
        return self.book.has_moved

    def take_moved(self) -> frozenset[str]:
        """Return the sites that came to lie elsewhere since this was last asked."""
        return self.book.take_moved()

    async def learn(self, sites: Iterable[str], within_s: float = FRESH_S) -> frozenset[str]:
        """Read the records that were not read within so many seconds; return the sites of which the
        network has answered."""
        sites = frozenset(sites)
        stale = sorted(site for site in sites if not self.book.is_fresh(site, within_s))
        for start in range(0, len(stale), ASKED_AT_ONCE):
            await self._read(stale[start : start + ASKED_AT_ONCE])
        return frozenset(site for site in sites if self.book.is_fresh(site, within_s))

    def hear(self, record: Record) -> None:
        """Take over a host record that lies here, so that it was taken from who may write it."""
        self.believe(self._take_aliases(record))

    def believe(self, host: HostRecord) -> None:
        """Take over where a host record says that its site lies, before it is stored."""
        if self.book.note_depth(host):
            self._replicator.moved(site_of(host.url))

    async def _read(self, sites: list[str]) -> list[str]:
        """Read the records of some sites; return those of which nobody answers, which stay unread."""
        names = {site: host_name(site) for site in sites}
        found, unsaid = await self._replicator.read_sure([(Kind.HOST, *name) for name in names.values()])
        for site, (id, _) in names.items():
            if (Kind.HOST, id) in unsaid:
                continue
            self.book.note_read(site)
            if (record := found.get((Kind.HOST, id))) is not None:
                host = self._take_aliases(record)
                if not self._replicator.host_writers.objection(record, by_owner=True):
                    self.book.note_depth(host)
            self._replicator.moved(site)  # also where nothing is new: something of it may lie astray here
        return [site for site, (id, _) in names.items() if (Kind.HOST, id) in unsaid]

    def _take_aliases(self, record: Record) -> HostRecord:
        host = decode_host(record.body)
        if self.book.note_aliases(host, record.version):
            site = site_of(host.url)
            self._hear_aliases(site, aliases_of(site, host.aliases))
        return host
