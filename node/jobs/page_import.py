"""Takes pages that somebody brings from an archive: each is parsed, judged as a crawl would, and written to its owners.

One call takes what one request holds, and says of each page what became of it. A page that could not be written now is
named as such, and is brought again. Nothing is lost or doubled by that: a version is the same whenever it comes.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256

from crawl import (
    UNWANTED_REASONS,
    CrawlConfig,
    Page,
    PageUnreadable,
    Parsers,
    Visit,
    gone_page,
    parse_task_of,
)
from dht import Clock, InputError, Overlay, RemoteError
from node.api.documents import BroughtPage
from node.captures.capture import Capture
from node.captures.imported_page import GONE, capture_flaw, imported_page, origin_of, response_flaw, response_of
from node.crawling.fetch_rules import FetchRules
from node.crawling.ingest import Ingest
from node.crawling.url_lookup import UrlLookup
from node.errors import NotJoined
from node.jobs.seed_publisher import SeedPublisher
from store import Draft, Replicator, Version, digest_of

WITHIN_S = 25.0  # then a call answers with what there is; a request may take 30 s
NOTHING = Version(0, -1, b"")
LATER = BroughtPage("later", "it was not its turn yet")


class CaptureReader:
    """Parses captures as a crawl parses pages."""

    def __init__(self, config: CrawlConfig, parsers: Parsers, clock: Clock) -> None:
        self._config, self._parsers, self._clock = config, parsers, clock

    async def read(self, capture: Capture) -> tuple[Page | None, str]:
        """Return a capture's page, if it is one at all, and why it is not to be found, or ""."""
        response = response_of(capture)
        if flaw := response_flaw(response, self._config):
            return None, flaw
        try:
            parsed = await self._parsers.parse(parse_task_of(response, self._config))
        except PageUnreadable as error:
            return None, error.reason
        return imported_page(capture, response, parsed, self._clock().wall, self._config)


class PageImport:
    """Brings pages into the network in the name of this node."""

    def __init__(
        self,
        overlay: Overlay,
        reader: CaptureReader,
        replicator: Replicator,
        ingest: Ingest,
        known: UrlLookup,
        rules: FetchRules,
        seeds: SeedPublisher,
        clock: Clock,
    ) -> None:
        self._overlay, self._reader, self._rules, self._clock = overlay, reader, rules, clock
        self._replicator, self._ingest, self._known, self._seeds = replicator, ingest, known, seeds

    async def take(
        self, captures: Sequence[Capture], file: str, *, is_dry: bool, crawls: bool
    ) -> Sequence[BroughtPage]:
        """Take captures of a file; with `is_dry` write nothing, with `crawls` have their URLs fetched, too. Raises
        NotImporter, and NotJoined where this node is apart from its network or no member."""
        self._check_right()
        states: list[BroughtPage] = [LATER] * len(captures)
        flaws = [self._flaw(capture) for capture in captures]
        urls = {n: response_of(captures[n]).url for n, flaw in enumerate(flaws) if not flaw}
        try:
            async with asyncio.timeout(WITHIN_S):
                stored = await self._known.records(list(dict.fromkeys(urls.values())), content=False)
                newest = {url: record.version for url, record in stored.items()}
                async with asyncio.TaskGroup() as tasks:
                    for n, capture in enumerate(captures):
                        if flaws[n]:
                            states[n] = BroughtPage("refused", flaws[n])
                        else:
                            take = self._take(capture, file, newest, states, n, is_dry=is_dry, crawls=crawls)
                            tasks.create_task(take, name="page-import")
        except TimeoutError:
            pass
        return states

    def _check_right(self) -> None:
        view = self._overlay.view
        if reason := view.why_apart():
            raise NotJoined(reason)
        if view.node_id not in view.members():
            raise NotJoined("this node is not a member of its network (yet): only members import pages")
        self._replicator.check_import_right()

    def _flaw(self, capture: Capture) -> str:
        """Why a capture is refused before it is looked into, "" where it is not."""
        now = self._clock().wall
        if flaw := capture_flaw(capture, now):
            return flaw
        url = response_of(capture).url
        if self._rules.refusals.reason(url):
            return "refused by this node: crawl.refuse"
        return self._rules.denied(url)

    async def _take(
        self,
        capture: Capture,
        file: str,
        newest: dict[str, Version],
        states: list[BroughtPage],
        n: int,
        *,
        is_dry: bool,
        crawls: bool,
    ) -> None:
        """Take one page and put down what became of it. `newest`: the highest version of each URL, so far."""
        draft, reason = await self._draft(capture, file, newest)
        if draft is None:
            states[n] = BroughtPage("refused", reason)
            return
        url = response_of(capture).url
        version, before = _version(draft), newest.get(url, NOTHING)
        newest[url] = max(version, before)
        try:
            if not is_dry and version != before:
                await self._ingest.write([draft])
            if crawls and not is_dry:
                await self._seeds.publish([Visit(url, 0)])
        except RemoteError as error:
            states[n] = BroughtPage("later", str(error))
        except InputError as error:
            states[n] = BroughtPage("refused", str(error))
        else:
            is_known = version == before or version.at_ms == before.at_ms  # exported from here, and brought back
            state = BroughtPage("known" if is_known else "older" if version < before else "taken")
            states[n] = BroughtPage("refused", reason) if reason else state

    async def _draft(self, capture: Capture, file: str, newest: dict[str, Version]) -> tuple[Draft | None, str]:
        """Return the draft to write for a capture, None where there is none, and the reason why the capture is refused,
        "" where it is a page. Both come together where an unwanted page (`UNWANTED`) erases an older import. It never
        erases a page that was fetched.

        `file`: the archive file of the capture. `newest`: the newest known version by URL."""
        page, reason = await self._reader.read(capture)
        if page is None:
            url = response_of(capture).url
            before, is_telling = newest.get(url, NOTHING), reason in UNWANTED
            if before == NOTHING or before.epoch or not is_telling:
                return None, reason
            page = gone_page(url, capture.status, capture.captured_at)
        draft = self._ingest.imported(page, origin_of(capture, file))
        if flaw := self._replicator.refusal(draft):
            return None, flaw
        if reason and _version(draft) < newest[page.url]:
            return None, reason
        return draft, reason


UNWANTED = frozenset((*UNWANTED_REASONS, *(f"status {status}" for status in GONE)))


def _version(draft: Draft) -> Version:
    digest = draft.content_digest or sha256(draft.content).digest()
    return Version(draft.epoch, draft.at_ms, digest_of(draft.body, digest))
