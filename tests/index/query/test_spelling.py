"""A misspelled word gets the words that it may have been meant to be."""

import random

import pytest

from index.query.spelling import best_of, candidates, is_within_two_edits, one_edit

WORDS = {
    "receive": 150, "received": 90, "database": 200, "databases": 60, "release": 300, "released": 80, "which": 500,
    "with": 800, "project": 300, "projects": 170, "accommodate": 9, "installation": 40, "поиск": 30, "αναζητηση": 8,
    "form": 400, "from": 900, "configuration": 120, "necessary": 70,
}  # fmt: skip


def words_from(prefix: str) -> list[tuple[str, int]]:
    return [(word, count) for word, count in WORDS.items() if word.startswith(prefix)]


def meant(word: str) -> str | None:
    return best_of(word, candidates(word, lambda other: WORDS.get(other, 0), words_from, 3), WORDS)


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("recieve", "receive"),  # two letters that changed places
        ("databse", "database"),
        ("wich", "which"),  # not "with", which is commoner
        ("releasde", "released"),
        ("projecs", "projects"),
        ("acommodate", "accommodate"),
        ("accomodte", "accommodate"),  # two edits, of a long word
        ("instalattion", "installation"),
        ("neccessary", "necessary"),
        ("qonfiguration", "configuration"),
        ("поисг", "поиск"),
        ("αναζητιση", "αναζητηση"),
    ],
)
def test_the_right_word_comes_first(typed: str, right: str) -> None:
    assert meant(typed) == right


def test_a_word_that_is_written_often_enough_is_right() -> None:
    assert best_of("form", ["from"], {"form": 400, "from": 900}) is None
    assert best_of("teh", ["the"], {"teh": 2, "the": 601}) == "the"
    assert best_of("teh", ["the"], {"teh": 2, "the": 599}) is None


def test_two_pages_are_not_enough_to_call_a_word_wrong() -> None:
    assert best_of("zgv", ["zgw"], {"zgw": 2}) is None
    assert best_of("zgv", ["zgw"], {"zgw": 3}) == "zgw"


def test_all_single_edits_are_tried() -> None:
    letters, rng = "abcdefghijklmnopqrstuvwxyz", random.Random(1)
    tried = set(one_edit("network"))
    for _ in range(500):
        at, letter = rng.randrange(7), rng.choice(letters)
        for other in ("network"[:at] + "network"[at + 1 :], "network"[:at] + letter + "network"[at:]):
            assert other in tried
        assert "network"[:at] + letter + "network"[at + 1 :] in tried | {"network"}
    assert "networks" in tried
    assert len(tried) < 450


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [("abcdef", "abcdef", True), ("abcdef", "badcef", True), ("abcdef", "abef", True), ("abcdef", "xyzdef", False),
     ("abc", "abcdef", False), ("abcdef", "badcfe", False)],
)  # fmt: skip
def test_two_edits(a: str, b: str, near: bool) -> None:
    assert is_within_two_edits(a, b) is near
