import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.clock import Now
from dht.errors import BadMessage, RemoteError
from dht.identity.node_key import Identity
from dht.keys import Key, NodeId, distance
from dht.wire.value_record import AUTHORS_LIMIT, LIFE_LIMIT_S, ValueRecord, ValueStore, open_record, sign_record

NODE = Identity(b"r" * 32)
NET = b"network"
NOW = Now(1_000_000.0, 1.0)
OWN = NodeId(bytes(20))


def signed(
    key: int = 1, sequence: int = 1, life_s: float = 100.0, value: bytes = b"v", author: Identity = NODE
) -> bytes:
    return sign_record(
        author, NET, key=Key(bytes([key]) * 20), sequence=sequence, expires_at=NOW.wall + life_s, value=value
    )


def put(store: ValueStore, data: bytes) -> bool:
    return store.put(open_record(data, NOW, NET), data)


def test_a_record_says_what_was_signed() -> None:
    record = open_record(signed(value=b"hello"), NOW, NET)
    assert record == ValueRecord(bytes([1]) * 20, NODE.public_key, 1, NOW.wall + 100, b"hello")
    with pytest.raises(ValueError, match="1000 is the limit"):
        signed(value=bytes(1000))


@pytest.mark.parametrize(("life_s", "net"), [(0.0, NET), (LIFE_LIMIT_S + 1, NET), (100.0, b"other")])
def test_expired_eternal_and_foreign_ones_are_refused(life_s: float, net: bytes) -> None:
    with pytest.raises(RemoteError):
        open_record(signed(life_s=life_s), NOW, net)


def test_the_newest_of_each_author_wins() -> None:
    store = ValueStore(OWN, 100)
    other = Identity(b"o" * 32)
    new, old, theirs = signed(sequence=2), signed(sequence=1), signed(author=other, value=b"longer")
    assert put(store, new)
    assert not put(store, old)
    assert put(store, new), "it lies here already"
    assert put(store, theirs)
    assert list(store.at(bytes([1]) * 20, NOW)) == [new, theirs]
    store.expire(Now(NOW.wall + 200, 201.0))
    assert len(store) == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 3)), max_size=60))
def test_a_full_shelf_keeps_the_nearest(puts: list[tuple[int, int]]) -> None:
    store = ValueStore(OWN, 5)
    for key, sequence in puts:
        put(store, signed(key=key, sequence=sequence))
        assert len(store) <= 5
    keys = sorted({bytes([k]) * 20 for k, _ in puts}, key=lambda k: distance(k, OWN))
    assert all(list(store.at(k, NOW)) for k in keys[:5])
    assert not any(list(store.at(k, NOW)) for k in keys[5:])


def test_bad_key_lengths_are_refused() -> None:
    data = sign_record(NODE, NET, key=Key(b"short"), sequence=1, expires_at=NOW.wall + 1, value=b"")
    with pytest.raises(BadMessage):
        open_record(data, NOW, NET)


def test_a_record_is_due_some_time_after_anybody_stored_it_and_never_when_it_has_gone() -> None:
    rests = iter([50.0, 70.0, 60.0, 80.0, 90.0, 40.0])
    store, data = ValueStore(OWN, 2, lambda: next(rests)), signed(life_s=1000.0)

    def at(steady: float) -> Now:
        return Now(NOW.wall + steady, steady)

    assert store.put(open_record(data, NOW, NET), data, 0.0)
    assert store.due(at(49.0)) is None
    assert store.put(open_record(data, NOW, NET), data, 49.0), "another holder was quicker"
    assert store.due(at(118.0)) is None
    assert store.due(at(119.0)) == data
    assert store.due(at(178.0)) is None, "it waits again, whether the others took it or not"
    assert store.due(at(179.0)) == data
    assert store.due(at(1500.0)) is None and len(store) == 0
    assert store.due(at(1e9)) is None


def test_a_shelf_that_overflows_forgets_when_things_were_due() -> None:
    store = ValueStore(OWN, 5, lambda: 1.0)
    for n in range(1, 60):
        put(store, signed(key=n))
    assert len(store) == len(store._again_at) == 5


def test_a_full_point_keeps_the_records_of_older_members_and_a_point_of_evidence_keeps_more() -> None:
    authors = [Identity(bytes([n]) * 32) for n in range(1, AUTHORS_LIMIT + 3)]
    days = {author.node_id: 100 - n for n, author in enumerate(authors[:-1])}  # the last is no member
    store = ValueStore(OWN, 1000, joined_on=days.get, evidence_points=(bytes([2]) * 20,))
    for author in authors[:AUTHORS_LIMIT]:
        assert put(store, signed(author=author))
    assert not put(store, signed(author=authors[-1])), "it is younger than all"
    assert put(store, signed(author=authors[-2])) and len(store) == AUTHORS_LIMIT, "the youngest gave way"
    kept = {open_record(data, NOW, NET).public_key for data in store.at(bytes([1]) * 20, NOW)}
    assert authors[0].public_key not in kept and authors[-2].public_key in kept
    assert all(put(store, signed(key=2, author=author)) for author in authors)
