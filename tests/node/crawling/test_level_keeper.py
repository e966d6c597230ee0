"""Two nodes that hold the same slot tell each other so: when they agree, when one lags, when one falls silent."""

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from dht import Done, Key, Message, NodeId, PeerTimeout, Slot, slot_of, slot_start
from index import YOUNG_S
from index.query.collection_statistics import IndexTotals, SlotTotals, YoungChange
from node.crawling.level_keeper import DOUBT_S, ENOUGH, GATHER_S, PUSH_EVERY_S, REFRESH_S, LevelKeeper
from node.crawling.slot_levels import LEVEL_S, UNLIKE_S, SlotAgreement, SlotDigests, SlotLevels
from node.extras.simulation.loop import SimLoop

A, B = NodeId(b"a" * 20), NodeId(b"b" * 20)
SLOTS = frozenset({Slot(1), Slot(2)})


class Counted(SlotTotals):
    """The totals of a slot's indexed documents; they count how often they are summed up."""

    def __init__(self, side: "Side", said: bytes) -> None:
        super().__init__(fingerprint=int.from_bytes(sha256(said).digest(), "big"))
        self.__dict__.update(side=side, said=said)

    side: "Side"
    said: bytes

    @property
    def fingerprint_bytes(self) -> bytes:
        self.side.sums += 1
        return super().fingerprint_bytes


class Side:
    """One node: its keeper over a store and an index that a test sets."""

    def __init__(self, town: "Town", me: NodeId) -> None:
        self.town, self.me = town, me
        self.view = self.peers = self
        self.node_id, self.strategy = me, SimpleNamespace(slot_bits=4, version=1)
        self.sequence, self.reached_to, self.documents = 0, 10**9, dict[Slot, bytes]()
        self.records, self.moved = dict[Slot, bytes](), list[tuple[int, Key]]()
        self.totals, self.sums = dict[Slot, Counted](), 0  # how often a slot's documents were summed up
        self.young = list[YoungChange]()  # changes of the index that are kept apart
        self.levels, clock = SlotLevels(), town.loop.clock()
        store: Any = SimpleNamespace(log=self, summary=self._summary)
        self.owed_now = 0
        self.sent: list[SlotDigests] = []
        overlay: Any = self
        replicator: Any = self
        changes: Any = self
        self.keeper = LevelKeeper(overlay, store, replicator, self._index(), changes, lambda: True, self.levels, clock)
        self.agreement = SlotAgreement(overlay, self.levels, clock)

    def _index(self) -> Any:
        def totals() -> IndexTotals:
            for slot in SLOTS:
                documents = self.documents.get(slot, b"")
                if slot not in self.totals or self.totals[slot].said != documents:
                    self.totals[slot] = Counted(self, documents)
            cells: Any = {slot << 12: each for slot, each in self.totals.items()}
            found = IndexTotals(cells, self.young)
            found._levels[4] = dict(self.totals)
            return found

        return SimpleNamespace(
            is_current=True,
            reached=lambda sequence: self.reached_to >= sequence,
            totals_by_slot=lambda: totals().at(4),
            newest_apart=lambda: totals().newest_young(4),
            fingerprint_until=lambda slot, instant: totals().fingerprint_until(slot, 4, instant),
            keep_apart=lambda since: None,
        )

    def listen(self, hear: Callable[[Any], None]) -> None:
        self.changed = hear

    def _summary(self, first: Key, last: Key) -> Any:
        return SimpleNamespace(fingerprint=sha256(first + self.records.get(slot_of(first, 4), b"")).digest())

    def left(self, after: int) -> frozenset[Key]:
        return frozenset(key for sequence, key in self.moved if sequence > after)

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (A, B)

    def owners_by_slot(self) -> list[tuple[NodeId, ...]]:
        return [(A, B)] * (max(SLOTS) + 1)

    ready_by_slot = owners_by_slot

    ready = candidates = live_owners = owners

    def ready_slots(self) -> frozenset[Slot]:
        return SLOTS

    def owned(self) -> frozenset[Slot]:
        return SLOTS

    def live(self) -> frozenset[NodeId]:
        return frozenset({A, B}) - self.town.dead

    def members(self) -> tuple[NodeId, ...]:
        return (A, B)

    def vanished(self) -> frozenset[NodeId]:
        return frozenset()

    def is_live(self, peer: NodeId) -> bool:
        return peer not in self.town.dead

    def silent_s(self, peer: NodeId) -> float | None:
        return self.town.silent_s.get(peer)

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        return True

    def serve(self, message: type[Message], handler: Callable[..., Awaitable[Message]]) -> None:
        self.hear = handler

    async def ask(self, peer: NodeId, message: SlotDigests, answer: type[Done], *, timeout_s: float) -> Message:
        self.sent.append(message)
        if peer in self.town.silent:
            raise PeerTimeout(peer.hex(), timeout_s)
        return await self.town.sides[peer].hear(self.me, message)

    def level(self) -> tuple[int, ...]:
        return self.agreement.of(sorted(SLOTS)).level


