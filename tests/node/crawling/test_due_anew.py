"""Which URLs are due though their last outcome says otherwise."""

from msgspec.structs import replace

from crawl import Visit, VisitState
from crawl.schedule.url_state import History
from node.crawling.due_anew import as_doubted, as_due

FETCHED = Visit(
    "http://a.test/", 3, 0, VisitState.FETCHED, 900.0, 100.0, 200, etag='"1"', history=History(fingerprint=b"x" * 8)
)


def always(_url: str) -> bool:
    return True


def test_a_page_that_is_not_there_any_more_is_due_at_once_and_in_full() -> None:
    due = as_due(FETCHED, has_page=False, is_allowed=always)
    assert (due.state, due.due_at, due.etag, due.history.fingerprint) == (VisitState.WAITING, 0.0, "", b"")
    assert due.depth == FETCHED.depth
    assert as_due(FETCHED, has_page=True, is_allowed=always) == FETCHED


def test_a_page_that_cannot_be_fetched_waits_but_will_be_fetched_in_full() -> None:
    failed = replace(FETCHED, state=VisitState.FAILED)
    due = as_due(failed, has_page=False, is_allowed=always)
    assert (due.state, due.due_at, due.etag) == (VisitState.FAILED, 900.0, "")


def test_what_never_had_a_page_waits() -> None:
    for visit in (replace(FETCHED, history=History()), replace(FETCHED, is_sitemap=True)):
        assert as_due(visit, has_page=False, is_allowed=always) == visit


def test_what_a_rule_refused_is_due_once_it_is_allowed() -> None:
    refused = Visit("http://a.test/", 3, 0, VisitState.REFUSED, 900.0, 100.0, reason="rule 1 of strategy 2")
    assert as_due(refused, has_page=False, is_allowed=always).due_at == 0.0
    assert as_due(refused, has_page=False, is_allowed=lambda _: False) == refused
    by_robots = replace(refused, reason="robots")
    assert as_due(by_robots, has_page=False, is_allowed=always) == by_robots


def test_of_a_doubted_outcome_nothing_is_believed_but_that_its_url_was_found() -> None:
    for visit in (FETCHED, replace(FETCHED, state=VisitState.GONE), replace(FETCHED, state=VisitState.REFUSED)):
        due = as_doubted(visit)
        assert (due.state, due.due_at, due.etag, due.history.fingerprint) == (VisitState.WAITING, 0.0, "", b"")
        assert (due.url, due.depth, due.scope) == (visit.url, visit.depth, visit.scope)
