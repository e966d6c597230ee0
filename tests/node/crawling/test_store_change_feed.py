"""The index learns of a page's text from the store's log, and of nothing that leaves it as it is."""

from crawl import Visit, VisitState
from dht import document_id
from index import Text
from node.crawling.store_change_feed import StoreChangeFeed
from store import Draft, Record, sign_package
from tests.node.crawling.test_frontier_sync import DAY, SIGNER, document, drafted, open_store

PORT = "http://port.test/times"
WAITS = drafted(Visit(PORT, 2), 0, 2, DAY + 9)


def fetched(at_ms: int, *, barred_at: float = 0.0) -> Draft:
    visit = Visit(PORT, 2, state=VisitState.FETCHED, visited_at=at_ms / 1000, barred_at=barred_at)
    return drafted(visit, 1, at_ms, DAY + 9)


class Followed:
    """A store, and what an index that follows it is told of the page."""

    def __init__(self) -> None:
        self.store, self.told = open_store(), list[Text | None]()
        self._feed, self._cursor = StoreChangeFeed(self.store), b""

    async def put(self, *drafts: Draft) -> Text | None:
        await self.store.put(list(map(signed, drafts)))
        return await self.follow()

    async def follow(self) -> Text | None:
        changes, self._cursor = await self._feed.changes(self._cursor, 100)
        assert all(change.id == document_id(PORT) for change in changes)
        self.told += [change.text for change in changes]
        return self.told[-1] if self.told else None


def signed(draft: Draft) -> Record:
    return sign_package([draft], SIGNER)[0]


async def test_a_url_that_nobody_has_fetched_is_not_searched() -> None:
    port = Followed()
    assert await port.put(WAITS) is None and not port.told
    port.store.close()


async def test_a_visit_that_changes_nothing_of_a_page_is_not_reported() -> None:
    port = Followed()
    assert await port.put(document(PORT, 5), WAITS) is not None
    await port.put(fetched(9))
    assert len(port.told) == 1
    port.store.close()


async def test_a_page_that_robots_txt_bars_is_searched_no_more_until_it_is_allowed_again() -> None:
    port = Followed()
    assert await port.put(document(PORT, 5), fetched(6)) is not None
    assert await port.put(fetched(7, barred_at=0.007)) is None
    assert await port.put(fetched(8, barred_at=-0.007)) is not None
    port.store.close()


async def test_what_goes_elsewhere_is_searched_here_no_more() -> None:
    port = Followed()
    assert await port.put(document(PORT, 5), WAITS) is not None
    await port.store.drop_range(bytes(20), b"\xff" * 20)
    assert await port.follow() is None
    port.store.close()
