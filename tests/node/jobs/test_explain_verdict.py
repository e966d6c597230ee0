from dataclasses import replace

import pytest

from crawl import QueuePosition, RobotsAccess, UrlStage, UrlStatus, Visit, VisitState
from node.jobs.explain_verdict import Facts, changes, verdict

NOW = 1_000_000.0
VISIT = Visit("http://a.test/", 1)
READY = UrlStatus(QueuePosition(UrlStage.READY, 3, 4.0), RobotsAccess.ALLOWED)
DUE = Facts("", VISIT, "node ab", True, READY, False)


@pytest.mark.parametrize(
    ("facts", "answer", "words"),
    [
        (replace(DUE, denied="rule 2 of strategy 7 denies it"), "no", "rule 2"),
        (replace(DUE, visit=None), "unknown", "add it with"),
        (replace(DUE, visit=None, status=UrlStatus()), "unknown", "add it with"),
        (replace(DUE, visit=None, refused_here='crawl.refuse "a.test"'), "no", 'this node\'s crawl.refuse "a.test"'),
        (replace(DUE, visit=None, denied="rule 2 of strategy 7"), "no", "rule 2"),
        (replace(DUE, visit=None, status=replace(READY, robots=RobotsAccess.DISALLOWED)), "no", "robots.txt forbids"),
        (replace(DUE, visit=None, status=replace(READY, trap="a private address")), "no", "private address"),
        (replace(DUE, status=replace(READY, robots=RobotsAccess.DISALLOWED)), "no", "robots.txt forbids"),
        (replace(DUE, status=replace(READY, trap="guard: 20 of 20")), "no", "guard: 20"),
        (replace(DUE, status=replace(READY, position=QueuePosition(UrlStage.OPEN))), "now", "node ab is fetching it"),
        (DUE, "yes", "due, by node ab, its host may be asked again in 4 s, after 3 URLs of its host"),
        (
            replace(
                DUE,
                visit=Visit("u", 1, state=VisitState.FAILED, fails=1, reason="status 503", visited_at=NOW),
                status=replace(READY, position=QueuePosition(UrlStage.READY, 0, 86_000.0)),
            ),
            "later",
            "status 503; due, but its host rests 24 hours more",
        ),
        (replace(DUE, status=replace(READY, robots=RobotsAccess.UNKNOWN)), "yes", "after the site's robots.txt"),
        (
            replace(DUE, status=replace(READY, robots=RobotsAccess.BARRED, robots_why="503")),
            "later",
            "not be read: 503",
        ),
        (replace(DUE, status=replace(READY, pause_reason="disk full")), "later", "does not crawl: disk full"),
        (replace(DUE, is_refused=True), "yes", "by another owner, ordered by node ab"),
        (replace(DUE, fetcher="node ab"), "yes", "due, by node ab, its host"),
        (
            replace(DUE, fetcher="node cd", fetcher_why="rule 2 names it"),
            "yes",
            "by node cd, ordered by node ab, since",
        ),
        (replace(DUE, fetcher="node ab", fetcher_why="node cd is away"), "yes", "due, by node ab, since node cd is"),
        (replace(DUE, fetcher_why="refused here by all"), "later", "due, but refused here by all"),
        (replace(DUE, address="rule 2 says never from 10.0.0.0/8"), "no", "rule 2 says never"),
        (replace(DUE, visit=None, address="rule 2 says never"), "no", "rule 2 says never"),
        (replace(DUE, holder="", asked=False), "later", "no node holds the lease"),
        (replace(DUE, asked=False), "yes", "did not answer"),
        (
            replace(DUE, visit=Visit("u", 1, state=VisitState.FETCHED, visited_at=NOW - 60, due_at=NOW + 7200)),
            "later",
            "2 hours",
        ),
        (
            replace(DUE, visit=Visit("u", 1, state=VisitState.FETCHED, reason="needs JavaScript", due_at=NOW + 9)),
            "later",
            "ago: needs JavaScript; due again in 9 s",
        ),
        (
            replace(
                DUE, visit=Visit("u", 1, state=VisitState.FAILED, fails=2, reason="503", visited_at=NOW, due_at=NOW + 9)
            ),
            "later",
            "failed 2 times, last 0 s ago: 503; due again in 9 s",
        ),
    ],
)
def test_one_answer_and_its_reason(facts: Facts, answer: str, words: str) -> None:
    found, why = verdict(facts, NOW)
    assert found == answer
    assert words in why


@pytest.mark.parametrize(
    ("text", "url", "words"),
    [
        ("http://a.test/", "http://a.test/", ""),
        (
            "HTTP://A.Test:80#x",
            "http://a.test/",
            "the fragment is dropped; the host is written a.test",
        ),
        (
            "http://u:p@a.test/%7eb/../c?utm_x=1&q=2",
            "http://a.test/c?q=2",
            "user name is dropped; the path is written /c; without utm_x",
        ),
    ],
)
def test_what_the_canonical_form_changes(text: str, url: str, words: str) -> None:
    assert words in "; ".join(changes(text, url))
