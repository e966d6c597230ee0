"""A URL of an alias is left to its twin, unless it is the only one, or somebody wants it there."""

import pytest

from crawl import CrawlConfig, CrawlDecision, Visit, VisitState
from crawl.config import DAY_S
from crawl.frontier.mirror_alias import AliasEvidence, MirrorAlias
from crawl.pipeline.mirror_twins import LOOK_S, left_to_twin, may_stand_in

CONFIG, NOW = CrawlConfig(), 1e9
ALIAS = MirrorAlias("http://www.a.example/", "https://b.example/", 1.0)
URL, TWIN = "http://www.a.example/x?y=1", "https://b.example/x?y=1"
VISIT = Visit(URL, 3)


def twin(state: VisitState, reason: str = "", target: str = "") -> Visit:
    return Visit(TWIN, 3, state=state, reason=reason, target=target, visited_at=NOW - 1)


@pytest.mark.parametrize(
    ("known", "is_left"),
    [
        (twin(VisitState.FETCHED), True),
        (twin(VisitState.REDIRECT, target="https://c.example/"), True),
        (twin(VisitState.REFUSED, "media type: image/png"), True),
        (twin(VisitState.GONE), False),
        (twin(VisitState.REFUSED, "robots"), False),
        (twin(VisitState.REFUSED, "guard: soft 404, 10 other pages of the site say the same"), False),
        (twin(VisitState.REDIRECT, target=URL), False),
        (twin(VisitState.REFUSED, "alias of http://www.a.example/", URL), False),
    ],
)
def test_what_only_the_alias_has_is_fetched_there(known: Visit, is_left: bool) -> None:
    outcome = left_to_twin(VISIT, ALIAS, known, NOW, CONFIG)
    assert (outcome is not None) == is_left
    if outcome is not None:
        assert (outcome.state, outcome.reason, outcome.target) == (
            VisitState.REFUSED,
            "alias of https://b.example/",
            TWIN,
        )
        assert outcome.due_at == NOW + CONFIG.gone_revisit_s and outcome.fails == 0


@pytest.mark.parametrize("known", [None, twin(VisitState.WAITING), twin(VisitState.FAILED)])
def test_a_twin_that_nobody_has_fetched_is_looked_at_again_less_and_less_often(known: Visit | None) -> None:
    visit, now, waits = VISIT, NOW, []
    for _ in range(8):
        outcome = left_to_twin(visit, ALIAS, known, now, CONFIG)
        assert outcome is not None
        waits.append(outcome.due_at - now)
        visit, now = outcome, outcome.due_at
    assert waits[0] == LOOK_S and waits == sorted(waits) and waits[-1] == DAY_S
    moved = left_to_twin(
        VISIT, MirrorAlias(ALIAS.origin, ALIAS.target, 1.0, AliasEvidence.REDIRECTS), known, NOW, CONFIG
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
    visit = Visit(URL, 3, scope=scope)
    assert may_stand_in(visit, TWIN, lambda url: CrawlDecision(not denied or denied not in url), NOW) == wanted


def test_the_scope_of_a_host_moves_along_to_its_name_without_www() -> None:
    visit = Visit(URL, 3, scope="www.a.example")
    assert may_stand_in(visit, "https://a.example/x?y=1", lambda url: CrawlDecision(True), NOW)
    assert not may_stand_in(VISIT, "https://b.example/" + "x" * 2050, lambda url: CrawlDecision(True), NOW)
    assert not may_stand_in(VISIT, "https://B.example/x", lambda url: CrawlDecision(True), NOW), (
        "no liar's URL is passed on"
    )
