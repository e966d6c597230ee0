"""Finds hosts that are others under another name: the holder of a site's home slot decides, for the network.

What its crawler wants to know (`crawl/frontier/mirror_detector.py`) is asked of the owners of the other host: visits
of a few of its URLs, and of pages that say not quite the same the documents, whose signatures tell. The answer goes
into the site's host record, from which every holder's crawler hears of it.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from msgspec.structs import replace

from crawl import SAMPLE_EVERY_S, CrawlControl, MirrorCandidate, Visit
from dht import Clock, Overlay, site_of, slot_of
from node.crawling.url_lookup import UrlLookup
from node.sites.host_book import said_of
from node.sites.host_record_writer import HostRecordWriter
from node.sites.host_records import HostRecords
from store import host_name

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often mirrors are looked for, and a URL of each is fetched, in seconds."""

    look_every_s: float = 5.0  # a mirror is fetched meanwhile: a page a second
    sample_every_s: float = SAMPLE_EVERY_S


class MirrorFinder:
    """Decides which sites at home here are mirrors of others, and writes that into their host records."""

    def __init__(
        self,
        bounds: Sampling,
        overlay: Overlay,
        control: CrawlControl,
        known: UrlLookup,
        records: HostRecords,
        writer: HostRecordWriter,
        clock: Clock,
        rng: Random,
    ) -> None:
        self._bounds, self._overlay, self._control, self._known = bounds, overlay, control, known
        self._mirrors, self._records, self._writer = control.mirrors, records, writer
        self._clock, self._rng = clock, rng

    async def run(self) -> None:
        """Look for mirrors again and again, until cancelled."""
        while True:
            await asyncio.sleep(self._bounds.look_every_s * self._rng.uniform(0.75, 1.25))
            await self.step()

    async def step(self) -> None:
        """Ask what the crawler wants to know, and have some URLs of aliases fetched."""
        aliases, done = self._mirrors, set[str]()
        if spread := aliases.sites.intersection(self._records.book.sites):
            await self._records.learn(spread)  # whoever crawls a part of a site hears of its aliases too
        for question in aliases.due_candidates(self._clock().wall):
            if question.origin not in done and await self._decide(question):
                done.add(question.origin)
        for claim in aliases.due_proofs():
            await self._prove(claim)
        for url in aliases.due_samples(self._clock().wall):
            self._control.refetch(url)

    async def _decide(self, question: MirrorCandidate) -> bool:
        """Decide what an origin is; return whether that is news."""
        site = site_of(question.origin)
        epoch = self._epoch(site)
        if epoch is None:
            return False
        visits = await self._twins(question)
        unlike = question.unlike(visits)
        pages = await self._known.documents(unlike) if unlike else {}
        before = self._mirrors.in_force(question.origin)
        alias = self._mirrors.judge(
            question, visits, {url: page.signature for url, page in pages.items()}, self._clock().wall
        )
        if self._epoch(site) != epoch:
            return False
        if alias == before:
            await self._writer.renew(site, epoch)
            return False
        said = [] if alias is None else [said_of(alias)]
        is_secure = question.origin.startswith("https:")
        host = await self._writer.change(
            site,
            epoch,
            lambda host: replace(host, aliases=(*(a for a in host.aliases if a.is_secure != is_secure), *said)),
        )
        if host is not None:
            what = "is an alias of" if alias is not None else "is no alias any more of"
            log.info("host %s %s %s", question.origin, what, question.target)
        return host is not None

    async def _prove(self, claim: MirrorCandidate) -> None:
        """Compare this node's own answers of an alias that a host record names with what is known of its twins."""
        visits = await self._known.find(claim.twins())
        unlike = claim.unlike(visits)
        pages = await self._known.documents(unlike) if unlike else {}
        if self._mirrors.prove(claim, visits, {url: page.signature for url, page in pages.items()}):
            log.info("host %s is left to %s: own answers bear it out", claim.origin, claim.target)

    async def _twins(self, question: MirrorCandidate) -> Mapping[str, Visit]:
        """Return what is known of the twins, as far as it matters."""
        first = self._mirrors.first_twins(question)
        found = await self._known.find(first) if first else {}
        rest = question.twins()[len(first) :] if found else []
        return {**found, **await self._known.find(rest)} if rest else found

    def _epoch(self, site: str) -> int | None:
        """Return the epoch under which this node holds a site's home slot, None where it does not."""
        view = self._overlay.view
        return view.leases().get(slot_of(host_name(site)[1], view.strategy.slot_bits))
