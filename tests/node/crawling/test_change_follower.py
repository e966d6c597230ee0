"""All that keep up with the store hear of each change once, in order, and share what was read and decoded for it."""

import asyncio
import cProfile
import pstats

from crawl import Visit, VisitState
from node.crawling.change_follower import BATCH, ENOUGH, LOOK_EVERY_S, REST_S, ChangedRecord, ChangeFollower
from node.extras.simulation.census import is_settled, take_census
from node.extras.simulation.loop import SimLoop
from node.extras.simulation.world import World, WorldPlan
from store import Kind, RecordStore
from tests.node.crawling.test_frontier_sync import DAY, document, drafted, open_store, put
from tests.sim.simulated import simulated

HERE = "node/crawling/change_follower.py"


class Ear:
    """Writes down what it hears; it finds more to do at once so many times."""

    def __init__(self, store: RecordStore, *, more: int = 0) -> None:
        self.heard, self.tended, self.more = list[ChangedRecord](), 0, more
        self.changes = ChangeFollower(store)
        self.changes.listen(self.heard.append, self._tend)

    async def _tend(self) -> bool:
        self.tended += 1
        self.more -= 1
        return self.more >= 0


async def find_urls(store: RecordStore, first: int, count: int) -> None:
    await put(store, *(drafted(Visit(f"http://a.test/{n}", 2), 0, 2, DAY + 9) for n in range(first, first + count)))


async def test_each_change_since_the_start_is_handed_on_once_in_order() -> None:
    store = open_store()
    await find_urls(store, 0, 1)
    ear = Ear(store)
    assert ear.changes.is_current and not ear.changes.step(), "what lay there before is no change"
    await put(store, document("http://a.test/1", 1), document("http://a.test/2", 1))
    await put(store, document("http://a.test/1", 2))
    assert not ear.changes.is_current and not ear.changes.step()
    assert [each.url for each in ear.heard] == ["http://a.test/2", "http://a.test/1"], "coalesced by their last change"
    await store.drop_range(bytes(20), b"\xff" * 20)
    ear.changes.step()
    assert [each.record for each in ear.heard[2:]] == [None] * 3 and all(each.removed for each in ear.heard[2:])
    assert [each.sequence for each in ear.heard] == sorted(each.sequence for each in ear.heard)
    store.close()


async def test_records_are_read_when_they_are_asked_for_and_decoded_once() -> None:
    store = open_store()
    ear = Ear(store)
    outcome = Visit("http://a.test/1", 2, state=VisitState.FETCHED, visited_at=5.0)
    await put(store, document("http://a.test/1", 5), drafted(outcome, 1, 6_000, DAY + 9))
    ear.changes.step()
    page, visit = sorted(ear.heard, key=lambda each: each.kind)
    assert page.document is not None and page.document.url == page.url and page.document is page.document
    assert page.visit is None and visit.document is None
    assert visit.visit == outcome and visit.record is not None
    assert ear.changes.visits.of(visit.record) is visit.visit, "remembered for whoever comes later"
    assert page.proven is not None and page.proven.proof.author
    store.close()


async def test_a_long_log_is_handed_on_in_batches() -> None:
    store = open_store()
    ear = Ear(store)
    await find_urls(store, 0, BATCH + 1)
    assert ear.changes.step() and len(ear.heard) == BATCH
    assert not ear.changes.step() and len(ear.heard) == BATCH + 1
    store.close()


async def test_what_the_log_has_forgotten_at_its_end_is_not_waited_for() -> None:
    store = open_store()
    ear = Ear(store)
    await put(store, drafted(Visit("http://a.test/1", 2), 0, 2, DAY + 1))
    for days in (3, 80):  # it expires, and that is forgotten
        await store.upkeep.expire(DAY + days)
    assert store.log.sequence and not store.log.changes(0, 10)
    assert not ear.changes.step() and ear.changes.is_current
    store.close()


def test_an_idle_store_is_followed_at_once_and_a_busy_one_by_the_number_of_changes() -> None:
    loop = SimLoop()

    async def main() -> None:
        store = open_store()
        ear = Ear(store, more=3)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(ear.changes.run())
            await asyncio.sleep(0.001)
            assert ear.tended == 4, "again at once while there is more to do"
            await asyncio.sleep(10 * LOOK_EVERY_S)
            assert ear.tended <= 14
            await find_urls(store, 0, 1)
            await asyncio.sleep(0.001)
            assert len(ear.heard) == 1
            await find_urls(store, 1, 1)
            await asyncio.sleep(0.001)
            assert len(ear.heard) == 1, "what comes now is gathered"
            await find_urls(store, 2, ENOUGH)
            await asyncio.sleep(0.001)
            assert len(ear.heard) == ENOUGH + 2
            await find_urls(store, ENOUGH + 2, 1)
            await asyncio.sleep(REST_S)
            assert len(ear.heard) == ENOUGH + 3
            running.cancel()
        store.close()

    loop.run(main())


@simulated(WorldPlan(hosts=4, pages=6, slot_bits=4))
async def test_in_a_network_every_outcome_and_page_is_decoded_once_at_each_owner(world: World) -> None:
    await world.add(2)
    await world.pass_time(20.0)
    profile = cProfile.Profile()
    profile.enable()
    await world.crawl()
    await world.pass_time(20.0)
    await world.until(lambda: is_settled(world.running()), 1800.0)
    profile.disable()
    logs = [node.node_core.store.records.log.changes(0, 1000) for node in world.running()]
    outcomes, pages = (
        sum(change.kind == kind for log in logs for change in log) for kind in (Kind.VISIT, Kind.DOCUMENT)
    )
    found = len(take_census(world.running()).visits)
    visits, documents = callers(profile, "decode_visit"), callers(profile, "decode_document")
    assert set(visits) == {(HERE, "of"), ("node/crawling/store_change_feed.py", "visit_flaw")}, "and when they come in"
    assert visits[HERE, "of"] == outcomes + found, "outcomes at each owner, found URLs at the holder of their lease"
    assert documents["node/crawling/is_shown.py", "shown_document"] == pages


def callers(profile: cProfile.Profile, name: str) -> dict[tuple[str, str], int]:
    """The functions that called one, by file and name, and how often."""
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    called = next(entry for function, entry in stats.items() if function[2] == name)
    return {("/".join(file.split("/")[-3:]), who): counts[0] for (file, _, who), counts in called[4].items()}
