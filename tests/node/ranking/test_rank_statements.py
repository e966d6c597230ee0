"""What all holders say is added up, and nobody is believed beyond what its documents allow."""

from dataclasses import replace
from math import inf

import pytest

from dht import NodeId
from index import SlotStatement
from node.ranking.rank_figures import why_not
from node.ranking.rank_statements import CLOCKS_S, RankStatements

ONE, TWO, THREE = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))


def said(slot: int, given: dict[int, float], at: float = 100.0, missing: float = 0.0) -> SlotStatement:
    return SlotStatement(slot, 1, 10.0, at, 4, 4.0, missing, 0.0, given)


def test_a_slot_gives_what_the_median_of_its_owners_counts_allows() -> None:
    statements = RankStatements(2)
    statements.hear(said(0, {1: 9.0}))
    assert statements.limit(0, 1) == 0.0, "nobody counted its documents"
    for peer, count in ((ONE, 1000), (TWO, 10), (THREE, 20)):
        statements.hear_documents(peer, 0, count)
    assert statements.limit(0, 1) == pytest.approx(0.85 * 0.15 * 20)
    judged = statements.judged
    assert statements.limit(0, 1) > 0 and statements.judged == judged, "nothing else was said"
    statements.keep_owners([(ONE, TWO), ()])
    assert statements.limit(0, 1) == pytest.approx(0.85 * 0.15 * 10), "of two the lower"
    statements.hear(said(1, {0: 1.0}))
    statements.hear_documents(ONE, 1, 100)
    assert statements.limit(0, 1) == pytest.approx(0.85 * (0.15 * 10 + 1.0)), "and what it is given"


def test_only_newer_statements_count_and_the_proof_wants_one_instant_of_all() -> None:
    statements = RankStatements(2)
    assert "anything of 2 slots, as of slot 0" in why_not(statements, 0)
    statements.hear(said(0, {}))
    statements.hear(said(1, {}))
    assert (statements.distance, why_not(statements, 0)) == (0.0, "")
    assert "3 documents" in why_not(statements, 3)
    statements.hear(said(1, {}, at=99.0, missing=1.0))
    assert statements.distance == 0.0
    statements.hear(said(1, {}, at=101.0, missing=1.0))
    assert "may be wrong" in why_not(statements, 0)
    statements.hear(replace(said(1, {}, at=130.0), from_at=100.0 - CLOCKS_S / 2))
    assert statements.distance == inf
    assert "on its way" in why_not(statements, 0)
    statements.hear(said(0, {}, at=131.0, missing=inf))
    assert "taken everywhere, as of slot 0" in why_not(statements, 0)
    statements.hear(replace(said(0, {}, at=132.0), refused=1.0))
    assert "more than they can have" in why_not(statements, 0)
