"""Statements of strangers are read within bounds."""

from math import inf, nan

import msgspec
import pytest

from dht import BadMessage
from index import SlotStatement
from node.ranking.messages import (
    MAX_VOTES,
    LeadsWord,
    RankExchange,
    SlotWord,
    hosts_word,
    leads_in,
    leads_word,
    statement_in,
    votes_in,
    word_of,
)

SAID = SlotStatement(3, 1_700_000_000, 5.0, 9.0, 12, 10.5, inf, 0.0, {1: 0.3, 15: 2.0})


def test_a_statement_is_read_as_it_was_written_and_gives_no_less_than_it_says() -> None:
    sent = RankExchange(4, 1, (), (), (word_of(SAID),), ())
    (word,) = msgspec.msgpack.decode(msgspec.msgpack.encode(sent), type=RankExchange).statements
    read = statement_in(word, 16)
    assert read.given.keys() == SAID.given.keys()
    assert all(SAID.given[slot] <= read.given[slot] <= SAID.given[slot] * (1 + 1e-6) for slot in read.given)
    assert msgspec.structs.replace(word, slots=b"", given=b"") == msgspec.structs.replace(
        word_of(read), slots=b"", given=b""
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"slot": 16},
        {"slots": b"\x01\0"},
        {"slots": b"\x0f\0\x01\0"},
        {"slots": b"\x01\0\x10\0"},
        {"given": b"\0\0\x80\xbf" * 2},
        {"given": b"\0\0\x80\x7f" * 2},
        {"mass": nan},
        {"mass": inf},
        {"missing": nan},
        {"at": inf},
    ],
)
def test_what_is_none_is_refused(changes: dict[str, object]) -> None:
    word: SlotWord = msgspec.structs.replace(word_of(SAID), **changes)
    with pytest.raises(BadMessage):
        statement_in(word, 16)


def test_leads_are_told_of_pages_of_their_slot_alone() -> None:
    leads = {3 << 60 | 5: 9, 3 << 60 | 6: 1 << 63}
    assert leads_in(leads_word(3, 1, leads), 4) == list(leads.items())
    for word in (leads_word(4, 1, leads), LeadsWord(3, 1, b"\0" * 8, b""), LeadsWord(3, 1, b"\0" * 7, b"\0" * 7)):
        with pytest.raises(BadMessage):
            leads_in(word, 4)


def test_links_between_hosts_are_read_as_they_were_written_and_within_bounds() -> None:
    votes = {"a.test": ["b.test", "c.test:81"], "b.test": [], "[::1]": ["a.test"], "d.test": ["a.test", "A b"]}
    word = hosts_word(3, 1, votes)
    assert votes_in(word) == {"a.test": ("b.test", "c.test:81"), "b.test": (), "d.test": ("a.test",)}
    assert votes_in(hosts_word(3, 1, {})) == {}
    many = {f"{n}.test": [f"{m}.test" for m in range(n, n + 500)] for n in range(1000)}
    assert len(votes_in(hosts_word(3, 1, many))) == MAX_VOTES // 500, "no more than there is room for"
    bad = [{"targets": b"\xff\0\0\0" * 3}, {"counts": b"\2\0\0\0"}, {"hosts": b"a.test\nB c"}, {"hosts": b"\xff"}]
    for changes in bad:
        with pytest.raises(BadMessage):
            votes_in(msgspec.structs.replace(word, **changes))
