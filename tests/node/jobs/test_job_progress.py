"""The outcome of a URL is reported, whatever its record claims about where it leads."""

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from crawl import CrawlDecision, Visit, VisitState
from dht import Now
from node.api.crawl import Followed
from node.crawling.url_lookup import UrlLookup
from node.jobs.job_progress import JobProgress
from node.jobs.sitemap_listing import SitemapListing
from store import Document

MOVED = "http://a.test/old"


class Known:
    """One redirect, as whoever held its slot's lease wrote it."""

    def __init__(self, target: str) -> None:
        self._target = target

    async def find(self, urls: Sequence[str]) -> Mapping[str, Visit]:
        return {MOVED: Visit(MOVED, 2, state=VisitState.REDIRECT, target=self._target)}

    async def documents(self, urls: Sequence[str]) -> Mapping[str, Document]:
        return {}


@pytest.mark.parametrize(
    ("target", "found"),
    [("http://a.test/new", ["http://a.test/new"]), ("http://[/", []), ("http://a:b/", []), ("", [])],
)
async def test_a_redirect_to_no_url_leads_nowhere(target: str, found: list[str]) -> None:
    known, lists = cast(UrlLookup, Known(target)), cast(SitemapListing, None)
    progress = JobProgress(known, lists, lambda url: CrawlDecision(True), lambda: Now(1e9, 0.0))
    (answer,) = await progress.answer([Followed(MOVED, 2, "a.test")])
    assert (answer.state, [each.url for each in answer.found]) == ("redirect", found)
