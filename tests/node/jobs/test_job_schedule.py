"""The crawl jobs that are submitted again: when each is due, their bounds, and the file that outlasts a restart."""

import asyncio
from pathlib import Path

import pytest

from node.api.crawl import Pace, Seed
from node.errors import BadDataDir, NothingToDo
from node.jobs.job_schedule import MAX_BYTES, MAX_JOBS, MAX_SEEDS, JobSchedule, ScheduledJob

DAY_S = 86_400.0
LONGEST = (Seed("http://a.test/".ljust(2048, "x"), "a.test/".ljust(2048, "x"), False, "fetched"),) * MAX_SEEDS


def job(number: int, every: Pace = "daily", at: float = 1000.0) -> ScheduledJob:
    return ScheduledJob(number, at, every, 2, "host", (Seed(f"http://{number}.test/", f"{number}.test", False, ""),))


def due(schedule: JobSchedule, now: float) -> list[int]:
    return [each.number for each in schedule.due(now)]


def test_a_job_is_due_a_day_or_a_week_after_it_was_submitted_and_once_after_a_long_rest() -> None:
    schedule = JobSchedule(None)
    asyncio.run(schedule.add(job(1)))
    asyncio.run(schedule.add(job(2, "weekly")))
    assert due(schedule, 999.0 + DAY_S) == [] and due(schedule, 1000.0 + DAY_S) == [1]
    assert due(schedule, 1000.0 + 7 * DAY_S) == [1, 2]
    assert asyncio.run(schedule.note_submitted(1, 9 * DAY_S)) and due(schedule, 10 * DAY_S - 1.0) == [2]


def test_jobs_outlast_a_restart_until_they_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    first = JobSchedule(file)
    for number in (1, 2, 3):
        asyncio.run(first.add(job(number)))
    asyncio.run(first.note_submitted(2, 2000.0))
    asyncio.run(first.drop(3))
    assert JobSchedule(file).jobs == (job(1), job(2, at=2000.0))
    assert not asyncio.run(first.note_submitted(3, 3000.0)), "dropped while it was submitted"
    assert due(JobSchedule(file), 9 * DAY_S) == [1, 2]


def test_the_jobs_and_the_addresses_of_one_are_bounded_and_fit_the_file(tmp_path: Path) -> None:
    schedule = JobSchedule(tmp_path / "schedule.json")
    schedule.check(MAX_SEEDS)
    with pytest.raises(NothingToDo, match="every takes at most 10 addresses, not 11"):
        schedule.check(MAX_SEEDS + 1)
    longest = ScheduledJob(1 << 30, 1.8e9, "weekly", 100, "prefix", LONGEST)
    schedule.jobs = (longest,) * (MAX_JOBS - 1)
    asyncio.run(schedule.add(longest))
    with pytest.raises(NothingToDo, match="has 100 jobs already"):
        schedule.check(1)
    assert (tmp_path / "schedule.json").stat().st_size < MAX_BYTES
    assert len(JobSchedule(tmp_path / "schedule.json").jobs) == MAX_JOBS


@pytest.mark.parametrize("text", ["[{}]", "[", '[{"every": "hourly"}]', "x" * (MAX_BYTES + 1)])
def test_a_damaged_file_stops_the_start_and_names_the_remedy(tmp_path: Path, text: str) -> None:
    (tmp_path / "schedule.json").write_text(text)
    with pytest.raises(BadDataDir, match=r"schedule\.json: cannot be read: .*; mend it, or delete it"):
        JobSchedule(tmp_path / "schedule.json")
