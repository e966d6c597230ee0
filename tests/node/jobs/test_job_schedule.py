"""The crawl jobs that are submitted again: when each is due, their bounds, and the file that outlasts a restart."""

import asyncio
from pathlib import Path

import pytest

from dht import FaultSite, LocalFaults, system_clock
from node.api.crawl import Pace, Seed
from node.errors import BadDataDir, NothingToDo
from node.jobs.job_schedule import (
    MAX_BYTES,
    MAX_JOBS,
    MAX_ONCE,
    MAX_ONCE_BYTES,
    MAX_SEEDS,
    RETRY_S,
    JobSchedule,
    ScheduledJob,
)

DAY_S = 86_400.0
FAULTS = LocalFaults(system_clock)
LONGEST = (Seed("http://a.test/".ljust(2048, "x"), "a.test/".ljust(2048, "x"), False, "fetched"),) * MAX_SEEDS


def job(number: int, every: Pace = "daily", at: float = 1000.0, urls: int = 1) -> ScheduledJob:
    seeds = (Seed(f"http://{number}.test/", f"{number}.test", False, ""),) * urls
    return ScheduledJob(number, at, every, 2, "host", seeds, ("/private/",) if number == 2 else ())


def due(schedule: JobSchedule, now: float) -> list[int]:
    return [each.number for each in schedule.due(now)]


def test_a_job_is_due_a_day_or_a_week_after_it_was_submitted_and_once_after_a_long_rest() -> None:
    schedule = JobSchedule(None, FAULTS)
    asyncio.run(schedule.add(job(1)))
    asyncio.run(schedule.add(job(2, "weekly")))
    assert due(schedule, 999.0 + DAY_S) == [] and due(schedule, 1000.0 + DAY_S) == [1]
    assert due(schedule, 1000.0 + 7 * DAY_S) == [1, 2]
    assert asyncio.run(schedule.note_submitted(1, 9 * DAY_S)) and due(schedule, 10 * DAY_S - 1.0) == [2]


def test_a_job_that_fails_waits_for_an_hour_and_one_that_runs_once_is_never_due() -> None:
    schedule = JobSchedule(None, FAULTS)
    asyncio.run(schedule.add(job(1)))
    asyncio.run(schedule.add(job(2, "")))
    now = 1000.0 + DAY_S
    schedule.put_off(1, now)
    assert due(schedule, now + RETRY_S - 1.0) == [] and due(schedule, now + RETRY_S) == [1]


def test_a_job_that_the_disk_refuses_holds_until_the_disk_takes_it(tmp_path: Path) -> None:
    file, faults = tmp_path / "full" / "schedule.json", LocalFaults(system_clock)
    schedule = JobSchedule(file, faults)
    asyncio.run(schedule.add(job(1)))
    assert asyncio.run(schedule.note_submitted(1, 9 * DAY_S)) and due(schedule, 9 * DAY_S + 60.0) == []
    (fault,) = faults.present()
    assert fault.site == FaultSite.JOBS and "until this node stops" in str(fault)
    file.parent.mkdir()
    asyncio.run(schedule.try_again())
    assert JobSchedule(file, faults).jobs == (job(1, at=9 * DAY_S),)


def test_jobs_outlast_a_restart_until_they_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    first = JobSchedule(file, FAULTS)
    for number in (1, 2, 3):
        asyncio.run(first.add(job(number)))
    asyncio.run(first.note_submitted(2, 2000.0))
    asyncio.run(first.drop(3))
    assert JobSchedule(file, FAULTS).jobs == (job(1), job(2, at=2000.0))
    assert not asyncio.run(first.note_submitted(3, 3000.0)), "dropped while it was submitted"
    assert due(JobSchedule(file, FAULTS), 9 * DAY_S) == [1, 2]


def test_the_jobs_and_the_addresses_of_one_are_bounded_and_fit_the_file(tmp_path: Path) -> None:
    schedule = JobSchedule(tmp_path / "schedule.json", FAULTS)
    schedule.check(MAX_SEEDS)
    with pytest.raises(NothingToDo, match="every takes at most 10 addresses, not 11"):
        schedule.check(MAX_SEEDS + 1)
    longest = ScheduledJob(1 << 30, 1.8e9, "weekly", 100, "prefix", LONGEST)
    schedule.jobs = (longest,) * (MAX_JOBS - 1)
    asyncio.run(schedule.add(longest))
    with pytest.raises(NothingToDo, match="has 100 jobs already"):
        schedule.check(1)
    for number in range(1, MAX_ONCE + 4):
        asyncio.run(schedule.add(job(number, "")))
    assert [each.number for each in schedule.jobs[MAX_JOBS:]] == list(range(4, MAX_ONCE + 4)), "the newest others"
    asyncio.run(schedule.add(job(90, "", urls=MAX_ONCE_BYTES // 22)))
    assert [each.number for each in schedule.jobs[MAX_JOBS:]] == [90], "it has nearly all the room"
    asyncio.run(schedule.drop(90))
    assert (tmp_path / "schedule.json").stat().st_size < MAX_BYTES
    assert len(JobSchedule(tmp_path / "schedule.json", FAULTS).jobs) == MAX_JOBS


@pytest.mark.parametrize("text", ["[{}]", "[", '[{"every": "hourly"}]', "x" * (MAX_BYTES + 1)])
def test_a_damaged_file_stops_the_start_and_names_the_remedy(tmp_path: Path, text: str) -> None:
    (tmp_path / "schedule.json").write_text(text)
    with pytest.raises(BadDataDir, match=r"schedule\.json: cannot be read: .*; mend it, or delete it"):
        JobSchedule(tmp_path / "schedule.json", FAULTS)
