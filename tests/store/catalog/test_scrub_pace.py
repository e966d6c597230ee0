"""When the bytes of a scrub are due."""

import random

from msgspec.structs import replace

from store.catalog.scrub_pace import (
    DAY_S,
    LONGEST_REST_S,
    MOST_BYTES_S,
    STEP_BYTES,
    ScrubPass,
    asked_pass,
    is_over,
    next_pass,
    period_of,
    rest_s,
)  # fmt: skip


def passes(total: int, period_s: float, began: float, now: float) -> tuple[float, float]:
    """Read a store of so many bytes from a moment on; returns when the pass ended and the least pause."""
    state, least = ScrubPass(began), float("inf")
    while not is_over(state, total - state.read_bytes, period_s, now):
        if (rest := rest_s(state, total - state.read_bytes, period_s, now)) > 0:
            now += rest
            continue
        state = replace(state, read_bytes=min(total, state.read_bytes + STEP_BYTES))
        rest = rest_s(state, total - state.read_bytes, period_s, now) or STEP_BYTES / MOST_BYTES_S
        least = min(least, rest)
        now += rest
    return now, least


def test_every_node_reads_all_in_25_to_35_days_and_each_in_another_time() -> None:
    rng = random.Random(1)
    periods = [period_of(rng.randbytes(20)) for _ in range(200)]
    assert all(25 * DAY_S <= period <= 35 * DAY_S for period in periods) and len(set(periods)) == 200
    assert max(periods) - min(periods) > 9 * DAY_S


def test_a_pass_ends_with_its_period_and_is_spread_over_it() -> None:
    period = 30.0 * DAY_S
    ended, least = passes(400 * STEP_BYTES, period, 1000.0, 1000.0)
    assert 0 <= ended - 1000.0 - period <= LONGEST_REST_S and least == LONGEST_REST_S


def test_who_was_away_catches_up_at_no_more_than_the_bound() -> None:
    period, late = 30.0 * DAY_S, 40.0 * DAY_S
    ended, least = passes(400 * STEP_BYTES, period, 0.0, late)
    assert least == STEP_BYTES / MOST_BYTES_S and ended - late == 400 * STEP_BYTES / MOST_BYTES_S


def test_an_empty_store_and_a_clock_that_goes_back_start_no_race() -> None:
    assert rest_s(ScrubPass(1000.0), 0, 30.0 * DAY_S, 1000.0) == LONGEST_REST_S
    assert rest_s(ScrubPass(1e9), 10_000, 30.0 * DAY_S, 0.0) == LONGEST_REST_S


def test_the_next_pass_remembers_what_the_one_before_found() -> None:
    after = next_pass(ScrubPass(5.0, 7, 9, 100, found=3), 50.0)
    assert after == ScrubPass(50.0, ended_at=50.0, found_before=3)


def test_a_pass_that_was_asked_for_waits_for_nothing_until_all_is_read_and_is_begun_once() -> None:
    before = ScrubPass(5.0, 7, 9, 100, found=3, ended_at=4.0, found_before=2)
    asked = asked_pass(before, 50.0)
    assert (asked.begun_at, asked.segment, asked.found, asked.ended_at, asked.found_before) == (50.0, 0, 0, 4.0, 2)
    assert rest_s(asked, 1, 30.0 * DAY_S, 50.0) == 0.0
    assert asked_pass(asked, 60.0) is asked, "it goes on as it is"
    done = replace(asked, read_bytes=100, read_at=70.0)
    assert rest_s(done, 1, 30.0 * DAY_S, 70.0) == LONGEST_REST_S, "what is written later has time"
    assert asked_pass(done, 80.0).asked_at == 80.0
