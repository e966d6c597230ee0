"""Records are found by name and by key range, with their contents or without."""

from hashlib import sha256

from dht import DocumentId, Key, document_id, placement_key
from store.catalog.record_reader import MOST, RecentRecords, UnreadableRecords
from store.catalog.row_table import CatalogRow
from store.record.record import Kind, Proof, Record, ShortVersion, Version
from store.segments.file_system import Disk
from store.segments.frame import SegmentPlace
from tests.store.support import draft, open_store, records

FIRST, LAST = bytes(20), b"\xff" * 20


async def test_what_is_put_is_found_with_and_without_content(disk: Disk) -> None:
    store = open_store(disk)
    made = records(*(draft(n, size=2000) for n in range(20)), draft(30, kind=Kind.VISIT))
    assert await store.put(made) == 21
    assert [store.find(r.kind, r.id) for r in made] == made
    bare = store.find(made[3].kind, made[3].id, content=False)
    assert bare is not None and bare.content is None and bare.content_digest == made[3].content_digest
    assert store.find(Kind.VISIT, made[0].id) is None
    assert await store.put(made) == 0
    store.close()


async def test_scans_follow_key_ranges(disk: Disk) -> None:
    store = open_store(disk)
    made = records(*(draft(n) for n in range(40)))
    await store.put(made)
    middle = b"\x80" + bytes(19)
    low = [r.id for r in store.scan(Kind.DOCUMENT, FIRST, b"\x7f" + b"\xff" * 19)]
    high = [r.id for r in store.scan(Kind.DOCUMENT, middle, LAST)]
    in_order = [r.id for r in sorted(made, key=lambda r: (r.key, r.id))]
    assert low + high == in_order
    store.close()


def record(number: int, at_ms: int = 1, body: bytes = b"x" * 1000) -> Record:
    url = f"http://a.test/{number}"
    proof = Proof(bytes(32), bytes(64), 0, ())
    version = Version(1, at_ms, sha256(body).digest())
    return Record(Kind.VISIT, document_id(url), placement_key(url), version, 99, body, b"content", bytes(32), proof)


def test_memory_is_bounded_and_the_oldest_go_first():
    recent = RecentRecords(10 * 2024)
    for number in range(50):
        recent.keep(record(number))
        recent.keep(record(number, at_ms=2))
    kept = [number for number in range(50) if recent.find(Kind.VISIT, record(number).id)]
    assert kept == list(range(40, 50))
    recent.keep(record(0, body=b"y" * 50_000))
    assert not any(recent.find(Kind.VISIT, record(number).id) for number in range(50)), "it alone is too much"


def row(number: int) -> CatalogRow:
    d = draft(number)
    return CatalogRow(d.kind, d.id, d.key, ShortVersion(1, 1, b""), 1, SegmentPlace(1, 16, 20, 20))


def test_a_key_is_unreadable_from_the_first_doubt_until_it_is_judged_or_written_anew() -> None:
    unreadable = UnreadableRecords()
    one, two, three = map(row, (1, 2, 3))
    unreadable.doubt([one, two, three, one])
    assert unreadable.doubted() == [one, two, three]
    assert all(unreadable.holds(each.key) for each in (one, two, three)) and not unreadable.holds(row(4).key)
    unreadable.judged([one, two, three], [two, three])
    assert not unreadable.holds(one.key) and unreadable.holds(two.key) and unreadable.doubted() == []
    unreadable.came(records(draft(2)))
    assert not unreadable.holds(two.key) and unreadable.holds(three.key)
    unreadable.settle(b"\0" * 20, b"\xff" * 20)
    assert not unreadable.holds(three.key) and len(unreadable) == 0
    assert (unreadable.lost_count, unreadable.healed_count) == (2, 1)
    for _ in range(2):  # after all, and then it is no news
        unreadable.came(records(draft(1), draft(3)))
        assert (unreadable.lost_count, unreadable.healed_count) == (2, 2)


def test_how_much_is_remembered_is_bounded() -> None:
    unreadable, like = UnreadableRecords(), row(1)
    for number in range(MOST + 10):
        name = number.to_bytes(20, "big")
        unreadable._doubted[Kind.DOCUMENT, DocumentId(name)] = like
    unreadable.doubt([like._replace(id=DocumentId(b"z" * 20), key=Key(b"z" * 20))])
    assert len(unreadable) == MOST + 10 and not unreadable.holds(b"z" * 20)
