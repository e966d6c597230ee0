"""A page that is stored while its outcome is not is read from the disk, or waited for."""

import pytest
from msgspec.structs import replace

from crawl import Visit, VisitState
from dht import Identity, Now, document_id, placement_key
from node.crawling.ingest import document_of
from node.crawling.unfinished_fetches import OTHERS_S, OWN_S, UnfinishedFetches
from store import Draft, Kind, MemoryDisk, RecordStore, StoreConfig, encode_document, sign_package
from tests.node.crawling.test_ingest import PAGE

ME, OTHER = Identity(b"m" * 32), Identity(b"o" * 32)
AT = 1_700_000_000.0
WAITING = Visit(PAGE.url, 3)
FETCHED = replace(WAITING, state=VisitState.FETCHED, visited_at=AT - 1.0)  # the page was parsed after that


async def unfinished(after_s: float, *, author: Identity = ME, epoch: int = 4) -> UnfinishedFetches:
    """A node that has stored a page of this author so many seconds ago."""
    store = RecordStore(MemoryDisk(), StoreConfig(reserve_bytes=0), clock := lambda: Now(AT + after_s, after_s))
    body, key = encode_document(document_of(replace(PAGE, fetched_at=AT))), placement_key(PAGE.url)
    day = int(AT // 86_400) + 300
    draft = Draft(Kind.DOCUMENT, document_id(PAGE.url), key, epoch, int(AT * 1000), day, body, b"<p>x")
    await store.put(sign_package([draft], author))
    return UnfinishedFetches(store, ME.node_id, clock)


async def test_an_own_page_is_read_from_the_disk() -> None:
    found = (await unfinished(300.0)).read(WAITING)
    assert found is not None and (found.url, found.status, found.body) == (PAGE.url, 200, b"<p>x")
    assert (await unfinished(300.0)).postponed(WAITING) is None


async def test_a_page_of_another_is_waited_for() -> None:
    later = (await unfinished(120.0, author=OTHER)).postponed(WAITING)
    assert later is not None and AT + 120.0 < later.due_at <= AT + OTHERS_S
    assert (await unfinished(120.0, author=OTHER)).read(WAITING) is None


@pytest.mark.parametrize(
    ("visit", "after_s", "author", "epoch"),
    [
        (FETCHED, 300.0, ME, 4),
        (FETCHED, 300.0, OTHER, 4),
        (WAITING, OWN_S + 1.0, ME, 4),
        (WAITING, OTHERS_S + 1.0, OTHER, 4),
        (WAITING, 300.0, OTHER, 0),  # an import
        (replace(WAITING, url="http://a.test/2"), 300.0, ME, 4),
    ],
)
async def test_all_others_are_fetched(visit: Visit, after_s: float, author: Identity, epoch: int) -> None:
    fetches = await unfinished(after_s, author=author, epoch=epoch)
    assert fetches.read(visit) is None and fetches.postponed(visit) is None
