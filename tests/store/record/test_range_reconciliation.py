"""Reconciliation against plain set algebra; few rounds, few bytes; malformed messages are refused."""

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht import DocumentId, Key
from store import Kind
from store.errors import BadReplica
from store.record import range_reconciliation as module
from store.record.range_reconciliation import (
    END,
    Range,
    RangeEntry,
    RangeItem,
    RangeMode,
    RangeSession,
    among,
    answer,
    item,
)
from store.record.record import ShortVersion

WHOLE = [(b"", END)]


def made(number: int, at: int) -> RangeItem:
    rng = random.Random(number)
    kind = Kind.VISIT if number % 2 else Kind.DOCUMENT
    return item(kind, DocumentId(rng.randbytes(20)), Key(rng.randbytes(20)), ShortVersion(1, at, bytes([at % 256]) * 8))


def sets(numbers: dict[int, int]) -> list[RangeItem]:
    return sorted((made(n, at) for n, at in numbers.items()), key=lambda i: i.entry.place)


def run(
    mine: list[RangeItem], theirs: list[RangeItem], spans: list[tuple[bytes, bytes]] = WHOLE
) -> tuple[RangeSession, int, int]:
    """The session after it ended, its round trips and its bytes in both directions."""
    session, rounds, size = RangeSession(mine, spans), 0, 0
    ranges = session.open()
    while ranges:
        reply = answer(among(theirs), ranges)
        size += len(msgspec.msgpack.encode(ranges)) + len(msgspec.msgpack.encode(reply))
        ranges, rounds = session.receive(reply), rounds + 1
        assert rounds < 200
    return session, rounds, size


def check(a: dict[int, int], b: dict[int, int]) -> int:
    mine, theirs = sets(a), sets(b)
    session, rounds, _ = run(mine, theirs)
    wanted = [made(n, at).entry for n, at in b.items() if a.get(n, -1) < at]
    owed = [made(n, at).entry for n, at in a.items() if b.get(n, -1) < at]
    assert sorted(session.wanted, key=lambda e: e.place) == sorted(wanted, key=lambda e: e.place)
    assert sorted(session.owed, key=lambda e: e.place) == sorted(owed, key=lambda e: e.place)
    return rounds


versions = st.dictionaries(st.integers(0, 120), st.integers(0, 3), max_size=100)


@given(versions, versions)
@settings(max_examples=150, deadline=None)
def test_finds_exactly_what_set_algebra_finds(a: dict[int, int], b: dict[int, int]) -> None:
    check(a, b)


@given(versions, versions, st.integers(2, 5), st.integers(1, 3), st.integers(3, 9), st.integers(8, 30))
@settings(max_examples=100, deadline=None)
def test_also_when_the_bounds_are_tight(
    a: dict[int, int], b: dict[int, int], branch: int, leaf: int, entries: int, ranges: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("BRANCH", branch),
            ("LEAF", branch + leaf),
            ("MAX_ENTRIES", entries),
            ("MAX_RANGES", ranges),
        ):
            patch.setattr(module, name, value)
        check(a, b)


def test_spans_limit_what_is_compared() -> None:
    everything = sets(dict.fromkeys(range(200), 1))
    spans = [(b"\x20", b"\x40"), (b"\x40", b"\x50"), (b"\xe0", END)]
    inside = [i.entry for i in everything if any(f <= i.entry.place < e for f, e in spans)]
    session, _, _ = run([], everything, spans)
    assert sorted(session.wanted, key=lambda e: e.place) == inside and not session.owed
    session, rounds, _ = run([i for i in everything if i.entry in inside], everything, spans)
    assert (session.wanted, session.owed, rounds) == ([], [], 1)


def test_a_few_differences_among_many_cost_few_rounds_and_bytes() -> None:
    a = dict.fromkeys(range(20000), 1)
    b = a | dict.fromkeys(range(0, 20000, 1000), 2)
    mine, theirs = sets(a), sets(b)
    session, rounds, size = run(mine, theirs)
    assert len(session.wanted) == 20 and rounds <= 3 and size < 40_000
    assert run(mine, mine)[1:] < (2, 500)


def test_an_empty_node_learns_of_everything_in_bounded_messages() -> None:
    assert check({}, dict.fromkeys(range(20000), 1)) <= 6
    assert check(dict.fromkeys(range(20000), 1), {}) <= 2


def test_malformed_messages_are_refused() -> None:
    entry = made(1, 1).entry
    low, high = bytes(41), b"\xff" * 41
    odd = RangeEntry(entry.place[:20] + b"\0" + entry.place[21:], 1, 1, bytes(8))
    for ranges in (
        [Range(b"\x20", RangeMode.SKIP), Range(b"\x10", RangeMode.SKIP)],
        [Range(b"", RangeMode.SKIP)],
        [Range(END, RangeMode.LIST, entries=(entry, entry))],
        [Range(low + b"\0", RangeMode.LIST, entries=(entry,))],
        [Range(high, RangeMode.LIST, entries=(odd,))],
        [Range(b"\0\0" + n.to_bytes(2, "big"), RangeMode.SKIP) for n in range(1, 5000)],
    ):
        with pytest.raises(BadReplica):
            answer(among([]), ranges)
        with pytest.raises(BadReplica):
            RangeSession([], WHOLE).receive(ranges)
