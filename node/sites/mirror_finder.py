"""Finds hosts that are others under another name: the holder of a site's home slot decides, for the network.

The crawler's questions (`crawl/frontier/mirror_detector.py`) are put to the owners of the other host: they give the
visits of a few of its URLs and the digests of its pages. The decision goes into the site's host record, from which
every holder's crawler learns it.
"""

import asyncio
import logging
from collections.abc import Mapping

from msgspec.structs import replace

from crawl import CrawlControl, MirrorAlias, MirrorCandidate, Visit
from dht import Clock, Overlay, site_of, slot_of
from node.crawling.url_lookup import UrlLookup
from node.sites.host_book import said_of
from node.sites.host_records import HostRecords, HostRecordWriter
from store import host_name

LOOK_EVERY_S = 5.0  # a mirror is fetched meanwhile: a page a second
log = logging.getLogger(__name__)


class MirrorFinder:
    """Decides which sites at home here are mirrors of others, and writes that into their host records."""

    def __init__(
        self,
        overlay: Overlay,
        control: CrawlControl,
        known: UrlLookup,
        records: HostRecords,
        writer: HostRecordWriter,
        clock: Clock,
    ) -> None:
        self._overlay, self._known, self._mirrors = overlay, known, control.mirrors
        self._records, self._writer, self._clock = records, writer, clock

    async def run(self) -> None:
        """Look for mirrors again and again, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            await self.step()

    async def step(self) -> None:
        """Answer the crawler's questions."""
        done = set[str]()
        if spread := self._mirrors.sites.intersection(self._records.book.sites):
            await self._records.learn(spread)  # whoever crawls a part of a site learns of its aliases too
        for question in self._mirrors.due_candidates(self._clock().wall):
            if question.origin not in done and await self._decide(question):
                done.add(question.origin)
        for claim in self._mirrors.due_proofs():
            if self._mirrors.prove(claim, *await self._twins(claim)):
                log.info("host %s is a mirror of %s (confirmed); no longer crawled", claim.origin, claim.target)

    async def _decide(self, question: MirrorCandidate) -> bool:
        """Decide what an origin is; return whether that is news."""
        site = site_of(question.origin)
        epoch = self._epoch(site)
        if epoch is None:
            return False
        twins, digests = await self._twins(question)
        before = self._mirrors.in_force(question.origin)
        alias = self._mirrors.judge(question, twins, digests, self._clock().wall)
        if self._epoch(site) != epoch:
            return False
        if alias == before:
            await self._writer.renew(site, epoch)
            return False
        return await self._write(question, site, epoch, alias)

    async def _write(self, question: MirrorCandidate, site: str, epoch: int, alias: MirrorAlias | None) -> bool:
        said = [] if alias is None else [said_of(alias)]
        is_secure = question.origin.startswith("https:")
        host = await self._writer.change(
            site,
            epoch,
            lambda host: replace(host, aliases=(*(a for a in host.aliases if a.is_secure != is_secure), *said)),
        )
        if host is not None:
            what = "is an alias of" if alias is not None else "is no longer an alias of"
            log.info("host %s %s %s", question.origin, what, question.target)
        return host is not None

    async def _twins(self, question: MirrorCandidate) -> tuple[Mapping[str, Visit], Mapping[str, bytes]]:
        """Return what is known of the twins: their visits, and the digests of their pages."""
        urls = question.twins()
        visits = await self._known.find(urls) if urls else {}
        pages = await self._known.records(list(visits), content=False) if visits else {}
        return visits, {url: page.content_digest for url, page in pages.items()}

    def _epoch(self, site: str) -> int | None:
        """Return the epoch under which this node holds a site's home slot, None where it does not."""
        view = self._overlay.view
        return view.leases().get(slot_of(host_name(site)[1], view.strategy.slot_bits))
