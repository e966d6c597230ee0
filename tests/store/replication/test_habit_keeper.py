"""A node that starts again judges the silent by the habits that it saw before."""

import asyncio
import logging

import pytest

from dht import NodeId
from store import RecordStore
from store.disk.file_system import MemoryDisk
from store.replication.absences import HEARD_S, LAPTOP_S, RETURNS, STABLE_S, Absences
from store.replication.habit_keeper import NOTE, NOTE_EVERY_S, HabitKeeper
from tests.store.network import CONFIG, Net, network, simulate, steady_clock

LAPTOP, OTHER = NodeId(b"l" * 20), NodeId(b"o" * 20)
NIGHT_S = 20 * 3600.0  # longer than anyone expects of an unknown laptop


def look(absences: Absences, now: float, *away: NodeId) -> None:
    everyone = (LAPTOP, OTHER)
    absences.refresh(now, everyone, frozenset(everyone).difference(away), is_stable=lambda peer: peer != LAPTOP)


def nights(absences: Absences, count: int) -> None:
    look(absences, 0.0)
    for night in range(count):
        look(absences, 100.0 + night * 2 * NIGHT_S, LAPTOP)
        look(absences, 100.0 + night * 2 * NIGHT_S + NIGHT_S)


async def kept(disk: MemoryDisk, count: int) -> None:
    """A run of a node that sees so many nights of a laptop, and ends without a word."""
    keeper = HabitKeeper(store := RecordStore(disk, CONFIG, steady_clock))
    running = asyncio.ensure_future(keeper.run())  # noqa: TID251 - the test owns it
    nights(keeper.absences, count)
    await asyncio.sleep(NOTE_EVERY_S + 1.0)
    running.cancel()
    store.close()
    disk.crash()


def test_a_restarted_node_judges_a_silent_laptop_by_its_kept_habit() -> None:
    async def story() -> None:
        await kept(disk := MemoryDisk(), RETURNS)
        absences = HabitKeeper(RecordStore(disk, CONFIG, steady_clock)).absences
        look(absences, 0.0, LAPTOP)
        assert absences.is_back_soon(2 * NIGHT_S - 1, LAPTOP, is_stable=False, is_urgent=False)
        assert not absences.is_back_soon(2 * NIGHT_S, LAPTOP, is_stable=False, is_urgent=False)
        unknown = NodeId(b"u" * 20)
        assert absences.expected_s(unknown, is_stable=False) == 2 * NIGHT_S, "other laptops are taken to sleep alike"
        assert absences.expected_s(unknown, is_stable=True) == STABLE_S

    simulate(story())


def test_nights_of_two_runs_make_one_habit() -> None:
    async def story() -> None:
        disk = MemoryDisk()
        for run in range(RETURNS):
            store = RecordStore(disk, CONFIG, steady_clock)
            limit = HabitKeeper(store).absences.expected_s(LAPTOP, is_stable=False)
            store.close()
            assert limit == LAPTOP_S, f"after {run} nights"
            await kept(disk, 1)
        assert (
            HabitKeeper(RecordStore(disk, CONFIG, steady_clock)).absences.expected_s(LAPTOP, is_stable=False) > LAPTOP_S
        )

    simulate(story())


@pytest.mark.parametrize("nonsense", [b"\xc1", "no note", 5, bytes(1 << 20), b"\x93\x01\x91\x92\xa0\x91\x05\x90"])
def test_nonsense_in_the_note_is_ignored_and_said_in_the_log(
    nonsense: object, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        store = RecordStore(MemoryDisk(), CONFIG, steady_clock)
        await store.change(lambda base: base.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (NOTE, nonsense)))
        with caplog.at_level(logging.WARNING):
            keeper = HabitKeeper(store)
        assert "habits of silence of earlier runs are ignored" in caplog.text
        assert keeper.absences.expected_s(LAPTOP, is_stable=False) == LAPTOP_S
        nights(keeper.absences, RETURNS)
        assert keeper.absences.expected_s(LAPTOP, is_stable=False) == 2 * NIGHT_S, "and learned anew"

    simulate(story())


def test_a_silence_from_before_the_start_is_no_absence_of_the_others() -> None:
    absences, off_s = Absences(), 8 * 3600.0
    everyone = (LAPTOP, OTHER)
    for now, live in ((0.0, ()), (5.0, (OTHER,)), (HEARD_S, (OTHER,)), (HEARD_S + 3600.0, everyone)):
        heard_s = off_s if now < HEARD_S else 600.0 + now  # by then others have told when they heard it last
        absences.refresh(now, everyone, frozenset(live), lambda peer, s=heard_s: s)  # type: ignore[misc]
    assert list(absences.habits().lasted_s) == [LAPTOP], "the other was silent because this node did not run"
    assert absences.habits().lasted_s[LAPTOP][0] < 600.0 + HEARD_S + 3600.0


def test_a_node_started_anew_waits_for_a_machine_that_it_saw_come_back_before_it_started() -> None:
    async def story(net: Net) -> None:
        net.config(step_s=5.0, deliver_every_s=60.0, reconcile_every_s=3600.0)
        for node in net.list:
            node.start()
        await net.all_ready()
        await asyncio.sleep(HEARD_S)
        sleeper, watcher = net.list[0], net.list[1]
        for _ in range(RETURNS):
            sleeper.kill()
            await asyncio.sleep(STABLE_S + 100.0)
            sleeper.start()
            await net.all_ready()
        await asyncio.sleep(NOTE_EVERY_S)
        watcher.kill()
        await asyncio.sleep(0)
        watcher.start()
        await net.all_ready()
        sleeper.kill()
        await asyncio.sleep(STABLE_S + 100.0)
        assert watcher.replicator.status().copies.oldest_s == 0, "it is expected back"
        await asyncio.sleep(STABLE_S + 200.0)
        assert watcher.replicator.status().copies.oldest_s > 0, "and not for ever"

    network(4, story)
