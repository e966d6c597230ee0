"""Visits of strangers."""

import math

import pytest

from crawl import Visit, encode_visit
from node.ingest import visit_flaw
from store import Kind


@pytest.mark.parametrize(
    "visit", [Visit("http://a.test/", 1, due_at=math.nan), Visit("http://a.test/", 1, visited_at=math.inf)]
)
def test_instants_that_are_no_numbers_are_refused(visit: Visit) -> None:
    assert "_at is " in visit_flaw(Kind.VISIT, encode_visit(visit))
    assert not visit_flaw(Kind.VISIT, encode_visit(Visit("http://a.test/", 1)))


def test_a_scope_beyond_its_bound_is_refused() -> None:
    assert "scope has 2049" in visit_flaw(Kind.VISIT, encode_visit(Visit("http://a.test/", 1, scope="a" * 2049)))
