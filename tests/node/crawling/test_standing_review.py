"""Who has a page fetched again of which an older version stands, and how often."""

from types import SimpleNamespace

from dht import Slot, slot_of
from node.crawling.standing_review import AGAIN_S, LOOKED_AT, StandingReview
from store import MemoryDisk, Record, RecordStore
from store.record.package import url_of
from store.record.standing_page import standing_draft
from tests.store.support import CONFIG, StillClock, draft, records

BITS = 4


class Crawler:
    """Takes down what it is told to fetch; `waits` says whether it has the URL."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.waits = True

    def fetch_anew(self, url: str) -> bool:
        self.told.append(url)
        return self.waits


class Story:
    """One node that holds all slots by strong grants."""

    def __init__(self) -> None:
        self.clock, self.crawler = StillClock(), Crawler()
        self.store = RecordStore(MemoryDisk(), CONFIG, self.clock)
        self.leases = {Slot(n): 1 for n in range(1 << BITS)}
        self.strong = set(self.leases)
        view = SimpleNamespace(leases=lambda: self.leases, strategy=SimpleNamespace(slot_bits=BITS))
        is_strong = lambda slot: slot in self.strong  # noqa: E731
        self.review = StandingReview(self.store, SimpleNamespace(view=view), self.crawler, is_strong, self.clock)  # type: ignore[arg-type]

    async def keep(self, number: int, at: float = -60.0) -> Record:
        """Keep a page of an instant that stands beside one of a minute later."""
        (page,) = records(draft(number, epoch=1, at=at))
        url = url_of(page)
        await self.store.put(records(standing_draft(page, url), draft(number, epoch=2, at=0.0)))
        return page

    def told(self) -> list[str]:
        self.crawler.told.clear()
        self.review.step()
        return list(self.crawler.told)


async def test_a_strong_holder_has_the_page_fetched_and_again_after_a_while() -> None:
    story = Story()
    url = url_of(await story.keep(1))
    assert story.told() == [url]
    story.clock.steady += AGAIN_S - 1.0
    assert story.told() == []
    story.clock.steady += 2.0
    assert story.told() == [url], "it stands still"


async def test_who_does_not_hold_it_by_most_owners_leave_fetches_nothing() -> None:
    story = Story()
    slot = slot_of((await story.keep(1)).key, BITS)
    story.strong.discard(slot)
    assert story.told() == []
    story.strong.add(slot)
    del story.leases[slot]
    assert story.told() == []


async def test_what_the_frontier_does_not_have_yet_is_told_again() -> None:
    story = Story()
    await story.keep(1)
    story.crawler.waits = False
    assert len(story.told()) == 1 == len(story.told())


async def test_a_page_that_was_fetched_since_waits_for_the_epoch_of_the_other_one() -> None:
    story = Story()
    await story.keep(1, at=60.0)
    assert story.told() == []


async def test_many_pages_are_looked_at_in_turns() -> None:
    story = Story()
    for number in range(LOOKED_AT + 10):
        await story.keep(number)
    assert (len(story.told()), len(story.told()), len(story.told())) == (LOOKED_AT, 10, 0)
