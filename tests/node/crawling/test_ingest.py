"""Pages, links and outcomes of the crawler become records."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from crawl import Page, Visit, VisitState, decode_visit
from dht import SITE_BYTES, Key, Now
from node.crawling.ingest import DAY_S, KEEP_DOCUMENT_DAYS, Ingest
from node.service.service import may_be_shown
from store import Draft, Kind, decode_document

PAGE = Page("http://a.test/", 1.0, 200, (), b"x", "text/html", "", "", "t", (), "main", (), boilerplate="menu")
TODAY = 20_000


class Written:
    """Remembers what the store was given. Each site has owners of its own."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.writes = 0

    def have_same_owners(self, keys: Sequence[Key]) -> bool:
        return len({key[:SITE_BYTES] for key in keys}) == 1

    async def write(self, drafts: Sequence[Draft], *, is_patient: bool = True) -> None:
        self.drafts.extend(drafts)
        self.writes += 1


async def kept(page: Page) -> Draft:
    writer = Written()
    await Ingest(writer, lambda: Now(TODAY * DAY_S + 5.0, 0.0)).keep(page, 1)
    return writer.drafts[0]


@pytest.mark.parametrize(
    ("unavailable_at", "day"),
    [
        (0.0, TODAY + KEEP_DOCUMENT_DAYS),
        ((TODAY + 9.5) * DAY_S, TODAY + 9),
        ((TODAY + 9_999) * DAY_S, TODAY + KEEP_DOCUMENT_DAYS),
        (TODAY * DAY_S + 60.0, TODAY + 1),  # a record that expires today is none
    ],
)
async def test_a_page_expires_on_the_day_that_it_names(unavailable_at: float, day: int) -> None:
    assert (await kept(replace(PAGE, unavailable_at=unavailable_at))).expires_day == day


async def test_a_document_carries_what_its_author_lets_others_show() -> None:
    document = decode_document((await kept(replace(PAGE, noarchive=True, max_snippet=7))).body)
    assert (document.text, document.boilerplate, document.max_snippet) == ("main", "menu", 7)
    assert not may_be_shown(document)
    assert may_be_shown(decode_document((await kept(PAGE)).body))
    assert not may_be_shown(decode_document((await kept(replace(PAGE, gone=True))).body))


@pytest.mark.parametrize(("link", "is_together"), [("http://a.test/2", True), ("http://b.test/", False)])
async def test_an_outcome_goes_with_its_page_where_no_link_waits_for_other_owners(link: str, is_together: bool) -> None:
    writer, outcome = Written(), Visit(url=PAGE.url, depth=3, state=VisitState.FETCHED, visited_at=7.0)
    ingest = Ingest(writer, lambda: Now(TODAY * DAY_S + 5.0, 0.0))
    assert await ingest.keep(PAGE, 4, [Visit(url=link, depth=2)], outcome) == is_together
    assert writer.writes == 1
    told = [(decode_visit(draft.body).url, draft.epoch) for draft in writer.drafts if draft.kind == Kind.VISIT]
    assert told == [(link, 0), (PAGE.url, 4)][: 1 + is_together]
