"""Former versions of pages stay on one disk as the policy says, whatever order they come in and whatever is lost."""

import random
from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace

from dht import Identity
from store import Document, Kind, MemoryDisk, Record, RecordStore, encode_document
from store.catalog.store_check import check_store
from store.catalog.version_filing import THINNED_AT_ONCE
from store.record.former_page import KEPT_DAYS, VersionPolicy, erasure_of, filed, former_of, page_in
from store.segments.file_system import Disk
from tests.store.support import CONFIG, DAY, WALL, StillClock, draft, records, url

DAY_S = 86_400.0
POLICY = VersionPolicy(last=2, days=365)


@lru_cache(1 << 12)
def author(number: int) -> Identity:
    return Identity(number.to_bytes(32, "big"))


def page(at: float, number: int = 1, *, by: int = -1, **said: object) -> Record:
    """Return a page as it was so many seconds after the clock's start; each version is by another author, or by author
    `by`."""
    document = replace(Document(url(number), WALL + at, 200, text=f"text at {at}"), **said)
    content = b"" if said.get("gone") else f"<p>at {at}".encode()
    made = replace(draft(number, at=at, days=KEPT_DAYS + int(at // DAY_S)), body=encode_document(document))
    return records(replace(made, content=content), signer=author(by if by >= 0 else 1000 + int(at)))[0]


def opened(disk: Disk, clock: StillClock | None = None, policy: VersionPolicy = POLICY) -> RecordStore:
    store = RecordStore(disk, CONFIG, clock or StillClock(WALL + 400.0))
    store.upkeep.keep_versions(policy)
    return store


def kept(store: RecordStore, number: int = 1) -> list[str]:
    """The contents of a page's former versions, oldest first."""
    found = [store.find(Kind.FORMER, id) for id in store.formers(page(0.0, number).id)]
    assert all(each == former_of(page_in(each)) for each in found if each)
    return [(each.content or b"").decode() for each in found if each]


def shown(store: RecordStore) -> str:
    found = store.find(Kind.DOCUMENT, page(0.0).id)
    return "" if found is None else (found.content or b"").decode()


def fingerprint(store: RecordStore) -> bytes:
    return store.summary(bytes(20), b"\xff" * 20).fingerprint


async def test_what_a_newer_version_replaces_is_kept_beside_it(disk: Disk) -> None:
    store = opened(disk)
    assert [await store.put([page(at)]) for at in (0.0, 100.0, 200.0)] == [1, 1, 1]
    assert shown(store) == "<p>at 200.0" and kept(store) == ["<p>at 0.0", "<p>at 100.0"]
    assert await store.put([page(100.0), page(200.0), page(0.0)]) == 0, "all of it is here"
    assert kept(store) == ["<p>at 0.0", "<p>at 100.0"]
    assert store.summary(bytes(20), b"\xff" * 20).documents == 1
    store.close()


async def test_any_order_and_any_batches_give_the_same() -> None:
    rng, prints = random.Random(4), set()
    pages = [page(at * 3600.0, number) for at in range(40) for number in (1, 2)]
    formers = [made for each in pages[:-2] if (made := filed(each))]
    for round_ in range(4):
        store = opened(MemoryDisk(), StillClock(WALL + 2 * DAY_S))
        mixed = rng.sample(pages, len(pages)) + (rng.sample(formers, len(formers)) if round_ % 2 else [])
        while mixed:
            count = rng.choice((1, 3, 30))
            await store.put(mixed[:count])
            mixed = mixed[count:]
        newest = ["<p>at 133200.0", "<p>at 136800.0"]
        assert kept(store)[-2:] == newest and len(kept(store)) == 4, "and one of each day"
        assert await store.upkeep.thin_versions(store.today) == 0
        prints.add(fingerprint(store))
        store.close()
    assert len(prints) == 1


async def test_of_one_authors_versions_of_a_day_the_newest_counts_alone() -> None:
    """Two members that conspire write a page ten times in ten minutes: what others wrote before them is still kept."""
    versions = [page(0.0, by=1), page(50.0, by=2), *(page(60.0 + n, by=8 + n % 2) for n in range(10))]
    rng, prints = random.Random(4), set()
    for _ in range(4):
        store = opened(MemoryDisk(), policy=VersionPolicy(last=3, days=365))
        for each in rng.sample(versions, len(versions)):
            await store.put([each])
        assert shown(store) == "<p>at 69.0"
        assert kept(store) == ["<p>at 0.0", "<p>at 50.0", "<p>at 67.0", "<p>at 68.0"], "the last of a day besides"
        prints.add(fingerprint(store))
        store.close()
    assert len(prints) == 1


async def test_the_newest_version_that_is_left_is_shown_once_newer_ones_are_taken_back() -> None:
    store = opened(MemoryDisk())
    await store.put([page(0.0, by=1)])
    await store.put([page(60.0, by=8)])
    false = store.find(Kind.DOCUMENT, page(0.0).id)
    assert false is not None
    await store.show_former(false.id)
    assert shown(store) == "<p>at 60.0", "nothing was taken back"
    await store.forget([false], erased=True)
    await store.show_former(false.id)
    assert shown(store) == "<p>at 0.0" and kept(store) == []
    assert store.find(Kind.DOCUMENT, false.id) == page(0.0, by=1), "with its author's proof"
    assert await store.put([former_of(page(0.0, by=1))]) == 0, "it is no former version any more"
    await store.put([page(90.0, by=1)])
    assert shown(store) == "<p>at 90.0" and kept(store) == ["<p>at 0.0"]
    store.close()


async def test_without_a_policy_nothing_is_kept_and_what_others_keep_is_passed_over() -> None:
    store = opened(MemoryDisk(), policy=VersionPolicy())
    await store.put([page(0.0), page(100.0)])
    assert await store.put([former_of(page(0.0))]) == 0 and await store.put([page(50.0)]) == 0
    assert kept(store) == [] and shown(store) == "<p>at 100.0"
    store.close()


async def test_a_former_version_of_a_page_that_is_not_here_is_kept_too() -> None:
    store = opened(MemoryDisk())
    old = former_of(page(0.0))
    assert await store.put([old]) == 1 and await store.put([old]) == 0
    assert store.knows(old) and kept(store) == ["<p>at 0.0"] and shown(store) == ""
    store.close()


async def test_versions_survive_the_loss_of_the_index_and_so_does_thinning(disk: Disk) -> None:
    store = opened(disk)
    await store.put([page(float(at)) for at in range(0, 300, 50)])
    before, marks = kept(store), fingerprint(store)
    assert len(before) == 3
    store.close()
    disk.drop_database()
    again = opened(disk)
    await again.upkeep.thin_versions(again.today)
    assert kept(again) == before and fingerprint(again) == marks
    await again.upkeep.compact()
    again.close()


async def test_days_thin_them_out_and_a_policy_that_keeps_fewer_does_at_once() -> None:
    clock = StillClock(WALL + 40 * DAY_S)
    store = opened(MemoryDisk(), clock)
    for day in range(40):
        await store.put([page(day * DAY_S)])
    assert len(kept(store)) == 32
    before = set(kept(store))
    clock.wall = WALL + 80 * DAY_S
    assert await store.upkeep.thin_versions(store.today) == len(before - set(kept(store))) > 0
    assert len(kept(store)) == 7 and set(kept(store)) < before and await store.upkeep.thin_versions(store.today) == 0
    store.upkeep.keep_versions(VersionPolicy(1, 55))
    await store.upkeep.thin_versions(store.today)
    assert kept(store) == [f"<p>at {day * DAY_S}" for day in (31, 37, 38)]
    store.upkeep.keep_versions(VersionPolicy())
    assert await store.upkeep.thin_versions(store.today) == 3 and kept(store) == []
    assert shown(store)
    store.close()


async def test_a_store_that_was_told_no_policy_lets_go_of_none() -> None:
    disk = MemoryDisk()
    store = opened(disk)
    await store.put([page(0.0), page(100.0)])
    await store.put([page(200.0)])
    store.close()
    untold = RecordStore(disk, CONFIG, StillClock(WALL + 400.0))
    assert await untold.upkeep.thin_versions(untold.today) == 0 and len(kept(untold)) == 2
    untold.close()


async def test_more_rows_than_are_looked_at_together_are_all_thinned() -> None:
    store = opened(MemoryDisk(), policy=VersionPolicy(100, 365))
    for number in range(9):
        await store.put([page(float(at), number) for at in range(130)])
    assert sum(len(kept(store, number)) for number in range(9)) == 9 * 101 < THINNED_AT_ONCE
    store.upkeep.keep_versions(VersionPolicy(1, 365))
    assert await store.upkeep.thin_versions(store.today) == 9 * 99
    assert all(len(kept(store, number)) == 2 for number in range(9))
    store.close()


async def test_a_page_that_must_not_be_found_takes_its_versions_along_for_good() -> None:
    store = opened(MemoryDisk(), StillClock(WALL + 900.0))
    gone = page(200.0, gone=True, text="")
    erasure = erasure_of(gone)
    assert erasure is not None and erasure_of(page(0.0)) is None
    await store.put([page(0.0)])
    await store.put([page(100.0)])
    await store.put([gone])
    assert kept(store) == ["<p>at 0.0", "<p>at 100.0"], "whoever judges writes says what it may erase"
    await store.put([erasure])
    assert kept(store) == [""], "the erasure itself"
    await store.put([page(50.0), former_of(page(100.0))])
    assert kept(store) == [""]
    await store.put([page(300.0)])
    await store.put([page(400.0)])
    assert kept(store) == ["", "<p>at 300.0"], "what came later stays"
    await store.put([page(50.0), former_of(page(100.0))])
    assert kept(store) == ["", "<p>at 300.0"], "who was away brings nothing back"
    away = opened(MemoryDisk(), StillClock(WALL + 900.0))
    await away.put([page(0.0)])
    await away.put([page(400.0)])
    assert kept(away) == ["<p>at 0.0"]
    everything = [store.find(Kind.FORMER, id) for id in store.formers(page(0.0).id)]
    await away.put([each for each in everything if each])
    assert kept(away) == kept(store) and fingerprint(away) == fingerprint(store)
    store.close()
    away.close()


async def test_a_page_that_has_merely_gone_keeps_them() -> None:
    store = opened(MemoryDisk())
    await store.put([page(0.0)])
    await store.put([page(100.0, gone=True, status=404, text="")])
    assert shown(store) == "" and kept(store) == ["<p>at 0.0"]
    await store.put([page(200.0)])
    assert kept(store) == ["<p>at 0.0"], "there was nothing to show in between"
    store.close()


async def test_denials_hide_refuse_and_sweep_them() -> None:
    store = opened(MemoryDisk())
    await store.put([page(0.0)])
    await store.put([page(100.0)])
    store.denial.remove({"host1.example": ("/page/",)}, 0.0)
    ids = store.formers(page(0.0).id)
    assert len(ids) == 1 and store.find(Kind.FORMER, ids[0]) is None
    swept: Sequence[Record] = [each for part in store.denied(bytes(20), b"\xff" * 20) for each in part]
    assert {each.kind for each in swept} == {Kind.DOCUMENT, Kind.FORMER}
    await store.forget(swept, erased=True)
    assert store.formers(page(0.0).id) == []
    assert await store.put([former_of(page(0.0))]) == 0
    store.close()


async def test_large_pages_are_replaced_a_few_at_a_time() -> None:
    store = opened(MemoryDisk())
    big = [records(replace(draft(n, size=3 << 20, days=KEPT_DAYS), content=bytes(3 << 20)))[0] for n in range(4)]
    await store.put(big)
    assert await store.put([page(100.0, n) for n in range(4)]) == 4
    assert all(len(store.formers(page(0.0, n).id)) == 1 for n in range(4))
    store.close()


async def test_the_check_of_a_store_off_line_knows_them(tmp_path) -> None:  # type: ignore[no-untyped-def]
    store = RecordStore.open(tmp_path / "store", CONFIG, StillClock(WALL + 400.0))
    store.upkeep.keep_versions(POLICY)
    for at in (0.0, 100.0, 200.0):
        await store.put([page(at), page(at, 2)])
    store.close()
    report = check_store(tmp_path / "store")
    assert not report.flaws and report.rows == 6


async def test_they_leave_when_their_time_is_over() -> None:
    clock = StillClock(WALL + 400.0)
    store = opened(MemoryDisk(), clock)
    short = records(replace(draft(1, days=3), content=b"<p>short"))[0]
    await store.put([short])
    await store.put([page(100.0)])
    assert kept(store) == ["<p>short"]
    await store.upkeep.expire(DAY + 4)
    assert kept(store) == [], "its author let nobody keep it longer"
    store.close()


async def test_a_page_that_nobody_could_fetch_for_a_year_stays_as_a_former_version_where_these_are_kept_longer() -> (
    None
):
    clock = StillClock(WALL + (KEPT_DAYS + 1) * DAY_S)
    long, usual = (opened(MemoryDisk(), StillClock(WALL + 400.0), VersionPolicy(2, days)) for days in (900, 365))
    for store in (long, usual):
        await store.put([page(0.0), records(replace(draft(2, days=3), content=b"<p>short"))[0]])
        store.clock = clock
        await store.upkeep.expire(store.today)
        assert shown(store) == "" and kept(store, 2) == []
    assert kept(long) == ["<p>at 0.0"] and kept(usual) == []
    for store in (long, usual):
        store.close()
