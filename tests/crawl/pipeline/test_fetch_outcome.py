"""The policies, by their tables: how a response is judged, and when its URL is due again."""

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, CrawlDecision, Fetched, Visit, VisitState
from crawl.config import DAY_S
from crawl.content.robots_directives import NOINDEX
from crawl.frontier.mirror_alias import REASON, AliasEvidence, MirrorAlias
from crawl.pipeline.fetch_outcome import (
    KEEP_AGAIN_S,
    LOOK_S,
    FollowUp,
    allowed_again,
    barred,
    failed,
    gone,
    is_outlived,
    judge,
    left_to_twin,
    may_stand_in,
    outcome_of_reading,
    validators,
)
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import History

NOW = 1_700_000_000.0
CONFIG = CrawlConfig()
VISIT = Visit(url="http://a.test/", depth=2)
CENSUS = RevisitStatistics(CONFIG)
OLD, SAME_TO_READERS, NEW = b"exact--1main---1", b"exact--2main---1", b"exact--3main---2"


def response(status: int, **headers: str) -> Fetched:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Fetched("http://a.test/", status, named, b"<html>", False, 0.1, "192.0.2.1")


@pytest.mark.parametrize(
    ("status", "headers", "then", "state", "due_s"),
    [
        (200, {"Content_Type": "text/html"}, FollowUp.PARSE, VisitState.FETCHED, 7 * DAY_S),
        (200, {}, FollowUp.PARSE, VisitState.FETCHED, 7 * DAY_S),
        (200, {"Content_Type": "image/png"}, FollowUp.NOTHING, VisitState.REFUSED, 30 * DAY_S),
        (304, {}, FollowUp.NOTHING, VisitState.REFUSED, 30 * DAY_S),  # we did not ask for it
        (301, {"Location": "/x"}, FollowUp.REDIRECT, VisitState.REDIRECT, 7 * DAY_S),
        (301, {}, FollowUp.PARSE, VisitState.FETCHED, 7 * DAY_S),  # it has a text
        (302, {"Location": "ftp://a.test/"}, FollowUp.NOTHING, VisitState.REFUSED, 30 * DAY_S),
        (404, {}, FollowUp.GONE, VisitState.GONE, 30 * DAY_S),
        (403, {}, FollowUp.NOTHING, VisitState.REFUSED, 30 * DAY_S),
        (503, {"Retry_After": "120"}, FollowUp.NOTHING, VisitState.FAILED, 120),
        (503, {"Retry_After": "Tue, 14 Nov 2023 23:13:20 GMT"}, FollowUp.NOTHING, VisitState.FAILED, 3600),
        (500, {"Retry_After": "-5"}, FollowUp.NOTHING, VisitState.FAILED, 30),
        (429, {"Retry_After": "9" * 400}, FollowUp.NOTHING, VisitState.FAILED, DAY_S),
    ],
)
def test_statuses(status: int, headers: dict[str, str], then: FollowUp, state: VisitState, due_s: float) -> None:
    judged = judge(VISIT, response(status, **headers), NOW, CONFIG, CENSUS)
    assert (judged.follow_up, judged.visit.state) == (then, state)
    assert judged.visit.due_at == NOW + due_s
    assert judged.visit.visited_at == NOW


def look(before: Visit, fingerprint: bytes, now: float) -> tuple[Visit, bool]:
    """A page is asked for, answers 200 and is read."""
    return outcome_of_reading(
        judge(before, response(200, ETag='"1"'), now, CONFIG, CENSUS).visit, before, fingerprint, now, CENSUS
    )


def test_a_page_that_stays_the_same_is_stored_once_and_learned_about() -> None:
    visit, is_news = look(VISIT, OLD, NOW)
    assert is_news and visit.history.fingerprint == OLD and visit.history.changes == 0
    visit, is_news = look(visit, OLD, NOW + DAY_S)
    assert not is_news and visit.history.unchanged_s == DAY_S
    visit, is_news = look(visit, SAME_TO_READERS, NOW + 2 * DAY_S)  # its clock went on: stored, but no change
    assert is_news and visit.history.unchanged_s == 2 * DAY_S and visit.history.changes == 0
    visit, is_news = look(visit, NEW, NOW + 3 * DAY_S)
    assert is_news and (visit.history.changes, visit.history.changed_s) == (1, DAY_S)
    visit = judge(visit, response(304), NOW + 4 * DAY_S, CONFIG, CENSUS).visit
    assert visit.state == VisitState.FETCHED and visit.history.unchanged_s == 3 * DAY_S
    visit, is_news = look(gone(visit, "status 404", NOW + 5 * DAY_S, CONFIG), NEW, NOW + 6 * DAY_S)
    assert is_news  # it came back as it was, but what is stored says that it is gone


def test_an_unchanged_page_may_say_that_it_does_not_want_to_be_found_any_more() -> None:
    visit, _ = look(VISIT, OLD, NOW)
    judged = judge(visit, response(304, X_Robots_Tag="noindex"), NOW + DAY_S, CONFIG, CENSUS)
    assert (judged.follow_up, judged.visit.state, judged.visit.reason) == (FollowUp.GONE, VisitState.GONE, NOINDEX)


