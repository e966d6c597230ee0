"""What owners told is the same whether it waits or is joined in, and who says the same is kept once."""

import random

import numpy as np
import pytest

from index.directory.impact_table import WORD, ImpactTable, first_of, order_of
from index.directory.speaker_sets import WIDTH, SpeakerSets
from index.directory.told_terms import SlotTeams, ToldTerms

SLOTS, TERMS = 8, 30


def said(rng: random.Random, count: int) -> ImpactTable:
    """What an owner may say: few levels, so that owners often say the same."""
    words = [(rng.randint(0, 3), rng.randrange(SLOTS), rng.randint(1, 3), rng.randrange(2)) for _ in range(count)]
    hashes = np.array([rng.randrange(TERMS) << 40 for _ in range(count)], np.uint64)
    table = ImpactTable(hashes, np.array(words, WORD))
    table = table[order_of(table)]
    return table[first_of(table)]


@pytest.mark.parametrize(("seed", "block"), [(1, 4096), (2, 8)])
def test_rows_are_the_same_whether_words_wait_or_are_joined_in(
    seed: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index.directory.block_table.BLOCK_ENTRIES", block)
    rng, sets, blocks = random.Random(seed), SpeakerSets(), dict[int, bytes]()
    waiting, settled = ToldTerms({}, SpeakerSets()), ToldTerms(blocks, sets)
    numbers = [[7, 8, 9]] * SLOTS
    for turn in range(12):
        if turn == 6:  # one owner tells all anew, and what it said before counts no more
            numbers = [[7, 20, 9]] * SLOTS
        for number in numbers[0]:
            table = said(rng, 40)
            waiting.take(number, table)
            settled.take(number, table)
        if turn % 2:
            settled.settle(set(numbers[0]))
            sets.forget(numbers[0])
            sets = SpeakerSets(sets.note())
            settled = ToldTerms(blocks, sets)
        ones = np.ones((SLOTS, 3))
        teams = SlotTeams(np.array(numbers), ones, ones > 0, ones > 0, np.full(SLOTS, 99))
        for term in range(TERMS):
            assert settled.row(term << 40, teams) == waiting.row(term << 40, teams)


def test_who_says_the_same_is_kept_once() -> None:
    rng, sets, blocks = random.Random(3), SpeakerSets(), dict[int, bytes]()
    terms, table = ToldTerms(blocks, sets), said(rng, 200)
    for number in range(1, 2 * WIDTH + 1):
        terms.take(number, table)
    assert len(terms) == 2 * WIDTH * len(table)
    terms.settle(range(1, 2 * WIDTH + 1))
    assert len(terms) == 2 * len(table) and len(ToldTerms(blocks, sets)) == len(terms)
    terms.take(99, table[:1])
    terms.settle(range(1, WIDTH + 1))
    assert len(terms) == len(table), "words that count no more are gone"
