"""Says how far a crawl is that somebody handed in: the state of each URL, and what was found there to go on with.

No list of jobs is kept anywhere. A client begins with the seeds and follows the links of stored pages, and of sitemaps,
as the crawler did. The links of a page are with their owners before its outcome is written: a link that no owner knows
once its page is done was not taken.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawl import (
    Decide,
    Trail,
    Visit,
    VisitState,
    admit_urls,
    allowed_depth,
    is_canonical,
    scope_after_redirect,
)
from dht import Clock
from node.api.crawl import Followed, UrlProgress

if TYPE_CHECKING:  # verbs that ask a node for progress need none of it
    from node.crawling.url_lookup import UrlLookup
    from node.jobs.sitemap_listing import SitemapListing

MAX_ASKED = 250  # URLs in one question: their pages are read for their links


class JobProgress:
    """Answers what became of URLs anywhere in the network."""

    def __init__(self, known: "UrlLookup", lists: "SitemapListing", decide: Decide, clock: Clock) -> None:
        self._known, self._lists, self._decide, self._clock = known, lists, decide, clock

    async def answer(self, asked: Sequence[Followed]) -> list[UrlProgress]:
        """Return what became of each URL, in order."""
        visits = await self._known.find([each.url for each in asked if is_canonical(each.url)])
        parents = [each.url for each in asked if each.depth > 0 and _state(visits.get(each.url)) == VisitState.FETCHED]
        pages = await self._known.documents(parents)
        links: dict[str, Sequence[str]] = {url: [link for link, _ in page.links] for url, page in pages.items()}
        sitemaps = [url for url, visit in visits.items() if visit.is_sitemap and visit.state == VisitState.FETCHED]
        links |= {url: await self._lists.find(url) for url in sitemaps}
        return [self._answer(each, visits.get(each.url), links.get(each.url, [])) for each in asked]

    def _answer(self, asked: Followed, visit: Visit | None, links: Sequence[str]) -> UrlProgress:
        if visit is None:
            return UrlProgress(asked.url, "unknown", "", [])
        found: list[Visit] = []
        if visit.state == VisitState.REDIRECT and is_canonical(visit.target):  # a stranger may have written it
            trail = Trail(asked.depth, 0, scope_after_redirect(asked.scope, visit.url, visit.target))
            found = self._found([visit.target], trail)
        elif visit.is_sitemap:
            found = self._found(links, Trail(asked.depth, 0, asked.scope))
        elif links:
            depth = allowed_depth(asked.depth, self._decide(asked.url))
            found = self._found(links, Trail(depth - 1, 0, asked.scope)) if depth > 0 else []
        following = [Followed(each.url, each.depth, each.scope) for each in found]
        return UrlProgress(asked.url, VisitState(visit.state).name.lower(), visit.reason, following)

    def _found(self, urls: Sequence[str], trail: Trail) -> list[Visit]:
        return admit_urls(filter(is_canonical, urls), trail, self._decide)[0]


def _state(visit: Visit | None) -> VisitState | None:
    return visit.state if visit is not None else None
