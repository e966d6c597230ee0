"""The index learns of a page's text from the store's log, and of nothing that leaves it as it is."""

from hypothesis import given
from hypothesis import strategies as st

from crawl import Visit, VisitState
from dht import DocumentId, document_id
from index import Text
from node.crawling.change_follower import ChangeFollower
from node.crawling.store_change_feed import RecentPages, StoreChangeFeed
from store import Draft, MemoryDisk, Record, RecordStore, sign_package
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
        self._feed, self._cursor = StoreChangeFeed(ChangeFollower(self.store), self.store), b""

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


@given(st.lists(st.integers(0, 9)), st.integers(1, 5), st.integers(1, 4))
def test_of_pages_that_changed_lately_none_is_missed_and_each_comes_once(ids: list[int], most: int, limit: int) -> None:
    pages, since, told = RecentPages(0, most), 0, dict[DocumentId, int]()
    for sequence, id in enumerate(ids, 1):
        pages.note(DocumentId(bytes([id])), sequence)
    last = {bytes([id]): sequence for sequence, id in enumerate(ids, 1)}
    since = pages.since
    while found := pages.after(since, limit):
        assert len(found) <= limit
        told |= found
        since = found[-1][1]
    assert told == {id: sequence for id, sequence in last.items() if sequence > pages.since}
    assert list(told.values()) == sorted(told.values()) and len(told) == min(most, len(last))


async def read(store: RecordStore, feed: StoreChangeFeed, cursor: bytes, limit: int) -> tuple[list[str], bytes]:
    """Follow to the end of the log; return the titles of what is shown and the last cursor."""
    titles = list[str]()
    while True:
        changes, after = await feed.changes(cursor, limit)
        titles += [change.text.title for change in changes if change.text]
        if after == cursor:
            assert feed.lag(cursor) == 0
            return titles, cursor
        cursor = after


async def test_an_index_goes_on_after_a_restart_first_from_the_log_then_with_all_others() -> None:
    disk = MemoryDisk()
    store = open_store(disk)
    urls = [f"http://a.test/{n}" for n in range(6)]
    await store.put(list(map(signed, map(document, urls[:2], (5, 5)))))
    titles, cursor = await read(store, StoreChangeFeed(ChangeFollower(store), store), b"", 1)
    assert titles == [f"At {url}" for url in urls[:2]]
    await store.put(list(map(signed, map(document, urls[2:4], (5, 5)))))
    store.close()
    store = open_store(disk)
    changes = ChangeFollower(store)
    feed = StoreChangeFeed(changes, store)
    assert feed.knows(cursor)
    await store.put(list(map(signed, map(document, urls[3:], (6, 5, 5)))))
    titles, cursor = await read(store, feed, cursor, 1)
    assert titles == [f"At {url}" for url in urls[2:]], "each once, whether it came before the start or after it"
    assert changes.is_current, "who reads the log reads it for all"
    store.close()


async def test_a_cursor_before_forgotten_removals_is_not_known() -> None:
    store = open_store()
    feed = StoreChangeFeed(ChangeFollower(store), store)
    await store.put([signed(document("http://a.test/1", 5))])
    _, cursor = await read(store, feed, b"", 9)
    for days in (30, 120):  # it expires, and that is forgotten
        await store.upkeep.expire(DAY + days)
    assert not feed.knows(cursor)
    _, cursor = await read(store, feed, b"", 9)
    assert feed.knows(cursor)
    store.close()
