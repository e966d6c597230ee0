"""Reconciliation against plain set algebra; few rounds, few bytes; collisions hide nothing for long; malformed
messages are refused."""

import random
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht import DocumentId, Key
from store import Kind
from store.errors import BadReplica
from store.record import range_session as module
from store.record.range_reconciliation import (
    END,
    FINGERPRINT_BYTES,
    MAX_MARKS,
    ItemsBetween,
    RangeItem,
    RangeMode,
    Ranges,
    among,
    item,
)
from store.record.range_session import MAX_SKIPS, SALT_BYTES, RangeSession, answer
from store.record.record import ShortVersion

WHOLE = [(b"", END)]
SALT = b"s" * SALT_BYTES
NOBODY = among([])
versions = st.dictionaries(st.integers(0, 120), st.integers(0, 3), max_size=100)


def made(number: int, at: int) -> RangeItem:
    rng = random.Random(number)
    kind = Kind.VISIT if number % 2 else Kind.DOCUMENT
    return item(kind, DocumentId(rng.randbytes(20)), Key(rng.randbytes(20)), ShortVersion(1, at, bytes([at % 256]) * 8))


def sets(numbers: dict[int, int]) -> list[RangeItem]:
    return sorted((made(n, at) for n, at in numbers.items()), key=lambda i: i.entry.place)


def run(
    mine: list[RangeItem],
    theirs: list[RangeItem],
    spans: Sequence[tuple[bytes, bytes]] = WHOLE,
    salt: bytes = SALT,
) -> tuple[RangeSession, int, int]:
    """The session after it ended, its round trips and its bytes in both directions."""
    session, between = RangeSession(mine, spans, salt), among(theirs)
    asked, rounds, size = session.open(), 0, 0
    while asked is not None:
        reply, rounds = answer(between, _carried(asked), salt), rounds + 1
        size += len(msgspec.msgpack.encode(asked)) + len(msgspec.msgpack.encode(reply))
        assert rounds < 200 and len(asked.ends) <= module.MAX_ASKED
        assert len(reply.ends) <= module.MAX_PARTS and len(reply.entries) <= module.MAX_ENTRIES
        asked = session.receive(_carried(reply))
    return session, rounds, size


def _opened(session: RangeSession) -> Ranges:
    """The session's first question."""
    asked = session.open()
    assert asked is not None
    return asked


