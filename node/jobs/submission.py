"""Takes URLs that people hand in: checks each, gives it its scope, and hands it to its owners, or only says what would
be done."""

import asyncio
from collections.abc import Callable, Sequence

from crawl import (
    MAX_SCOPE_CHARS,
    BadUrl,
    ScopeKind,
    Visit,
    VisitState,
    canonical_url,
    exclusion,
    is_within,
    public_suffixes,
    reach,
    scope_for,
)
from dht import Clock
from node.api.crawl import Crawled, Refused, Seed
from node.crawling.fetch_rules import FetchRules
from node.crawling.typed_address import bad_url_text
from node.crawling.url_lookup import UrlLookup
from node.errors import NoRoom
from node.jobs.cancellation import CANCELLED
from node.jobs.resubmission import Resubmission
from node.jobs.seed_publisher import SeedPublisher

EXCLUDED = "excluded by this job"


class Submission:
    """Takes seeds from people.

    `waiting_for`: names the silent members that are needed for a write; `no_room`: says why nobody here has room for
    what is written, "" where somebody may.
    """

    def __init__(
        self,
        seeds: SeedPublisher,
        waiting_for: Callable[[], str],
        rules: FetchRules,
        known: UrlLookup,
        resubmission: Resubmission,
        clock: Clock,
        no_room: Callable[[], str],
    ) -> None:
        self._no_room = no_room
        self._seeds, self._rules, self._known, self._clock = seeds, rules, known, clock
        self._resubmission, self._waiting_for = resubmission, waiting_for

    async def crawl(
        self,
        urls: Sequence[str],
        sitemaps: Sequence[str],
        depth: int,
        scope: ScopeKind,
        dry_run: bool,
        exclude: Sequence[str] = (),
    ) -> Crawled:
        """Hand in pages and sitemaps; a dry run writes nothing. A known seed is not fetched anew. `exclude`: patterns
        of URLs that this job leaves out. Raises BadExclude, and NoRoom."""
        left_out = exclusion(exclude)
        if scope == "domain":
            await asyncio.to_thread(public_suffixes)  # read once; too slow for the loop
        found: dict[str, Visit] = {}
        refused = list[Refused]()
        for text, is_sitemap in [*((url, False) for url in urls), *((url, True) for url in sitemaps)]:
            try:
                url = canonical_url(text)
            except BadUrl as error:
                refused.append(Refused(text, bad_url_text(text, error)))
                continue
            bounds = scope_for(scope, url) + left_out
            if reason := _exclusion_reason(bounds, url) or self._refusal(url):
                refused.append(Refused(text, reason))
            elif url not in found or is_sitemap:
                found[url] = Visit(url, depth, scope=bounds, is_sitemap=is_sitemap)
        seeds = list(found.values())
        if seeds and not dry_run and (reason := self._no_room()):
            raise NoRoom(reason)
        known = await self._known.find(list(found))
        shown = [_seed(visit, known.get(visit.url)) for visit in seeds]
        old = [visit for visit, seed in zip(seeds, shown, strict=True) if seed.known]
        cancelled = {visit.url for visit in known.values() if visit.reason == CANCELLED}
        is_safe = not seeds or dry_run or await self._seeds.publish(seeds)
        if dry_run:
            behind, is_all = await self._resubmission.count(old, cancelled), True
        else:
            behind, is_all = await self._resubmission.follow(old, cancelled)
        waits = "" if is_safe else self._wait_reason()
        return Crawled(len(seeds), refused, shown, behind, not is_all, waits, dry_run)

    def _wait_reason(self) -> str:
        """Say for what seeds wait that too few owners keep."""
        silent = self._waiting_for() or "other members that keep this part of the network"
        return f"taken, and kept by too few nodes as yet; fetched when enough answer: waits for {silent}"

    def _refusal(self, url: str) -> str:
        """Say why a canonical URL is not handed in, "" where it is."""
        if refusal := self._rules.refusals.reason(url):
            return f"refused by this node's {refusal}; another node takes it"
        return self._rules.denied(url)


def _exclusion_reason(bounds: str, url: str) -> str:
    """Say why a job does not take its own seed, "" where it does. `bounds`: the seed's scope."""
    if len(bounds) > MAX_SCOPE_CHARS:
        return f"its prefix and the patterns to exclude have more than {MAX_SCOPE_CHARS:,} characters; use scope host"
    return "" if is_within(bounds, url) else EXCLUDED


def _seed(visit: Visit, known: Visit | None) -> Seed:
    return Seed(visit.url, visit.scope, visit.is_sitemap, _known_as(visit, known))


def _known_as(seed: Visit, known: Visit | None) -> str:
    """Return the known state of a seed's URL, such as "fetched" or "refused: robots", where the seed changes nothing;
    "" where it is news. A seed is news where its URL is unknown, or still waits with a smaller reach."""
    if known is None or (known.state == VisitState.WAITING and reach(seed) > reach(known)):
        return ""
    return f"{known.state.name.lower()}: {known.reason}" if known.reason else known.state.name.lower()
