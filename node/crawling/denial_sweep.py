"""Sweeps off this node's disk what the strategy takes back, and says when it is gone.

It is also who tells the store which former versions of pages the strategy keeps.

Pages that the strategy denies are hidden and refused from the moment that it is in force (`store/record/denial.py`).
The sweep looks through all that lies here, once for each change of denials, also after a restart; index and
fingerprints follow from it. Of what a blocked node says became of a URL only the URL stays, as every owner words it
alike, so that somebody else fetches it. URLs that it only found go: it may have made them up.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence

from crawl import Visit, reach
from dht import Clock, Identity, Overlay, placement_key, shards
from node.crawling.ingest import visit_draft
from node.crawling.store_change_feed import visit_of
from store import Kind, Record, RecordStore, VersionPolicy, sign_package

log = logging.getLogger(__name__)
LOOK_EVERY_S = 1.0  # at the strategy in force
LONGEST_REST_S = 0.1  # between two parts; as long as a part took, so that half the loop's time is left to others
FIRST, LAST = bytes(20), b"\xff" * 20
NOTE = "denied"  # in the store: the mark of the denials whose sweep ended last


class DenialSweep:
    """Keeps a store free of what the strategy in force and the owners of sites take back."""

    def __init__(self, overlay: Overlay, store: RecordStore, identity: Identity, clock: Clock) -> None:
        self._overlay, self._store, self._identity, self._clock = overlay, store, identity, clock
        self._follow()
        self._removed: Mapping[str, tuple[str, ...]] = {}  # as swept last
        self._swept_sites: set[str] = set()
        self._done = store.tables.read_note(NOTE).decode()  # the mark of the denials whose sweep ended last
        self.count = 0
        """How many sweeps ended, or were given up: each took pages that may be allowed again."""

    def is_vanishing(self) -> bool:
        """Tell whether pages may be gone that an index somewhere still has."""
        return self._store.denial.is_vanishing(self._clock().steady)

    async def run(self) -> None:
        """Follow the strategy until cancelled."""
        denial = self._store.denial
        while True:
            self._follow()
            if denial.mark != self._done:
                await self._sweep(denial.mark)
            if denial.removed != self._removed:
                await self._sweep_sites(denial.removed)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _sweep(self, mark: str) -> None:
        """Take out what is denied now; given up where other denials come into force meanwhile."""
        denial, count, began = self._store.denial, 0, self._clock().steady
        for part in self._parts():
            self._follow()
            if denial.mark != mark:
                self.count += 1
                return
            if part:
                await self._take_out(part)
                count += len(part)
            now = self._clock().steady
            await asyncio.sleep(min(LONGEST_REST_S, now - began))
            began = self._clock().steady
        await self._store.tables.write_note(NOTE, mark.encode())
        self._done = mark
        self.count += 1
        log.info("records taken back count=%d strategy=%d", count, self._overlay.view.strategy.version)

    async def _sweep_sites(self, removed: Mapping[str, tuple[str, ...]]) -> None:
        """Take out what the owners of sites remove by now, and tell whose removals are others than before."""
        before, self._removed = self._removed, removed
        changed = {site for site in {*before, *removed} if before.get(site) != removed.get(site)}
        for site in sorted(changed & removed.keys()):
            for prefix in shards(site):
                for part in self._store.denied(prefix + FIRST[:10], prefix + LAST[:10]):
                    await self._store.forget(part, erased=True)
                await asyncio.sleep(0)
        self._swept_sites |= changed

    @property
    def has_sites(self) -> bool:
        """Whether removals changed since `take_sites`."""
        return bool(self._swept_sites)

    def take_sites(self) -> frozenset[str]:
        """Return the sites whose removals changed since this was last asked."""
        taken = frozenset(self._swept_sites)
        self._swept_sites.clear()
        return taken

    def _follow(self) -> None:
        strategy = self._overlay.view.strategy
        self._store.denial.follow(strategy, self._clock().steady)
        self._store.upkeep.keep_versions(VersionPolicy(strategy.former_last, strategy.former_days))

    def _parts(self) -> Iterator[list[Record]]:
        """Yield what is denied: pages first, of the hosts that rules name before others, for indexes wait for them."""
        if self._store.denial.mark:
            rules = self._overlay.view.strategy.rules
            for host in dict.fromkeys(rule.host for rule in rules if rule.action == "deny"):
                if host and not host.startswith("*."):
                    site = placement_key(f"http://{host}/")[:10]
                    yield from self._store.denied(site + FIRST[:10], site + LAST[:10])
            yield from self._store.denied(FIRST, LAST)
        if self._store.denial.judges_authors:
            yield from self._store.denied(FIRST, LAST, only=Kind.VISIT)

    async def _take_out(self, records: Sequence[Record]) -> None:
        denial = self._store.denial
        await self._store.forget(records, erased=True)
        for page in records:
            if page.kind == Kind.DOCUMENT and not denial.page_reason(page):  # its author is blocked, the page is not
                await self._store.show_former(page.id)
        outcomes = (record for record in records if record.kind == Kind.VISIT and record.version.epoch)
        visits = [(visit_of(record), record) for record in outcomes]
        found = [(Visit(v.url, v.depth, v.hops, scope=v.scope, is_sitemap=v.is_sitemap), r) for v, r in visits]
        drafts = [visit_draft(visit, 0, reach(visit), r.expires_day, r.key) for visit, r in found]
        if drafts:
            await self._store.put(sign_package(drafts, self._identity))
