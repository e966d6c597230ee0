"""The terms of a page, made by the process that parsed it, are those that its owners find in its document."""

from collections.abc import Sequence

from msgspec.structs import replace

from crawl import CrawlConfig, ParseTask, open_parsers
from crawl.content.parse_task import ParseResult
from crawl.content.robots_directives import RobotsDirectives
from crawl.fetch.response import Fetched
from crawl.pipeline.page_builder import page_of, parse_task_of
from dht import Identity, Now
from index.text.analyzer_rules import NEWEST_ANALYZER
from index.text.page_terms import digest_of_terms
from node.crawling.ingest import Ingest
from node.crawling.page_analysis import analyse_page
from node.crawling.store_change_feed import shown_text
from store import Draft, RecordDenial, sign_package

CONFIG = CrawlConfig(parser_processes=1)
HTML = b"""<html lang=de><title>Fahrplan &amp; Preise</title><nav><a href=/x>Menu</a></nav>
<main><h1>F\xc3\xa4hren nach Sansibar</h1><p>Die F\xc3\xa4hre f\xc3\xa4hrt t\xc3\xa4glich um 9.30 Uhr.</main>"""
FETCHED = Fetched("http://a.test/f%C3%A4hren?seite=2", 200, (("Content-Type", "text/html"),), HTML, False, 0.1, "")


class Written:
    """Remembers what the store was given."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []

    async def write(self, drafts: Sequence[Draft]) -> None:
        self.drafts.extend(drafts)


async def parsed(*tasks: ParseTask) -> list[ParseResult]:
    async with open_parsers(CONFIG, analyse_page) as parsers:
        return [await parsers.parse(task) for task in tasks]


async def test_owners_find_the_terms_that_the_parser_process_made() -> None:
    task = replace(parse_task_of(FETCHED, CONFIG), analyzer=NEWEST_ANALYZER.number)
    [found] = await parsed(task)
    page, written = page_of(FETCHED, found, 1e9, RobotsDirectives()), Written()
    await Ingest(written, lambda: Now(1e9, 0.0)).keep(page, 1)
    [draft] = written.drafts
    text = shown_text(sign_package([draft], Identity(bytes(32)))[0], None, RecordDenial())
    assert text is not None
    assert draft.terms is not None
    assert (draft.terms.digest, draft.terms.analyzer) == (digest_of_terms(text, NEWEST_ANALYZER), task.analyzer)


async def test_terms_are_made_of_what_is_news_where_the_task_asks_for_them() -> None:
    plain = parse_task_of(FETCHED, CONFIG)
    asked = replace(plain, analyzer=NEWEST_ANALYZER.number)
    [first] = await parsed(plain)
    known = replace(asked, last_fingerprint=first.fingerprint)
    changed = replace(known, body=HTML.replace(b"9.30", b"10.30"))
    unknown = replace(asked, analyzer=NEWEST_ANALYZER.number + 1)
    assert [each.terms is not None for each in await parsed(plain, asked, known, changed, unknown)] == [
        False, True, False, True, False,
    ]  # fmt: skip
