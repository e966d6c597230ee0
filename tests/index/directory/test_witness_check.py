"""A page bears out what was told of it, belies it, or says nothing where it changed since."""

from dataclasses import replace
from random import Random

import index_corpus as corpus
import pytest

from dht import Key, NodeId, slot_of
from index.change_feed import Text
from index.directory.impact_table import number_of
from index.directory.term_row import hash_of
from index.directory.witness_check import COUNTING_S, LevelClaim, SeenPage, WitnessVerdict, judge
from index.query.search_rules import NEWEST_RULES

MADE_AT, AVERAGE, BITS = 1_000_000.0, 60.0, 4
RIVER = number_of(hash_of("river"))
PAGE = replace(corpus.web(Random(1), 1)[0], title="river", written_at=MADE_AT - COUNTING_S - 1)
LEVEL, _ = SeenPage(PAGE, RIVER, NEWEST_RULES).level_by(AVERAGE)


@pytest.mark.parametrize(
    ("page", "more", "verdict"),
    [
        (PAGE, 0, WitnessVerdict.SHOWN),
        (PAGE, 1, WitnessVerdict.FALSE),
        (replace(PAGE, title="lake"), 0, WitnessVerdict.FALSE),
        (replace(PAGE, title="lake", written_at=MADE_AT - COUNTING_S), 0, WitnessVerdict.UNSHOWN),
        (replace(PAGE, written_at=MADE_AT), 0, WitnessVerdict.SHOWN),
        (replace(PAGE, key=Key(bytes(byte ^ 0xFF for byte in PAGE.key))), 0, WitnessVerdict.FALSE),
        (None, 0, WitnessVerdict.UNSHOWN),
    ],
)
def test_a_claim_is_held_to_the_page_that_its_owner_named(
    page: Text | None, more: int, verdict: WitnessVerdict
) -> None:
    claim = LevelClaim(NodeId(bytes(20)), slot_of(PAGE.key, BITS), RIVER, LEVEL + more, 1, AVERAGE, MADE_AT)
    assert LEVEL > 0 and judge(claim, page, NEWEST_RULES, BITS) is verdict