def test_a_failure_between_does_not_hide_how_long_a_page_was_not_seen() -> None:
    visit, _ = look(VISIT, OLD, NOW)
    visit = failed(visit, "status 503", NOW + DAY_S, CONFIG)
    visit, is_news = look(visit, OLD, NOW + 3 * DAY_S)
    assert not is_news and visit.history.unchanged_s == 3 * DAY_S


def test_a_page_that_never_changes_is_stored_anew_before_its_document_expires() -> None:
    visit, _ = look(VISIT, OLD, NOW)
    assert validators(visit, NOW + KEEP_AGAIN_S - 1) and not validators(visit, NOW + KEEP_AGAIN_S + 1)
    visit, is_news = look(visit, OLD, NOW + KEEP_AGAIN_S + 1)
    assert is_news and visit.history.changes == 0


def test_failures_wait_longer_and_then_rest() -> None:
    visit, waits = VISIT, []
    for _ in range(6):
        visit = failed(visit, "why", NOW, CONFIG)
        waits.append(visit.due_at - NOW)
    assert waits == [30, 120, 480, 1920, 7680, 30 * DAY_S]
    assert judge(visit, response(200), NOW, CONFIG, CENSUS).visit.fails == 0


def test_only_a_page_that_was_stored_is_asked_conditionally() -> None:
    history = History(seen_at=int(NOW), kept_at=int(NOW))
    known = replace(VISIT, etag='"1"', last_modified="then", state=VisitState.FETCHED, history=history)
    assert validators(known, NOW) == {"If-None-Match": '"1"', "If-Modified-Since": "then"}
    assert validators(replace(known, state=VisitState.REFUSED), NOW) == {}


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("", "redirect without a target"),
        ("  ", "redirect without a target"),
        ("javascript:alert(1)", "redirect to what cannot be fetched: javascript:alert(1)"),
        ("http://a.test/#top", "redirect to itself"),
    ],
)
def test_a_redirect_that_leads_nowhere_says_where_to(location: str, reason: str) -> None:
    judged = judge(VISIT, replace(response(302, Location=location), body=b""), NOW, CONFIG, CENSUS)
    assert (judged.visit.state, judged.visit.reason) == (VisitState.REFUSED, reason)


FETCHED, REDIRECT, REFUSED, FAILED = VisitState.FETCHED, VisitState.REDIRECT, VisitState.REFUSED, VisitState.FAILED


@pytest.mark.parametrize(
    ("before", "now", "status", "reason", "outlived"),
    [
        (FETCHED, REDIRECT, 301, "", True),
        (FETCHED, REDIRECT, 308, "", True),
        (FETCHED, REDIRECT, 302, "", False),  # for a while, it says
        (REDIRECT, REDIRECT, 302, "", True),
        (FETCHED, REFUSED, 401, "status 401", True),
        (FETCHED, REFUSED, 403, "status 403", False),  # perhaps this node's address alone
        (REFUSED, REFUSED, 403, "status 403", True),
        (FAILED, REFUSED, 403, "status 403", False),
        (FETCHED, REFUSED, 200, "media type: image/png", True),
        (FETCHED, REFUSED, 200, "robots", False),
        (REFUSED, REFUSED, 200, "robots", True),
        (FAILED, FAILED, 500, "status 500", False),
        (FETCHED, FETCHED, 200, "", False),
        (REFUSED, REFUSED, 200, f"{REASON}http://b.test/", False),
    ],
)
def test_a_stored_page_goes_when_its_site_has_none_any_more(
    before: VisitState, now: VisitState, status: int, reason: str, outlived: bool
) -> None:
    stored = replace(VISIT, state=before, history=History(fingerprint=OLD))
    outcome = replace(stored, state=now, status=status, reason=reason)
    assert is_outlived(stored, outcome) is outlived
    assert not is_outlived(replace(stored, history=History()), outcome), "nothing is stored"
    assert not is_outlived(replace(stored, is_sitemap=True), outcome)


STORED = replace(VISIT, state=VisitState.FETCHED, visited_at=NOW - DAY_S, etag='"1"', history=History(fingerprint=OLD))


def test_what_robots_disallow_is_hidden_where_it_is_stored_and_erased_a_week_later() -> None:
    first = barred(STORED, NOW, CONFIG)
    assert first.visit.is_hidden and first.follow_up == FollowUp.NOTHING
    assert first.visit.due_at == NOW + DAY_S and first.visit.history.fingerprint == OLD
    assert not is_outlived(STORED, first.visit)
    later = barred(first.visit, NOW + 6.5 * DAY_S, CONFIG)
    assert later.visit.barred_at == NOW and later.visit.due_at == NOW + 7 * DAY_S
    assert later.follow_up == FollowUp.NOTHING and not is_outlived(first.visit, later.visit)
    last = barred(later.visit, NOW + 7 * DAY_S, CONFIG)
    assert last.follow_up == FollowUp.GONE and not last.visit.history.fingerprint and not last.visit.is_hidden


