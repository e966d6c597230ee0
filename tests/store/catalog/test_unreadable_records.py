"""What cannot be read is in doubt, then judged, and no answer is built on it meanwhile."""

from dht import DocumentId, Key
from store import Kind
from store.catalog.row_table import CatalogRow
from store.catalog.unreadable_records import MOST, UnreadableRecords
from store.record.record import ShortVersion
from store.segments.frame import SegmentPlace
from tests.store.support import draft, records


def row(number: int) -> CatalogRow:
    d = draft(number)
    return CatalogRow(d.kind, d.id, d.key, ShortVersion(1, 1, b""), 1, SegmentPlace(1, 16, 20, 20))


def test_a_key_is_unreadable_from_the_first_doubt_until_it_is_judged_or_written_anew() -> None:
    unreadable = UnreadableRecords()
    one, two, three = map(row, (1, 2, 3))
    for each in (one, two, three, one):
        unreadable.doubt(each)
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
    unreadable.doubt(like._replace(id=DocumentId(b"z" * 20), key=Key(b"z" * 20)))
    assert len(unreadable) == MOST + 10 and not unreadable.holds(b"z" * 20)
