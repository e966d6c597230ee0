"""Records that are dated in the future, or ask to be kept for too long, are passed over."""

from store import Kind, MemoryDisk
from tests.store.support import StillClock, draft, open_store, records


async def test_an_outcome_from_the_future_is_passed_over_and_a_found_url_is_not() -> None:
    store = open_store(MemoryDisk())
    ahead, undated = records(draft(1, at=121), draft(4, at=121, epoch=0))
    found, stale, eternal = records(
        draft(2, at=1e6, epoch=0, kind=Kind.VISIT), draft(3, days=-1), draft(5, days=10_000)
    )
    assert await store.put([ahead, undated, found, stale, eternal]) == 1
    assert "future" in store.refusals([ahead])[0] and "expires on day 19999" in store.refusals([stale])[0]
    store.close()


async def test_an_epoch_that_no_lease_can_have_is_passed_over() -> None:
    store = open_store(MemoryDisk())
    now = int(StillClock().wall)
    real, forged = records(draft(1, epoch=now + 86_400), draft(1, epoch=now + 90_000))
    assert "epoch" in store.refusals([forged])[0]
    assert await store.put([real, forged]) == 1
    assert store.find(Kind.DOCUMENT, real.id) == real
    store.close()