def test_what_robots_allow_again_is_shown_without_a_request_and_indexes_are_told_for_good() -> None:
    hidden = barred(STORED, NOW, CONFIG).visit
    shown = allowed_again(hidden, NOW + DAY_S)
    assert (shown.state, shown.due_at, shown.etag) == (VisitState.FETCHED, NOW + DAY_S, STORED.etag)
    assert not shown.is_hidden and shown.barred_at == -NOW
    stored, is_news = outcome_of_reading(shown, shown, NEW, NOW + 2 * DAY_S, CENSUS)
    assert is_news and stored.barred_at == -NOW and gone(stored, "", NOW, CONFIG).barred_at == -NOW
    assert barred(shown, NOW + 9 * DAY_S, CONFIG).visit.barred_at == NOW + 9 * DAY_S, "the week begins anew"


def test_where_nothing_is_stored_there_is_nothing_to_hide() -> None:
    assert barred(VISIT, NOW, CONFIG).visit.barred_at == 0.0
    assert str(gone(VISIT, "", NOW, CONFIG).barred_at) == "0.0", "as it is written everywhere"


ALIAS = MirrorAlias("http://www.a.example/", "https://b.example/", 1.0)
ALIAS_URL, TWIN_URL = "http://www.a.example/x?y=1", "https://b.example/x?y=1"
ALIAS_VISIT = Visit(ALIAS_URL, 3)


def twin(state: VisitState, reason: str = "", target: str = "") -> Visit:
    return Visit(TWIN_URL, 3, state=state, reason=reason, target=target, visited_at=NOW - 1)


@pytest.mark.parametrize(
    ("known", "is_left"),
    [
        (twin(VisitState.FETCHED), True),
        (twin(VisitState.REDIRECT, target="https://c.example/"), True),
        (twin(VisitState.REFUSED, "media type: image/png"), True),
        (twin(VisitState.GONE), False),
        (twin(VisitState.REFUSED, "robots"), False),
        (twin(VisitState.REFUSED, "guard: soft 404, 10 other pages of the site say the same"), False),
        (twin(VisitState.REDIRECT, target=ALIAS_URL), False),
        (twin(VisitState.REFUSED, "alias of http://www.a.example/", ALIAS_URL), False),
    ],
)
def test_what_only_the_alias_has_is_fetched_there(known: Visit, is_left: bool) -> None:
    outcome = left_to_twin(ALIAS_VISIT, ALIAS, known, NOW, CONFIG)
    assert (outcome is not None) == is_left
    if outcome is not None:
        assert (outcome.state, outcome.reason, outcome.target) == (
            VisitState.REFUSED,
            "alias of https://b.example/",
            TWIN_URL,
        )
        assert outcome.due_at == NOW + CONFIG.gone_revisit_s and outcome.fails == 0


@pytest.mark.parametrize("known", [None, twin(VisitState.WAITING), twin(VisitState.FAILED)])
def test_a_twin_that_nobody_has_fetched_is_looked_at_again_less_and_less_often(known: Visit | None) -> None:
    visit, now, waits = ALIAS_VISIT, NOW, []
    for _ in range(8):
        outcome = left_to_twin(visit, ALIAS, known, now, CONFIG)
        assert outcome is not None
        waits.append(outcome.due_at - now)
        visit, now = outcome, outcome.due_at
    assert waits[0] == LOOK_S and waits == sorted(waits) and waits[-1] == DAY_S
    moved = left_to_twin(
        ALIAS_VISIT, MirrorAlias(ALIAS.origin, ALIAS.target, 1.0, AliasEvidence.REDIRECTS), known, NOW, CONFIG
    )
    assert moved is not None and moved.due_at == NOW + CONFIG.gone_revisit_s, "there is no page to be lost"


@pytest.mark.parametrize(
    ("scope", "denied", "wanted"),
    [
        ("", "", True),
        ("www.a.example", "", False),
        ("b.example", "", True),
        ("", "b.example", False),
        ("", "www.a.example", True),
    ],
)
def test_who_wants_this_host_and_rules_win(scope: str, denied: str, wanted: bool) -> None:
    visit = Visit(ALIAS_URL, 3, scope=scope)
    assert may_stand_in(visit, TWIN_URL, lambda url: CrawlDecision(not denied or denied not in url)) == wanted


def test_the_scope_of_a_host_moves_along_to_its_name_without_www() -> None:
    visit = Visit(ALIAS_URL, 3, scope="www.a.example")
    assert may_stand_in(visit, "https://a.example/x?y=1", lambda url: CrawlDecision(True))
    assert not may_stand_in(ALIAS_VISIT, "https://b.example/" + "x" * 2050, lambda url: CrawlDecision(True))
    assert not may_stand_in(ALIAS_VISIT, "https://B.example/x", lambda url: CrawlDecision(True)), (
        "no liar's URL is passed on"
    )
