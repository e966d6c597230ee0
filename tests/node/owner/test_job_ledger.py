"""The last crawls that were handed in: how far each is, within bounds."""

from typing import Any

from node.api.crawl import Seed
from node.jobs.job_schedule import MAX_ONCE
from node.owner.job_ledger import ASKED_AT_ONCE, CANCELLED_WITHIN_S, MAX_FOLLOWED, JobLedger


def seeds(name: str, count: int) -> list[Seed]:
    return [Seed(f"http://{name}.test/{n}", "", False, "") for n in range(count)]


def answer(url: str, state: str, *found: str) -> dict[str, Any]:
    links = [{"url": link, "depth": 0, "scope": ""} for link in found]
    return {"url": url, "state": state, "reason": "status 500" if state == "failed" else "", "found": links}


def test_a_job_is_followed_to_its_end_through_what_it_led_to() -> None:
    ledger = JobLedger()
    ledger.note(seeds("a", 2), 1, 1000.0)
    ((wait, asked, _),) = ledger.ask()
    wait.take(asked, [answer(asked[0]["url"], "fetched", "http://a.test/x"), answer(asked[1]["url"], "failed")])
    (row,) = ledger.rows()
    assert (row.number, row.first, row.seeds, row.depth, row.at) == (1, "http://a.test/0", 2, 1, 1000.0)
    assert (row.wait.followed, row.waiting, row.is_done) == (3, 1, False)
    assert row.wait.counts == {"fetched": 1, "failed": 1}
    assert row.reasons == ["1 status 500"]
    ((wait, asked, _),) = ledger.ask()
    wait.take(asked, [answer(asked[0]["url"], "gone")])
    assert ledger.rows()[0].is_done and ledger.rows()[0].others == 1 and ledger.ask() == []


def test_jobs_what_is_followed_and_what_is_asked_at_once_are_bounded() -> None:
    ledger = JobLedger()
    for n in range(MAX_ONCE + 5):
        ledger.note(seeds(f"j{n}", 60), 0, float(n))
    ledger.note([], 0, 99.0)
    assert [row.at for row in ledger.rows()] == [float(n) for n in range(MAX_ONCE + 4, 4, -1)]
    asked = ledger.ask()
    assert sum(len(each) for _, each, _ in asked) == ASKED_AT_ONCE and len(asked) == 2
    ledger.note(seeds("big", 1000), 3, 100.0)
    wait, first, _ = ledger.ask()[0]
    many = [f"http://big.test/{n}" for n in range(1000, 5000)]
    wait.take(first, [answer(each["url"], "fetched", *many) for each in first])
    row = ledger.rows()[0]
    assert row.wait.is_cut and row.wait.followed == MAX_FOLLOWED


def test_a_job_is_cancelled_by_its_number_until_a_new_one_may_ask_for_the_same() -> None:
    ledger = JobLedger()
    ledger.note(seeds("a", 2), 1, 1000.0)
    assert ledger.cancel(2, 1001.0) is None and not ledger.is_cancelling(1001.0)
    assert ledger.cancel(1, 1001.0) is not None and ledger.is_cancelling(1002.0)
    ((_, _, is_cancelling),) = ledger.ask()
    assert is_cancelling and not ledger.is_cancelling(1001.0 + CANCELLED_WITHIN_S)
    ledger.note(seeds("a", 1), 1, 1003.0)
    assert not ledger.is_cancelling(1004.0)
    ledger.begin_round()
    assert not any(is_cancelling for _, _, is_cancelling in ledger.ask())
    assert [row.is_cancelled for row in ledger.rows()] == [False, True]


def test_a_job_that_repeats_keeps_its_number_and_stays_listed_until_it_is_cancelled() -> None:
    ledger = JobLedger()
    assert ledger.note(seeds("a", 1), 1, 1000.0, "daily", 7) == 7, "as it was before a restart"
    assert ledger.note(seeds("b", 1), 1, 1001.0) == 8
    ledger.note(seeds("a", 1), 1, 2000.0, "daily", 7)
    assert [(row.number, row.at) for row in ledger.rows()] == [(7, 2000.0), (8, 1001.0)]
    for n in range(MAX_ONCE):
        ledger.note(seeds(f"j{n}", 1), 0, 3000.0)
    assert [row.number for row in ledger.rows()] == [*range(8 + MAX_ONCE, 8, -1), 7]
    ledger.cancel(7, 4000.0)
    assert ledger.rows()[-1].every == "" and ledger.rows()[-1].is_cancelled
