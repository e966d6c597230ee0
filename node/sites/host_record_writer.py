"""Writes host records: who holds a site's home slot changes one thing of what its record says, and keeps the rest."""

import asyncio
import logging
from collections.abc import Callable

from msgspec.structs import replace

from dht import Clock, RemoteError
from node.sites.host_book import HostBook
from store import Draft, HostRecord, Kind, RecordStore, Replicator, decode_host, encode_host, host_name, host_url

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
