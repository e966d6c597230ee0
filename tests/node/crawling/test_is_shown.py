"""A page is shown unless its document, its visit or a denial hides it, and each of these three alone hides it."""

from itertools import product

import pytest

from crawl import Visit, VisitState
from dht import Rule, Strategy
from node.crawling.is_shown import is_shown, is_withheld, is_withheld_page, may_turn, shown_document
from store import Document, Draft, RecordDenial, decode_document, encode_document, sign_package
from tests.node.crawling.test_frontier_sync import SIGNER, document

URL = "http://port.test/times"
DENY = Strategy(
    network="", version=7, effective_at=0, expires_at=2, next_at=1, rules=(Rule(host="port.test", action="deny"),)
)


def visit(barred_at: float) -> Visit:
    return Visit(URL, 2, state=VisitState.FETCHED, visited_at=5.0, barred_at=barred_at)


@pytest.mark.parametrize(
    ("gone", "barred_at", "denial"), product((False, True), (None, 0.0, -5.0, 5.0), ("", "denied"))
)
def test_it_is_shown_where_nothing_hides_it(gone: bool, barred_at: float | None, denial: str) -> None:
    known = None if barred_at is None else visit(barred_at)
    is_barred = barred_at == 5.0
    assert is_shown(Document(URL, 5.0, 200, gone=gone), known, denial) == (not (gone or is_barred or denial))
    assert is_withheld(known, denial) == bool(is_barred or denial), "a page that is gone may be known to be"


def test_records_say_the_same_and_a_denial_ends_without_a_new_version() -> None:
    (page,) = sign_package([document(URL, 5)], SIGNER)
    free, barred, freed = map(visit, (0.0, 5.0, -5.0))
    denial = RecordDenial()
    for seen in (None, free, freed):
        assert shown_document(page, seen, denial) == decode_document(page.body) and not is_withheld_page(
            page, seen, denial
        )
    assert shown_document(page, barred, denial) is None and is_withheld_page(None, barred, denial)
    assert shown_document(None, free, denial) is None and not is_withheld_page(None, None, denial)
    assert [may_turn(each) for each in (free, barred, freed)] == [False, True, True]
    denial.follow(DENY, 0.0)
    assert shown_document(page, free, denial) is None
    denial.follow(Strategy(network="", version=8, effective_at=0, expires_at=2, next_at=1), 0.0)
    assert shown_document(page, free, denial) is not None


def test_a_page_that_is_gone_is_not_shown_and_not_withheld() -> None:
    base = document(URL, 5)
    made = Draft(
        base.kind, base.id, base.key, 1, 5, base.expires_day, encode_document(Document(URL, 0.005, 404, gone=True))
    )
    (page,) = sign_package([made], SIGNER)
    assert shown_document(page, None, RecordDenial()) is None and not is_withheld_page(page, None, RecordDenial())