def _carried(short: Ranges) -> Ranges:
    """Return a message as the other side decodes it; the types' bounds are checked on the way."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(short), type=Ranges)


def check(a: dict[int, int], b: dict[int, int]) -> int:
    session, rounds, _ = run(sets(a), sets(b))
    wanted = [made(n, at).entry for n, at in b.items() if a.get(n, -1) < at]
    owed = [made(n, at).entry for n, at in a.items() if b.get(n, -1) < at]
    assert sorted(session.wanted, key=lambda e: e.place) == sorted(wanted, key=lambda e: e.place)
    assert sorted(session.owed, key=lambda e: e.place) == sorted(owed, key=lambda e: e.place)
    assert not session.is_full
    return rounds


@given(versions, versions)
@settings(max_examples=100, deadline=None)
def test_finds_exactly_what_set_algebra_finds(a: dict[int, int], b: dict[int, int]) -> None:
    check(a, b)


@given(
    versions, versions, st.integers(2, 5), st.integers(5, 9), st.integers(0, 2), st.integers(3, 9), st.integers(4, 30)
)
@settings(max_examples=150, deadline=None)
def test_also_when_the_bounds_are_tight(
    a: dict[int, int], b: dict[int, int], part: int, named: int, listed: int, entries: int, asked: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("PART", part),
            ("NAMED", named),
            ("LISTED", listed),
            ("MAX_ENTRIES", entries),
            ("MAX_ASKED", asked),
            ("MAX_PARTS", 2 * asked),
            ("MAX_SKIPS", max(1, asked // 3)),
            ("MAX_MARKS", named + asked),
        ):
            patch.setattr(module, name, value)
        check(a, b)


def test_without_pull_nothing_is_wanted() -> None:
    session = RangeSession(sets({1: 1}), WHOLE, SALT, pull=False)
    session.receive(answer(among(sets({1: 2, 2: 1})), _opened(session), SALT))
    assert (session.wanted, session.owed) == ([], [])


def test_spans_limit_what_is_compared() -> None:
    everything = sets(dict.fromkeys(range(600), 1))
    spans = [(b"\x20", b"\x40"), (b"\x40", b"\x50"), (b"\xe0", END)]
    inside = [i.entry for i in everything if any(f <= i.entry.place < e for f, e in spans)]
    session, _, _ = run([], everything, spans)
    assert sorted(session.wanted, key=lambda e: e.place) == inside and not session.owed
    session, rounds, _ = run([i for i in everything if i.entry in inside], everything, spans)
    assert (session.wanted, session.owed, rounds) == ([], [], 1)


def test_a_few_differences_among_many_cost_few_rounds_and_bytes() -> None:
    a = dict.fromkeys(range(8000), 1)
    mine, theirs = sets(a), sets(a | dict.fromkeys(range(0, 8000, 1000), 2))
    session, rounds, size = run(mine, theirs)
    assert len(session.wanted) == 8 and rounds == 2 and size < 6_000
    assert run(mine, mine)[1:] < (2, 60)


def test_an_empty_node_learns_of_everything_in_bounded_messages() -> None:
    assert check({}, dict.fromkeys(range(9000), 1)) == 2
    assert check(dict.fromkeys(range(9000), 1), {}) == 1


def test_records_of_one_key_lengthen_no_bound() -> None:
    rng, items = random.Random(1), list[RangeItem]()
    for key in (Key(rng.randbytes(20)) for _ in range(1000)):
        items += [
            item(kind, DocumentId(key), key, ShortVersion(1, 1, bytes(8))) for kind in (Kind.DOCUMENT, Kind.VISIT)
        ]
    session = RangeSession(items[:-1], WHOLE, SALT)
    told = answer(among(sorted(items, key=lambda i: i.entry.place)), _opened(session), SALT)
    assert len(told.ends) > 30 and max(map(len, told.ends[:-1])) < 20


def test_what_a_collision_hides_the_next_salt_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MARK_BYTES", 1)  # of 60 items that differ, some look alike
    a = dict.fromkeys(range(60), 1)
    mine, theirs = sets(a), sets(dict.fromkeys(range(60), 2))
    found = [{e.place for e in run(mine, theirs, salt=bytes([n]) * SALT_BYTES)[0].wanted} for n in range(8)]
    assert any(len(each) < 60 for each in found)
    assert set.union(*found) == {i.entry.place for i in theirs}


def opened(items: list[RangeItem]) -> RangeSession:
    """A session whose first question was asked."""
    session = RangeSession(items, WHOLE, SALT)
    _opened(session)
    return session


ENTRY = made(1, 1).entry
ODD = msgspec.structs.replace(ENTRY, place=ENTRY.place[:20] + b"\0" + ENTRY.place[21:])
PRINT = bytes(FINGERPRINT_BYTES)
OURS = sets(dict.fromkeys(range(200), 1))


@pytest.mark.parametrize(
    "short",
    [
        Ranges((b"\x20", b"\x10"), bytes(2)),
        Ranges((b"",), bytes(1)),
        Ranges((b"\x20",), bytes(2)),
        Ranges((b"\x20", b"\x30"), bytes(1)),
        Ranges((END,), bytes([9])),
        Ranges((END,), bytes([RangeMode.FINGERPRINT])),
        Ranges((END,), bytes([RangeMode.FINGERPRINT]), PRINT[1:]),
        Ranges((END,), bytes([RangeMode.FINGERPRINT]), PRINT * 2),
        Ranges((END,), bytes([RangeMode.MARKS])),
        Ranges((END,), bytes([RangeMode.BESIDES]), marks=(b"1234",)),
        Ranges((END,), bytes([RangeMode.SKIP]), marks=(b"",)),
        Ranges((END,), bytes([RangeMode.SKIP]), entries=(ENTRY,)),
        Ranges((END,), bytes([RangeMode.LIST]), entries=(ENTRY, ENTRY)),
        Ranges((END,), bytes([RangeMode.LIST]), entries=(ODD,)),
        Ranges((ENTRY.place, END), bytes([RangeMode.LIST, RangeMode.SKIP]), entries=(ENTRY,)),
    ],
)
def test_malformed_messages_are_refused(short: Ranges) -> None:
    with pytest.raises(BadReplica):
        answer(NOBODY, short, SALT)
    with pytest.raises(BadReplica):
        opened([]).receive(short)


parts = st.lists(st.tuples(st.binary(max_size=3), st.integers(0, 5)), max_size=8)
loose = st.lists(st.sampled_from([0, 5, 10, 12]).map(bytes), max_size=8)


@given(parts, st.integers(0, 70), loose, st.booleans())
@settings(max_examples=200, deadline=None)
def test_whatever_is_said_either_is_answered_or_is_refused(
    said: list[tuple[bytes, int]], size: int, marks: list[bytes], lists: bool
) -> None:
    ends = tuple(sorted(end for end, _ in said))
    short = Ranges(ends, bytes(mode for _, mode in said), bytes(size), tuple(marks), (ENTRY,) * lists)
    with suppress(BadReplica):
        answer(among(OURS), short, SALT)
    with suppress(BadReplica):
        opened(OURS).receive(short)


def test_more_marks_than_a_message_has_are_refused() -> None:
    marks = (bytes(5 * MAX_MARKS), bytes(5))
    with pytest.raises(BadReplica, match="marks"):
        answer(NOBODY, Ranges((b"1", b"2"), bytes([RangeMode.MARKS] * 2), marks=marks), SALT)


def test_only_the_asker_names_by_marks_and_only_the_answerer_lists() -> None:
    listed = Ranges((END,), bytes([RangeMode.LIST]), entries=(ENTRY,))
    named = Ranges((END,), bytes([RangeMode.MARKS]), marks=(b"12345",))
    with pytest.raises(BadReplica, match="lists records"):
        answer(NOBODY, listed, SALT)
    with pytest.raises(BadReplica, match="by marks"):
        opened([]).receive(named)


def test_a_question_of_many_gaps_is_refused() -> None:
    """Each piece between two gaps is a look-up of its own."""
    ends = tuple(n.to_bytes(3, "big") for n in range(1, 2 * MAX_SKIPS + 4))
    modes = bytes(RangeMode.SKIP if n % 2 else RangeMode.FINGERPRINT for n in range(len(ends)))
    with pytest.raises(BadReplica, match="gaps"):
        answer(NOBODY, Ranges(ends, modes, PRINT * (len(ends) - sum(m == 0 for m in modes))), SALT)


def test_consecutive_parts_are_read_at_once() -> None:
    looked: list[tuple[bytes, bytes]] = []

    def between(first: bytes, end: bytes) -> list[RangeItem]:
        looked.append((first, end))
        return []

    modes = [RangeMode.FINGERPRINT, RangeMode.MARKS, RangeMode.SKIP, RangeMode.FINGERPRINT]
    asked = Ranges((b"1", b"2", b"3", b"4"), bytes(modes), PRINT * 2, (b"",))
    lookup: ItemsBetween = between
    answer(lookup, asked, SALT)
    assert looked == [(b"", b"2"), (b"3", b"4")]


def test_an_answer_to_more_than_was_asked_is_refused() -> None:
    session = RangeSession(sets(dict.fromkeys(range(300), 1)), [(b"\x20", b"\x40")], SALT)
    _opened(session)
    with pytest.raises(BadReplica, match="more than was asked"):
        session.receive(Ranges((b"\x50",), bytes([RangeMode.FINGERPRINT]), PRINT))


@pytest.mark.parametrize("mode", [RangeMode.FINGERPRINT, RangeMode.MARKS])
def test_an_answer_stays_within_its_bounds_whatever_is_asked(mode: RangeMode, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MAX_PARTS", 16), ("MAX_ENTRIES", 20), ("NAMED", 9), ("PART", 2)):
        monkeypatch.setattr(module, name, value)
    is_print = mode == RangeMode.FINGERPRINT
    ends = (*(bytes([16 * n]) for n in range(1, 16)), END)
    asked = Ranges(ends, bytes([mode] * 16), PRINT * 16 * is_print, (b"",) * 16 * (not is_print))
    told = answer(among(OURS), asked, SALT)
    assert len(told.ends) <= 16 and len(told.entries) <= 20 and told.ends[-1] == END


def test_what_a_question_has_no_room_for_is_asked_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ASKED", 4)
    session = RangeSession(sets(dict.fromkeys(range(2000), 1)), WHOLE, SALT)
    told = answer(among(sets(dict.fromkeys(range(2000), 2))), _opened(session), SALT)
    asked = session.receive(told)
    assert asked is not None and asked.ends == told.ends[:4]
    then = session.receive(Ranges((), b""))  # all that was asked for is settled
    assert then is not None and then.ends == told.ends[3:7] and then.modes[0] == RangeMode.SKIP


def test_a_peer_that_never_ends_splitting_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer parts the first places of what was asked into as many as a message holds."""
    for name, value in (("MAX_PARTS", 64), ("MAX_ASKED", 32), ("MAX_LATER", 256)):
        monkeypatch.setattr(module, name, value)
    session, messages = opened([]), 0
    while not session.is_full:
        ends = tuple(bytes(messages) + bytes([n]) for n in range(1, 65))
        session.receive(Ranges(ends, bytes([RangeMode.FINGERPRINT]) * 64, PRINT * 64))
        messages += 1
        assert messages < 20
    assert messages > 4


def test_nothing_to_compare_asks_nothing() -> None:
    assert RangeSession([], [], SALT).open() is None