class Town:
    """A and B own slots 1 and 2."""

    def __init__(self) -> None:
        self.loop = SimLoop()
        self.dead, self.silent = set[NodeId](), set[NodeId]()
        self.silent_s = dict[NodeId, float]()
        self.sides: dict[NodeId, Side] = {}

    def live(self, scenario: Callable[[Side, Side], Awaitable[None]]) -> None:
        async def main() -> None:
            self.sides = {me: Side(self, me) for me in (A, B)}
            async with asyncio.TaskGroup() as tasks:
                running = [tasks.create_task(side.keeper.run()) for side in self.sides.values()]
                await asyncio.sleep(3 * PUSH_EVERY_S)
                await scenario(self.sides[A], self.sides[B])
                for task in running:
                    task.cancel()

        self.loop.run(main())


def test_equal_copies_are_level_and_settled_and_at_rest_little_is_said() -> None:
    async def scenario(a: Side, b: Side) -> None:
        assert (a.level(), b.level()) == ((3, 3), (3, 3))
        assert a.keeper.are_alike()
        said = len(a.sent)
        await asyncio.sleep(5 * REFRESH_S)
        assert len(a.sent) - said == 5
        assert a.level() == (3, 3)
        b.owed_now = 1
        await asyncio.sleep(REFRESH_S + PUSH_EVERY_S)
        assert not a.keeper.are_alike()

    Town().live(scenario)


def test_while_nothing_changes_nothing_is_summed_up_anew() -> None:
    async def scenario(a: Side, b: Side) -> None:
        await asyncio.sleep(2 * REFRESH_S)
        before, heard = a.sums, len(b.sent)
        await asyncio.sleep(5 * REFRESH_S)
        assert len(b.sent) > heard and a.sums == before, "what b said was compared with what is remembered"
        a.documents[Slot(1)] = b"more"
        await asyncio.sleep(2 * PUSH_EVERY_S)
        assert not b.keeper.are_alike() and a.sums > before

    Town().live(scenario)


def test_of_a_slot_that_goes_on_changing_a_peer_hears_at_once_and_then_now_and_then() -> None:
    async def scenario(a: Side, b: Side) -> None:
        await asyncio.sleep(REFRESH_S)
        said = len(a.sent)
        a.documents[Slot(1)] = b"first"
        await asyncio.sleep(PUSH_EVERY_S)
        assert len(a.sent) == said + 1
        for second in range(60):
            a.documents[Slot(1)] = str(second).encode()
            a.changed(SimpleNamespace(key=slot_start(Slot(1), 4)))
            await asyncio.sleep(1.0)
        assert 60 / (GATHER_S + PUSH_EVERY_S) <= len(a.sent) - said <= 60 / GATHER_S + 3
        b.documents |= a.documents
        await asyncio.sleep(2 * PUSH_EVERY_S)
        assert a.keeper.are_alike() and b.keeper.are_alike()
        assert len(SLOTS) < ENOUGH, "else it would not have been gathered"

    Town().live(scenario)


