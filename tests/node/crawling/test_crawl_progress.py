"""A crawl stands still while work is due and nothing gets done; not while it rests, and not after a sleep."""

from node.crawling.crawl_progress import PAUSED_S, CrawlProgress


def play(looks: list[tuple[float, int, bool]]) -> float:
    """Look at each (second, outcomes so far, whether work is due); return the seconds of standstill at the last one."""
    progress = CrawlProgress()
    for now, recorded, is_due in looks:
        progress.step(now, recorded, is_due=is_due)
    return progress.still_s(looks[-1][0])


def every_five(begin: int, end: int, recorded: int = 7, *, is_due: bool = True) -> list[tuple[float, int, bool]]:
    return [(float(second), recorded, is_due) for second in range(begin, end + 1, 5)]


def test_it_counts_from_the_last_outcome_while_work_is_due() -> None:
    assert 290.0 <= play([(0.0, 7, True), *every_five(5, 300)]) <= 300.0
    assert play([*every_five(0, 300), (305.0, 8, True)]) == 0.0, "something got done"
    assert play([(0.0, 0, False)]) == 0.0


def test_no_work_or_a_rest_is_no_standstill() -> None:
    assert play(every_five(0, 600, is_due=False)) == 0.0
    assert play([*every_five(0, 300), *every_five(305, 310, is_due=False), *every_five(315, 320)]) == 5.0


def test_a_sleep_does_not_count() -> None:
    woke_at = 300.0 + PAUSED_S + 5.0
    assert play([*every_five(0, 300), (woke_at, 7, True)]) == 0.0
    assert play([*every_five(0, 300), (woke_at, 7, True), (woke_at + 5.0, 7, True), (woke_at + 10.0, 7, True)]) == 5.0
