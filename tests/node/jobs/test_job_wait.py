from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from node.jobs import job_wait
from node.jobs.job_wait import UNKNOWN_TRIES, JobWait


def entry(url: str, depth: int = 0) -> dict[str, Any]:
    return {"url": url, "depth": depth, "scope": ""}


def answer(url: str, state: str, *found: str, reason: str = "") -> dict[str, Any]:
    return {"url": url, "state": state, "reason": reason, "found": [entry(each) for each in found]}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7))
def test_whatever_the_order_all_that_can_be_reached_is_counted_once(seed: int, batch: int) -> None:
    rng = Random(seed)
    links = {str(n): [str(rng.randrange(30)) for _ in range(rng.randrange(4))] for n in range(30)}
    missing = {str(n) for n in range(30) if rng.random() < 0.2} - {"0"}
    done: set[str] = set()
    track = JobWait([entry("0")])
    while not track.is_done:
        asked = track.ask(batch)
        answers = []
        for url in (each["url"] for each in asked):
            if url not in missing and rng.random() < 0.5:
                done.add(url)
            state = "unknown" if url in missing else "fetched" if url in done else "waiting"
            answers.append(answer(url, state, *(links[url] if state == "fetched" else ())))
        track.take(asked, answers)
    reached, todo = {"0"}, ["0"]
    while todo:
        news = set(links[todo.pop()]) - reached - missing
        reached |= news
        todo += news
    assert track.counts == {"fetched": len(reached)}
    assert done >= reached


def test_a_seed_that_nobody_knows_yet_is_waited_for_and_a_link_is_not() -> None:
    track = JobWait([entry("seed")])
    for _ in range(UNKNOWN_TRIES + 3):
        track.take(track.ask(9), [answer("seed", "unknown")])
    assert not track.is_done
    track.take(track.ask(9), [answer("seed", "failed", reason="status 503")])
    assert (track.is_done, track.line(), track.reasons) == (True, "0 fetched, 0 waiting, 1 failed", {"status 503": 1})


def test_redirects_that_are_no_plain_ones_are_counted_by_their_reasons() -> None:
    track = JobWait([entry("a"), entry("b")])
    track.take(track.ask(9), [answer("a", "redirect", reason="moved by a meta refresh"), answer("b", "redirect")])
    assert (track.line(), track.reasons) == (
        "0 fetched, 0 waiting, 0 failed, 2 redirected",
        {"moved by a meta refresh": 1},
    )


def test_a_crawl_without_end_is_followed_up_to_a_bound(monkeypatch: Any) -> None:
    monkeypatch.setattr(job_wait, "MAX_TRACKED", 3)
    track = JobWait([entry("a")])
    track.take(track.ask(9), [answer("a", "fetched", "b", "c", "d", "e")])
    assert (track.waiting, track.followed, track.is_cut) == (2, 3, True)


def test_reasons_that_differ_in_their_numbers_alone_are_one() -> None:
    reasons = ["guard: 19 of 20 pages like it say nothing new", "guard: 21 of 23 pages like it say nothing new"]
    reasons += [f"guard: soft 404, {n} other pages of the site say the same" for n in (10, 11)]
    reasons += [f"time: nothing usable within {n} s" for n in (20, 21)] + ["status 503", "status 500"]
    track = JobWait([entry(str(n)) for n in range(len(reasons))])
    track.take(track.ask(99), [answer(str(n), "refused", reason=reason) for n, reason in enumerate(reasons)])
    assert track.reasons == {
        "guard: pages like it say nothing new": 2,
        "guard: soft 404, other pages of the site say the same": 2,
        "time: nothing usable": 2,
        "status 503": 1,
        "status 500": 1,
    }
