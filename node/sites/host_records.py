"""Reads the host records of sites in doubt from the network, and takes over where they say that sites lie."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from crawl import MirrorAlias
from dht import FRESH_S, Clock, RemoteError, site_of
from node.sites.host_book import HostBook, aliases_of
from store import (
    Draft,
    HostRecord,
    Kind,
    Record,
    RecordStore,
    Replicator,
    decode_host,
    encode_host,
    host_name,
    host_url,
)

log = logging.getLogger(__name__)

KEEP_DAYS = 800
RENEW_DAYS = 400  # before it would expire, a record is written again


class HostRecordWriter:
    """Writes the host records of the sites whose home slots this node holds."""

    def __init__(self, store: RecordStore, replicator: Replicator, book: HostBook, clock: Clock) -> None:
        self._store, self._replicator, self._book, self._clock = store, replicator, book, clock
        self._turn = asyncio.Lock()  # between the reading of a record and its writing

    async def change(
        self, site: str, epoch: int, change: Callable[[HostRecord], HostRecord] = lambda host: host
    ) -> HostRecord | None:
        """Change a site's record under the epoch of its home slot; None where the owners did not take it."""
        async with self._turn:
            known = self._store.find(Kind.HOST, host_name(site)[0])
            host = decode_host(known.body) if known is not None else HostRecord(host_url(site))
            if (depth := self._book.depths(site)[0]) > host.depth:  # never taken back, whatever lies here
                host = replace(host, depth=depth)
            host = change(host)
            at_ms, expires_day = int(self._clock().wall * 1000), self._store.today + KEEP_DAYS
            try:
                await self._replicator.write(
                    [Draft(Kind.HOST, *host_name(site), epoch, at_ms, expires_day, encode_host(host))]
                )
            except RemoteError as error:
                log.info("host record not written site=%s reason=%s", site, error)
                return None
            return host

    async def spread(self, site: str, epoch: int, depth: int, before: int) -> HostRecord | None:
        """Spread a site from now on over 2^`depth` places instead of 2^`before`; None as in `change`."""
        now = self._clock().wall
        return await self.change(site, epoch, lambda host: replace(host, depth=depth, before=before, since=now))

    async def renew(self, site: str, epoch: int) -> None:
        """Write a record again that would expire one day."""
        known = self._store.find(Kind.HOST, host_name(site)[0])
        if known is not None and known.expires_day < self._store.today + RENEW_DAYS:
            await self.change(site, epoch)


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
