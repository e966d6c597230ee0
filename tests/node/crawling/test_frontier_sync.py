"""The index and the frontier see exactly what the store says, in the slots that they are meant for."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

from crawl import Visit, VisitState
from dht import Identity, Now, Strategy, document_id, placement_key, slot_of
from node.crawling.address_rules import AddressRules
from node.crawling.change_follower import LOOK_EVERY_S, ChangeFollower
from node.crawling.due_anew import DueAgain
from node.crawling.frontier_sync import FrontierSync
from node.crawling.ingest import visit_draft
from node.crawling.store_change_feed import StoreChangeFeed
from node.extras.simulation.loop import SimLoop
from store import Document, Draft, Kind, MemoryDisk, Record, RecordStore, StoreConfig, encode_document
from store.record.package import sign_package

DAY, BITS = 20_000, 4
CLOCK = Now(DAY * 86_400.0, 10.0)
NO_SWEEP = SimpleNamespace(count=0, has_sites=False, take_sites=frozenset)
NO_DOUBTS = SimpleNamespace(mark=None, is_any=False)
SIGNER = Identity(bytes(32))

STRATEGY = Strategy(network="00", version=1, effective_at=0, next_at=1, expires_at=1)


def open_store(disk: MemoryDisk | None = None) -> RecordStore:
    return RecordStore(disk or MemoryDisk(), StoreConfig(reserve_bytes=0), lambda: CLOCK)


def due(store: RecordStore) -> DueAgain:
    by_address = AddressRules(lambda: STRATEGY)
    return DueAgain(store, lambda _url: True, by_address, NO_SWEEP, NO_DOUBTS, lambda: CLOCK)  # type: ignore[arg-type]


def document(url: str, at_ms: int, *, gone: bool = False) -> Draft:
    body = encode_document(Document(url, at_ms / 1000, 404 if gone else 200, title=f"At {url}", gone=gone))
    return Draft(Kind.DOCUMENT, document_id(url), placement_key(url), 1, at_ms, DAY + 9, body, b"" if gone else b"x")


def drafted(visit: Visit, epoch: int, at_ms: int, expires_day: int) -> Draft:
    return visit_draft(visit, epoch, at_ms, expires_day, placement_key(visit.url))


async def put(store: RecordStore, *drafts: Draft) -> None:
    await store.put(sign_package(drafts, SIGNER))


async def test_the_feed_gives_documents_once_with_their_newest_version() -> None:
    store = open_store()
    feed = StoreChangeFeed(ChangeFollower(store), store)
    await put(store, document("http://a.test/1", 1), document("http://a.test/2", 1))
    await put(store, visit_draft(Visit("http://a.test/3", 2), 0, 2, DAY + 9, placement_key("http://a.test/3")))
    await put(store, document("http://a.test/2", 2, gone=True))
    changes, cursor = await feed.changes(b"", 100)
    assert {change.id: change.text and change.text.title for change in changes} == {
        document_id("http://a.test/1"): "At http://a.test/1",
        document_id("http://a.test/2"): None,
    }
    assert (await feed.changes(cursor, 100))[0] == []
    assert feed.knows(cursor) and feed.knows(b"")
    store.close()


async def test_a_cursor_of_another_store_is_not_known() -> None:
    one, other = open_store(), open_store()
    await put(one, document("http://a.test/1", 1))
    _, cursor = await StoreChangeFeed(ChangeFollower(one), one).changes(b"", 100)
    assert not StoreChangeFeed(ChangeFollower(other), other).knows(cursor)
    one.close()
    other.close()


@dataclass
class Frontier:
    """Writes down what it is told."""

    held: dict[int, int] = field(default_factory=dict)
    moved: int = 0
    seen: list[tuple[int, str, VisitState]] = field(default_factory=list)
    due: list[int] = field(default_factory=list)  # slots to be read again
    wanted: list[str] = field(default_factory=list)
    again: list[tuple[int, str, float]] = field(default_factory=list)

    def hold(self, slot: int, epoch: int, visits: list[Visit]) -> None:
        self.held[slot] = epoch
        assert not visits

    def release(self, slot: int) -> None:
        del self.held[slot]

    def move_in_flight(self, slot_of: Callable[[str], int]) -> None:
        self.moved += 1

    def recall(self, slot: int, visit: Visit) -> None:
        self.observe(slot, visit)

    def observe(self, slot: int, visit: Visit) -> None:
        self.seen.append((slot, visit.url, visit.state))

    def refill(self, slot: int, visit: Visit) -> None:
        self.again.append((slot, visit.url, visit.due_at))

    def take_refill(self) -> int | None:
        return self.due.pop() if self.due else None

    def take_wanted(self) -> list[str]:
        wanted, self.wanted = self.wanted, []
        return wanted


@dataclass
class Moves:
    """Sites that moved."""

    moved: set[str] = field(default_factory=set)

    def hear(self, record: Record) -> None: ...

    @property
    def has_moved(self) -> bool:
        return bool(self.moved)

    def take_moved(self) -> set[str]:
        moved, self.moved = self.moved, set()
        return moved


class Counted(FrontierSync):
    """Counts its steps."""

    steps = 0

    def step(self) -> bool:
        self.steps += 1
        return super().step()


async def test_the_frontier_is_rebuilt_when_a_lease_comes_and_follows_until_it_goes() -> None:
    store, frontier, leases = open_store(), Frontier(), {}
    view = SimpleNamespace(strategy=SimpleNamespace(slot_bits=BITS), leases=lambda: leases)
    places = SimpleNamespace(mark=0, key_of=placement_key)
    changes = ChangeFollower(store)
    sync = FrontierSync(frontier, store, SimpleNamespace(view=view), places, Moves(), due(store), changes)  # type: ignore[arg-type]
    url, other = "http://a.test/1", "http://c.test/1"
    mine, foreign = slot_of(placement_key(url), BITS), slot_of(placement_key(other), BITS)
    assert mine != foreign
    waiting = Visit(url, 2)
    await put(store, drafted(waiting, 0, 2, DAY + 9), drafted(Visit(other, 2), 0, 2, DAY + 9))
    leases[mine] = 5
    assert not sync.is_current, "what lies in the store is not in the frontier yet"
    sync.step()
    assert sync.is_current
    assert frontier.held == {mine: 5}
    assert frontier.seen == [(mine, url, VisitState.WAITING)]
    frontier.seen.clear()
    done = replace_state(waiting, VisitState.FETCHED)
    await put(store, drafted(done, 5, 7, DAY + 9), drafted(replace_state(Visit(other, 2), VisitState.GONE), 5, 7, DAY))
    assert not sync.is_current
    changes.step()
    assert sync.is_current
    assert frontier.seen == [(mine, url, VisitState.FETCHED)], "a slot that is not held does not concern this node"
    leases[mine] = 6
    sync.step()
    assert frontier.held == {mine: 6}, "another epoch is another hold"
    del leases[mine]
    sync.step()
    assert frontier.held == {}
    store.close()


async def test_a_slot_of_which_urls_are_due_that_had_no_room_is_read_again() -> None:
    store, frontier = open_store(), Frontier()
    mine = slot_of(placement_key("http://a.test/1"), BITS)
    view = SimpleNamespace(strategy=SimpleNamespace(slot_bits=BITS), leases=lambda: {mine: 5})
    places = SimpleNamespace(mark=0, key_of=placement_key)
    sync = FrontierSync(frontier, store, SimpleNamespace(view=view), places, Moves(), due(store), ChangeFollower(store))  # type: ignore[arg-type]
    urls = ["http://a.test/1", "http://a.test/2"]
    await put(store, *(drafted(Visit(url, 2), 0, 2, DAY + 9) for url in urls))
    await sync.tend()
    assert len(frontier.seen) == 2 and frontier.again == []
    frontier.due, frontier.wanted = [mine], [urls[1], "http://a.test/unknown"]
    await sync.tend()
    assert frontier.again[0] == (mine, urls[1], 0.0), "what is wanted comes at once"
    assert sorted(url for _, url, _ in frontier.again[1:]) == urls
    assert len(frontier.seen) == 2 and sync.is_current, "nothing is learned twice of its sites"
    store.close()


async def test_slots_are_filled_one_at_a_time_however_little_each_gives() -> None:
    """A look for visits passes over documents, and a node may have a million of these alone."""
    store, frontier = open_store(), Frontier()
    view = SimpleNamespace(strategy=SimpleNamespace(slot_bits=BITS), leases=lambda: dict.fromkeys(range(3), 5))
    places = SimpleNamespace(mark=0, key_of=placement_key)
    sync = FrontierSync(frontier, store, SimpleNamespace(view=view), places, Moves(), due(store), ChangeFollower(store))  # type: ignore[arg-type]
    assert [sync.step() for _ in range(3)] == [True, True, False]
    store.close()


def replace_state(visit: Visit, state: VisitState) -> Visit:
    return Visit(visit.url, visit.depth, state=state, visited_at=CLOCK.wall)


def test_an_idle_store_is_not_looked_at_and_what_comes_is_followed_at_once() -> None:
    loop = SimLoop()

    async def main() -> None:
        store, frontier, leases, moves = open_store(), Frontier(), {}, Moves()
        view = SimpleNamespace(strategy=SimpleNamespace(slot_bits=BITS), leases=lambda: leases)
        places = SimpleNamespace(mark=0, key_of=placement_key)
        changes = ChangeFollower(store)
        sync = Counted(frontier, store, SimpleNamespace(view=view), places, moves, due(store), changes)  # type: ignore[arg-type]
        url = "http://a.test/1"
        mine = slot_of(placement_key(url), BITS)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(changes.run())
            await asyncio.sleep(600.0)
            assert sync.steps == 1, "nothing came"
            leases[mine] = 5
            await asyncio.sleep(LOOK_EVERY_S)
            assert frontier.held == {mine: 5}
            await asyncio.sleep(600.0)
            steps = sync.steps
            assert steps <= 3
            await put(store, drafted(Visit(url, 2), 0, 2, DAY + 9))
            await asyncio.sleep(0.001)
            assert frontier.seen, "at once"
            await asyncio.sleep(600.0)
            assert sync.steps <= steps + 2
            moves.moved.add("a.test")
            await asyncio.sleep(LOOK_EVERY_S)
            assert frontier.moved == 1 and frontier.held == {mine: 5}, "given up and taken up anew"
            running.cancel()
        store.close()

    loop.run(main())