def test_copies_are_level_by_what_they_held_before_the_latest_pages() -> None:
    async def scenario(a: Side, b: Side) -> None:
        for side in (a, b):
            side.documents[Slot(1)] = b"more"
        await asyncio.sleep(2 * PUSH_EVERY_S)
        assert a.level() == b.level() == (3, 3)
        at = a.town.loop.clock()().wall
        more = int.from_bytes(sha256(b"more").digest(), "big")
        latest = int.from_bytes(sha256(b"latest").digest(), "big")
        a.documents[Slot(1)], a.young = b"latest", [YoungChange(at, Slot(1) << 12, latest - more)]
        await asyncio.sleep(2 * PUSH_EVERY_S)
        assert a.level() == b.level() == (3, 3) and not a.keeper.are_alike()
        await asyncio.sleep(UNLIKE_S + YOUNG_S + 2 * REFRESH_S)
        assert a.level() == (1, 3), "what was written long ago is no news any more"

    Town().live(scenario)


def test_nothing_is_settled_beside_an_owner_that_was_heard_of_just_now_and_does_not_answer() -> None:
    async def scenario(a: Side, b: Side) -> None:
        town = a.town
        assert a.keeper.are_alike()
        town.dead.add(B)
        town.silent_s[B] = DOUBT_S - 1
        b.documents[Slot(1)] = b"more"
        await asyncio.sleep(REFRESH_S)
        assert not a.keeper.are_alike(), "it may be there, and hold something else"
        town.silent_s[B] = DOUBT_S + 1
        assert a.keeper.are_alike(), "among those who are left"

    Town().live(scenario)


def test_a_copy_that_differs_is_said_within_seconds_and_is_unlike_after_a_while() -> None:
    async def scenario(a: Side, b: Side) -> None:
        b.documents[Slot(1)] = b"more"
        await asyncio.sleep(2 * PUSH_EVERY_S)
        assert not a.keeper.are_alike()
        await asyncio.sleep(UNLIKE_S + REFRESH_S)
        assert a.level() == (1, 3), "of its own copy alone it is sure"
        assert a.agreement.of([Slot(1), Slot(2)]).unlike == (1,)
        a.documents[Slot(1)] = b"more"
        await asyncio.sleep(2 * PUSH_EVERY_S)
        assert a.level() == (3, 3)

    Town().live(scenario)


def test_a_slot_that_records_left_for_another_is_summed_up_anew() -> None:
    """A move to another place of its site is a change of that place alone, and both slots have others' copies."""

    async def scenario(a: Side, b: Side) -> None:
        for side in (a, b):
            side.records[Slot(1)] = b"a page"
            side.sequence, side.moved = 1, [(1, slot_start(Slot(1), 4))]
            await asyncio.sleep(2 * PUSH_EVERY_S)
            assert a.keeper.are_alike() == (side is b), "one has moved it, then both"

    Town().live(scenario)


def test_who_is_not_heard_for_a_while_is_not_level_and_hears_everything_when_it_is_back() -> None:
    town = Town()

    async def scenario(a: Side, b: Side) -> None:
        town.silent |= {A, B}
        await asyncio.sleep(LEVEL_S + 1.0)
        assert (a.level(), b.level()) == ((1, 1), (2, 2))
        town.silent.clear()
        await asyncio.sleep(12.0)
        assert (a.level(), b.level()) == ((3, 3), (3, 3))
        town.dead.add(B)
        await asyncio.sleep(PUSH_EVERY_S)
        assert a.level() == (1, 1), "what a dead peer held says nothing of what was written since"

    town.live(scenario)


def test_a_node_whose_index_lags_counts_for_nobody_not_even_itself() -> None:
    async def scenario(a: Side, b: Side) -> None:
        a.sequence, a.reached_to = 100, 0
        await asyncio.sleep(2 * LEVEL_S)
        assert a.level() == (2, 2), "B has all, and A what B has"
        assert b.level() == (2, 2), "what A had long ago says nothing"

    Town().live(scenario)
