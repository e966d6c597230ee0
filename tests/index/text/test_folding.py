"""A table writes letters as `str.translate` does, whatever a text holds, or says that it cannot."""

import random

from index.text.folding import LetterTable

LETTERS = {ord("A"): ord("a"), ord("é"): ord("e"), ord("網"): ord("网"), ord("Ж"): ord("ж"), 0xFFFF: ord("x")}


def test_letters_are_those_that_translating_gives() -> None:
    table, chance = LetterTable(LETTERS), random.Random(1)
    letters = [*map(chr, LETTERS), "\0", "a", "é", "e\u0301", "\ue000", "ﬁ", "\n"]
    for _ in range(200):
        text = "".join(chance.choices(letters, k=chance.randrange(40)))
        assert table.of(text) == text.translate(LETTERS)


def test_letters_of_more_than_sixteen_bits_are_left_to_others() -> None:
    table = LetterTable(LETTERS)
    for odd in ("\U0001f600", "\ud83d", "\ude00", "\ud83d\ude00"):
        assert table.of(f"A{odd}é") is None
    assert table.of("") == ""
