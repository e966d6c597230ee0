"""A scrub reads all that lies on the disk, and what it finds damaged comes back from others."""

import asyncio
import dataclasses
import random
import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from store import Kind, MemoryDisk, RecordStore
from store.catalog.scrub import (
    DAY_S,
    LONGEST_REST_S,
    MOST_BYTES_S,
    SHORTEST_REST_S,
    STEP_BYTES,
    ScrubPass,
    asked_pass,
    is_over,
    period_of,
    rest_s,
)  # fmt: skip
from store.catalog.store_check import check_store
from store.segments.file_system import Disk, FolderDisk
from tests.faults.test_damaged_records import watched
from tests.store.network import Net, Node, in_network
from tests.store.replication.test_replicator import complete
from tests.store.support import CONFIG, WALL, StillClock, draft, random_draft, records

PERIOD_S = 30.0 * DAY_S
SMALL = dataclasses.replace(CONFIG, segment_bytes=400_000)


def opened(disk: Disk) -> RecordStore:
    return RecordStore(disk, SMALL, StillClock())


async def one_pass(store: RecordStore, now: float, *, most: int = 10_000) -> float:
    """Let a whole pass go by and return when it ended."""
    ended = store.scrub.status().ended_at
    for _ in range(most):
        now += max(0.25, 6 * await store.scrub.step(PERIOD_S, now))
        if store.scrub.status().ended_at > ended:
            return now
    raise AssertionError("the pass never ended")


async def passed(node: Node) -> None:
    """Let a running node's pass come to its end, overdue as after a long absence."""
    scrub, loop = node.store.scrub, asyncio.get_running_loop()
    ended = scrub.status().ended_at
    for _ in range(10_000):
        if scrub.status().ended_at > ended:
            return
        await asyncio.sleep(min(1.0, await scrub.step(1.0, WALL + loop.time())))
    raise AssertionError("the pass never ended")


async def filled(store: RecordStore) -> None:
    for first in range(0, 200, 20):
        await store.put([r for n in range(first, first + 20) for r in records(random_draft(n, 12_000))])
    await store.put(records(*(draft(n, kind=Kind.VISIT) for n in range(300))))


async def test_a_sound_store_is_read_once_in_a_period_and_nothing_is_found(disk: Disk) -> None:
    store = opened(disk)
    await filled(store)
    began = WALL
    ended = await one_pass(store, began)
    status = store.scrub.status()
    assert PERIOD_S <= ended - began <= PERIOD_S + 10_000
    assert (status.found_before, status.lost) == (0, 0) and not await store.upkeep.judge_unreadable(store.today)
    store.close()


async def test_a_pass_goes_on_where_it_was_after_a_restart(tmp_path: Path) -> None:
    store = opened(FolderDisk(tmp_path))
    await filled(store)
    now = WALL
    while not 0.4 < store.scrub.status().share < 0.7:
        now += max(0.25, await store.scrub.step(PERIOD_S, now))
    share = store.scrub.status().share
    store.close()
    again = opened(FolderDisk(tmp_path))
    assert again.scrub.status().share == share and again.scrub.status().begun_at == WALL
    assert await one_pass(again, now) - WALL <= PERIOD_S + 10_000
    again.close()


async def test_an_index_that_leads_to_another_record_is_found_and_the_row_goes(tmp_path: Path) -> None:
    store = opened(FolderDisk(tmp_path))
    await filled(store)
    store.close()
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as index, index:
        index.execute("UPDATE records SET at_ms = at_ms + 1 WHERE sequence = 20")
        (id,) = index.execute("SELECT id FROM records WHERE sequence = 20").fetchone()
    store = opened(FolderDisk(tmp_path))
    await one_pass(store, WALL)
    assert store.scrub.status().found_before == 1 and len(await store.upkeep.judge_unreadable(store.today)) == 1
    assert store.find(Kind.DOCUMENT, id) is None and store.summary(bytes(20), b"\xff" * 20).documents == 199
    store.close()


