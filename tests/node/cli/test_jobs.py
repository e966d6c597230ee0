"""`dse-node jobs`: what was handed in, how far it is, and how it is cancelled."""

import json
from typing import Any

import pytest

from node.cli.main import main


def test_jobs_are_listed_with_their_numbers_and_one_is_cancelled(
    place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jobs", *place]) == 0
    head, first, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["ID", "ADDED"] and first.split()[0] == "1" and "900 fetched" in first
    assert "; 7 " in first, "the commonest reason of failures"
    assert "\x1b" not in first and "<script>" in first
    assert [" weekly " in line for line in rows] == [number == 3 for number in range(2, 17)]
    assert main(["jobs", "cancel", "3", *place]) == 0
    assert capsys.readouterr().out.startswith("cancelled: http://job2.test/")
    assert main(["jobs", *place, "--json"]) == 0
    jobs = json.loads(capsys.readouterr().out)["jobs"]
    assert [job["number"] for job in jobs if job["is_cancelled"]] == [3]


def test_a_job_that_is_not_there_and_a_missing_number_are_named(
    place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jobs", "cancel", "99", *place]) == 2
    assert "99 is no crawl job" in capsys.readouterr().err
    assert main(["jobs", "cancel", *place]) == 2
    assert "names no job" in capsys.readouterr().err


def test_a_crawl_that_repeats_says_so_and_has_a_pace_that_the_node_knows(
    site: Any, place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crawl", "a.test", "--every", "weekly", *place]) == 0
    assert site.service.paces == ["weekly"] and "1 address added, and again weekly" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["crawl", "a.test", "--every", "hourly", *place])


def test_a_crawl_leaves_out_what_its_patterns_match_and_a_bad_pattern_is_named(
    site: Any, place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crawl", "a.test", "--exclude", "/private/", "--exclude", r"\.pdf$", *place]) == 0
    assert site.service.left_out == [["/private/", r"\.pdf$"]]
    assert main(["crawl", "a.test", "--exclude", "((", *place]) == 2
    assert "exclude: '((' is no RE2 pattern" in capsys.readouterr().err
    assert main(["crawl", "--explain", "a.test", "--exclude", "x", *place]) == 2
    assert "use --dry-run with both" in capsys.readouterr().err
