"""Figures over time: the last hour by steps, the last day by minutes, in memory that does not grow."""

from math import isnan, nan

from node.owner.figure_history import MINUTES, PER_MINUTE, STEPS, FigureHistory, Figures


def test_the_day_holds_means_of_minutes_and_what_nobody_knows_has_no_part_in_them() -> None:
    history = FigureHistory()
    for step in range(2 * PER_MINUTE):
        history.add(step * 10.0, Figures(pages_per_s=step, p50_ms=nan if step % 2 else 40.0))
    assert history.series("day", "pages_per_s") == [(50.0, 2.5), (110.0, 8.5)]
    assert history.series("day", "p50_ms") == [(50.0, 40.0), (110.0, 40.0)]
    assert all(isnan(value) for _, value in history.series("day", "copies"))


def test_an_hour_and_a_day_are_kept_and_no_more() -> None:
    history = FigureHistory()
    for step in range(MINUTES * PER_MINUTE + 600):
        history.add(step * 10.0, Figures(peers=step))
    hour, day = history.series("hour", "peers"), history.series("day", "peers")
    last = (MINUTES * PER_MINUTE + 599) * 10.0
    assert (len(hour), hour[0][0], hour[-1][0]) == (STEPS, last - 10.0 * (STEPS - 1), last)
    assert (len(day), day[-1][0]) == (MINUTES, last)