async def test_what_is_damaged_where_nothing_lives_costs_nothing_and_is_rewritten(tmp_path: Path) -> None:
    store = opened(FolderDisk(tmp_path))
    await filled(store)
    await store.put(records(draft(0, at=9.0)))
    segment = tmp_path / "segment-00000001"
    data = bytearray(segment.read_bytes())
    data[6000] ^= 1  # in the former version of page 0, which nothing leads to any more
    segment.write_bytes(data)
    await one_pass(store, WALL)
    assert store.scrub.status().found_before == 0 and not await store.upkeep.judge_unreadable(store.today)
    await store.upkeep.compact()
    assert not segment.exists() and store.summary(bytes(20), b"\xff" * 20).documents == 200
    store.close()
    assert check_store(tmp_path).flaws == []


@in_network(3)
async def test_a_thousand_flipped_bits_are_all_found_and_healed_from_owners(net: Net) -> None:
    net.config(segment_bytes=200_000, tend_every_s=5.0)
    await net.start(3)
    drafts = [draft(n) if n % 3 else random_draft(n, 6000) for n in range(300)]
    visits = [draft(n, kind=Kind.VISIT) for n in range(1000, 1300)]
    for first in range(0, 300, 60):
        await net.list[0].replicator.write(drafts[first : first + 60])
    await net.list[0].replicator.write(visits)
    await net.list[0].replicator.write([draft(n, at=3.0) for n in range(60)])
    drafts[:60] = [draft(n, at=3.0) for n in range(60)]
    wanted = drafts + visits
    await net.until(lambda: complete(net, wanted))
    hurt, rng = net.list[0], random.Random(13)
    assert isinstance(hurt.disk, MemoryDisk)
    faults, running = watched(hurt), hurt.task
    names = [name for name in hurt.disk.names() if name.startswith("segment-")]
    sizes = [hurt.disk.size(name) for name in names]
    for name in rng.choices(names, sizes, k=1000):
        data = hurt.disk._files[name]
        data[rng.randrange(16, len(data))] ^= 1 << rng.randrange(8)
    for _ in range(2):  # what this pass had read before is read by the next
        await passed(hurt)
    found = hurt.store.scrub.status()
    assert found.lost > 150, "much of what lives was hit"
    await net.until(lambda: hurt.own_ready and not len(hurt.store._unreadable) and complete(net, wanted), 600)
    healed = hurt.store.scrub.status()
    assert healed.lost == healed.healed == found.lost
    for d in wanted:
        held = hurt.store.find(d.kind, d.id)
        assert held is not None and held.body == d.body and held.content == d.content
    assert hurt.task is running and not running.done(), "the node stayed up"
    await net.until(lambda: faults.present() == ())
    await hurt.store.upkeep.compact()
    await passed(hurt)
    await passed(hurt)
    status = hurt.store.scrub.status()
    assert status.lost == found.lost and status.found_before == 0, "nothing damaged stays"


@in_network(3)
async def test_an_operator_has_all_read_at_once_at_the_bound_and_may_ask_twice(net: Net) -> None:
    await net.start(3)
    drafts = [random_draft(n, 40_000) for n in range(100)]
    await net.list[0].replicator.write(drafts)
    await net.until(lambda: complete(net, drafts))
    await asyncio.sleep(10.0)  # others have asked for samples of what they gave, which would find damage, too
    hurt, loop = net.list[0], asyncio.get_running_loop()
    assert isinstance(hurt.disk, MemoryDisk)
    data = hurt.disk._files["segment-00000001"]
    for place in (300_000, 1_500_000, 3_000_000):
        data[place] ^= 1
    await asyncio.sleep(30.0)  # it rests for minutes at a time
    assert hurt.store.scrub.status().share < 0.3
    began = loop.time()
    hurt.replicator.scrub_now()
    asked_at = hurt.store.scrub.status().asked_at
    await net.until(lambda: hurt.store.scrub.status().share > 0.5, 10.0)
    hurt.replicator.scrub_now()
    await net.until(lambda: hurt.store.scrub.status().read_at > 0.0, 10.0)
    assert loop.time() - began >= len(data) / MOST_BYTES_S - 0.5
    status = hurt.store.scrub.status()
    assert status.asked_at == asked_at and status.share == 1.0 and status.read_records >= 100
    await net.until(lambda: not hurt.store.scrub.status().open and complete(net, drafts), 60.0)
    status = hurt.store.scrub.status()
    assert status.damaged == status.came_back >= 3, "records lie several in a frame"
    hurt.replicator.scrub_now()
    status = hurt.store.scrub.status()
    assert (status.read_at, status.damaged, status.came_back) == (0.0, 0, 0), "the next one begins anew"
    await net.until(lambda: hurt.store.scrub.status().read_at > 0.0, 20.0)
    assert not hurt.store.scrub.status().damaged


