"""What the index hears of a URL that other sites call something: the same at all who have the same records."""

from itertools import permutations

from crawl import Visit, VisitState
from dht import document_id, placement_key
from index import Text
from node.crawling.store_change_feed import StoreChangeFeed
from store import Anchor, Draft, Kind, Record, anchor_id, encode_anchor, sign_package
from tests.node.crawling.test_frontier_sync import DAY, SIGNER, document, drafted, open_store

PORT = "http://port.test/times"
WAITS = drafted(Visit(PORT, 2), 0, 2, DAY + 9)
FAILED = drafted(Visit(PORT, 2, state=VisitState.FAILED, visited_at=0.001), 1, 1, DAY + 9)


def anchor(source: str, text: str, at_ms: int = 1) -> Draft:
    id, domain = document_id(PORT), source.split("/")[2]
    body = encode_anchor(Anchor(PORT, source, text))
    return Draft(Kind.ANCHOR, anchor_id(id, domain), placement_key(PORT), 1, at_ms, DAY + 9, body)


ONE, TWO = anchor("http://one.test/", "ferry times"), anchor("http://two.test/", "zanzibar ferry")


class Followed:
    """A store, and what an index that follows it has of the page."""

    def __init__(self) -> None:
        self.store = open_store()
        self._feed, self._cursor, self.text = StoreChangeFeed(self.store), b"", None

    async def put(self, *drafts: Draft) -> Text | None:
        await self.store.put(list(map(signed, drafts)))
        return await self.follow()

    async def follow(self) -> Text | None:
        changes, self._cursor = await self._feed.changes(self._cursor, 100)
        for change in changes:
            assert change.id == document_id(PORT)
            self.text = change.text
        return self.text


def signed(draft: Draft) -> Record:
    return sign_package([draft], SIGNER)[0]


async def test_a_url_that_waits_is_searched_once_two_sites_call_it_something() -> None:
    port = Followed()
    assert await port.put(ONE, WAITS) is None
    text = await port.put(TWO)
    assert text is not None and not text.is_fetched
    assert (text.url, text.title, sorted(text.anchors)) == (PORT, "", ["ferry times", "zanzibar ferry"])
    assert await port.put(anchor("http://two.test/", "", 2)) is None, "its link is gone"
    assert await port.put(anchor("http://two.test/", "boats", 3)) is not None
    assert await port.put(FAILED) is None, "nobody is there"
    text = await port.put(document(PORT, 5))
    assert text is not None and text.is_fetched and len(text.anchors) == 2
    port.store.close()


async def test_the_order_in_which_records_come_changes_nothing() -> None:
    seen = set[Text | None]()
    for drafts in permutations([ONE, TWO, document(PORT, 5), WAITS]):
        port = Followed()
        for draft in drafts:
            await port.put(draft)
        seen.add(port.text)
        port.store.close()
    (text,) = seen
    assert text is not None
    plain = Followed()
    bare = await plain.put(document(PORT, 5))
    assert bare is not None and bare.version != text.version, "anchors are of the version"
    plain.store.close()


async def test_what_goes_elsewhere_is_searched_here_no_more() -> None:
    port = Followed()
    assert await port.put(ONE, TWO, WAITS) is not None
    await port.store.drop_range(bytes(20), b"\xff" * 20)
    assert await port.follow() is None
    port.store.close()


async def test_a_page_whose_anchors_come_one_by_one_is_told_once_in_a_batch() -> None:
    port = Followed()
    feed, known, cursor, told = StoreChangeFeed(port.store), dict[bytes, int](), b"", list[Text | None]()
    await port.store.put(list(map(signed, [document(PORT, 5), WAITS])))
    for source in ("one", "two", "six", "ten"):
        await port.store.put([signed(anchor(f"http://{source}.test/", source))])

    async def follow() -> None:
        nonlocal cursor
        while True:
            changes, after = await feed.changes(cursor, 1, known)
            told.extend(change.text for change in changes)
            if after == cursor:
                return
            cursor = after

    await follow()
    assert [text and len(text.anchors) for text in told] == [4]
    await port.store.put([signed(anchor("http://new.test/", "new"))])
    await follow()
    assert [text and len(text.anchors) for text in told] == [4, 5], "what came since is told"
    await port.store.put([signed(drafted(Visit(PORT, 2, state=VisitState.FETCHED, visited_at=9.0), 1, 9, DAY + 9))])
    await follow()
    assert len(told) == 2, "that its URL was visited says nothing new of a page that is here"
    port.store.close()