async def test_a_pass_that_was_asked_for_goes_on_at_once_after_a_restart(tmp_path: Path) -> None:
    store = opened(FolderDisk(tmp_path))
    await filled(store)
    assert store.scrub.ask(WALL) and not store.scrub.ask(WALL + 1.0)
    assert await store.scrub.step(PERIOD_S, WALL + 1.0) == SHORTEST_REST_S
    store.close()
    again = opened(FolderDisk(tmp_path))
    assert again.scrub.status().asked_at == WALL and not again.scrub.ask(WALL + 2.0)
    while not again.scrub.status().read_at:
        assert await again.scrub.step(PERIOD_S, WALL + 3.0) >= SHORTEST_REST_S
    assert again.scrub.status().read_records >= 500
    again.close()


def passes(total: int, period_s: float, began: float, now: float) -> tuple[float, float]:
    """Read a store of so many bytes from a moment on; returns when the pass ended and the least pause."""
    state, least = ScrubPass(began), float("inf")
    while not is_over(state, total - state.read_bytes, period_s, now):
        if (rest := rest_s(state, total - state.read_bytes, period_s, now)) > 0:
            now += rest
            continue
        state = replace(state, read_bytes=min(total, state.read_bytes + STEP_BYTES))
        rest = rest_s(state, total - state.read_bytes, period_s, now) or STEP_BYTES / MOST_BYTES_S
        least = min(least, rest)
        now += rest
    return now, least


def test_every_node_reads_all_in_25_to_35_days_and_each_in_another_time() -> None:
    rng = random.Random(1)
    periods = [period_of(rng.randbytes(20)) for _ in range(200)]
    assert all(25 * DAY_S <= period <= 35 * DAY_S for period in periods) and len(set(periods)) == 200
    assert max(periods) - min(periods) > 9 * DAY_S


def test_a_pass_ends_with_its_period_and_is_spread_over_it() -> None:
    period = 30.0 * DAY_S
    ended, least = passes(400 * STEP_BYTES, period, 1000.0, 1000.0)
    assert 0 <= ended - 1000.0 - period <= LONGEST_REST_S and least == LONGEST_REST_S


def test_who_was_away_catches_up_at_no_more_than_the_bound() -> None:
    period, late = 30.0 * DAY_S, 40.0 * DAY_S
    ended, least = passes(400 * STEP_BYTES, period, 0.0, late)
    assert least == STEP_BYTES / MOST_BYTES_S and ended - late == 400 * STEP_BYTES / MOST_BYTES_S


def test_an_empty_store_and_a_clock_that_goes_back_start_no_race() -> None:
    assert rest_s(ScrubPass(1000.0), 0, 30.0 * DAY_S, 1000.0) == LONGEST_REST_S
    assert rest_s(ScrubPass(1e9), 10_000, 30.0 * DAY_S, 0.0) == LONGEST_REST_S


def test_a_pass_that_was_asked_for_waits_for_nothing_until_all_is_read_and_is_begun_once() -> None:
    before = ScrubPass(5.0, 7, 9, 100, found=3, ended_at=4.0, found_before=2)
    asked = asked_pass(before, 50.0)
    assert (asked.begun_at, asked.segment, asked.found, asked.ended_at, asked.found_before) == (50.0, 0, 0, 4.0, 2)
    assert rest_s(asked, 1, 30.0 * DAY_S, 50.0) == 0.0
    assert asked_pass(asked, 60.0) is asked, "it goes on as it is"
    done = replace(asked, read_bytes=100, read_at=70.0)
    assert rest_s(done, 1, 30.0 * DAY_S, 70.0) == LONGEST_REST_S, "what is written later has time"
    assert asked_pass(done, 80.0).asked_at == 80.0
