"""Figures over time: the last hour by steps, a year in a file that outlasts restarts, gaps where the node was off."""

import asyncio
import sqlite3
from contextlib import closing
from math import isnan, nan
from pathlib import Path

import pytest

from node.owner.figure_file import KEPT, MAX_UNWRITTEN, MINUTE_S, QUARTER_S, TEN_MINUTES_S, FigureFile
from node.owner.figure_history import NAMES, PER_MINUTE, STEPS, FigureHistory, Figures, Series, Span

DAY_S = 86_400
NOON = 1_800_014_400.0  # a multiple of all steps


def lines(history: FigureHistory, span: Span, name: str, now: float) -> Series:
    return asyncio.run(history.lines(span, now))[name]


def minutes(history: FigureHistory, since: float, count: int, **figures: float) -> None:
    for step in range(1, count * PER_MINUTE + 1):
        history.add(since + step * 10.0, Figures(**figures))


def test_the_day_holds_means_of_minutes_and_what_nobody_knows_has_no_part_in_them() -> None:
    with closing(FigureHistory()) as history:
        for step in range(2 * PER_MINUTE):
            history.add(step * 10.0, Figures(pages_per_s=step, p50_ms=nan if step % 2 else 40.0))
        assert lines(history, "day", "pages_per_s", 200.0) == [(50.0, 2.5), (110.0, 8.5)]
        assert lines(history, "day", "p50_ms", 200.0) == [(50.0, 40.0), (110.0, 40.0)]
        assert all(isnan(value) for _, value in lines(history, "day", "copies", 200.0))


def test_an_hour_of_steps_is_kept_and_no_more() -> None:
    with closing(FigureHistory()) as history:
        for step in range(STEPS + 100):
            history.add(step * 10.0, Figures(peers=step))
        hour, last = lines(history, "hour", "peers", 0.0), (STEPS + 99) * 10.0
        assert (len(hour), hour[0][0], hour[-1]) == (STEPS, last - 10.0 * (STEPS - 1), (last, STEPS + 99.0))


def test_all_spans_outlast_a_restart_and_the_time_between_is_a_gap(tmp_path: Path) -> None:
    path, off_s = tmp_path / "figures.sqlite", 1200.0
    with closing(FigureHistory(path)) as history:
        minutes(history, NOON, 30, pages_per_s=2.0)
        history.add(NOON + 1810.0, Figures(pages_per_s=8.0))  # of a minute that does not end
    with closing(FigureHistory(path)) as history:
        now = NOON + 1810.0 + off_s
        asyncio.run(history.recall(now))
        assert history.fetched_of_day == pytest.approx(30 * 120 + 8 * 60)
        minutes(history, now, 10, pages_per_s=4.0)
        for span in ("hour", "day"):
            found = lines(history, span, "pages_per_s", now + 600.0)
            assert found[0][1] == 2.0 and found[-1] == (now + 600.0, 4.0)
            assert not [at for at, _ in found if NOON + 1810.0 < at < now], span
        assert (NOON + 600.0, 2.0) in lines(history, "month", "pages_per_s", now)
        assert lines(history, "year", "pages_per_s", now)[0][0] == NOON


def test_a_year_of_figures_is_small_and_each_step_is_kept_for_its_time(tmp_path: Path) -> None:
    path = tmp_path / "figures.sqlite"
    with closing(FigureFile(path, NAMES)) as file:
        for day in range(370):
            began = NOON + day * DAY_S
            file.write([(began + n * 600.0, *[n * 1.37 + column for column in range(len(NAMES))]) for n in range(144)])
        assert {step: len(file.read(step, 0.0)) for step in KEPT} == KEPT
        year = file.read(QUARTER_S, 0.0)
        assert (year[-1][0] or 0) - (year[0][0] or 0) >= 365 * DAY_S
        assert year[-1][1] == pytest.approx(sum(n * 1.37 for n in range(108, 144)) / 36)
        assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 20e6
    assert path.stat().st_size < 5e6


@pytest.mark.parametrize("wrong_s", [-50 * 365 * DAY_S, 10 * 365 * DAY_S])
def test_a_clock_that_was_wrong_for_a_day_costs_nothing_once_it_is_right(tmp_path: Path, wrong_s: float) -> None:
    with closing(FigureFile(tmp_path / "figures.sqlite", ["peers"])) as file:
        file.write([(NOON + n * 60.0, 1.0) for n in range(1440)])
        file.write([(NOON + wrong_s + n * 60.0, 2.0) for n in range(30)])
        file.write([(NOON + DAY_S + n * 60.0, 3.0) for n in range(60)])
        file.write([(NOON + DAY_S + 3600.0 + n * 60.0, 3.0) for n in range(1380)])
        assert [value for _, value in file.read(MINUTE_S, NOON + DAY_S)][:1440] == [3.0] * 1440
        assert len(file.read(MINUTE_S, -1e12)) == KEPT[MINUTE_S]


def _noise(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)


def _holes(path: Path) -> None:
    with closing(FigureFile(path, NAMES)) as file:
        file.write([(NOON - 60.0 * n, *[1.0] * len(NAMES)) for n in range(1440)])
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def _another_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE figures (name TEXT)")


def _cut(path: Path) -> None:
    _holes(path)
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("damage", [_noise, _holes, _another_table, _cut])
def test_a_damaged_file_costs_the_history_and_a_line(
    tmp_path: Path, damage: "type[None]", caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "figures.sqlite"
    damage(path)  # type: ignore[call-arg]
    with closing(FigureHistory(path)) as history:
        minutes(history, NOON, 12, peers=7.0)
        assert lines(history, "day", "peers", NOON + 720.0)[-1] == (NOON + 720.0, 7.0)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    with closing(FigureHistory(path)) as history:
        assert len(lines(history, "day", "peers", NOON + 720.0)) >= 11
    assert len(caplog.records) == 1


def test_where_no_file_can_be_the_figures_stay_in_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "figures.sqlite").mkdir()
    with closing(FigureHistory(tmp_path / "figures.sqlite")) as history:
        minutes(history, NOON, 20, peers=7.0)
        assert len(lines(history, "month", "peers", NOON + 1200.0)) >= 2
    assert len(caplog.records) == 1


def test_figures_that_the_disk_refuses_are_written_when_it_takes_them_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "figures.sqlite"
    with closing(FigureFile(path, ["peers"])) as file:
        file.write([(NOON, 1.0)])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # nobody else may write
            for n in (1, 2):
                file.write([(NOON + 60.0 * n, 2.0)])
            assert len(file.read(MINUTE_S, 0.0)) == 1 and len(caplog.records) == 1
        file.write([(NOON + 180.0, 3.0)])
        assert [value for _, value in file.read(MINUTE_S, 0.0)] == [1.0, 2.0, 2.0, 3.0]
    assert len(caplog.records) == 1


def test_a_disk_that_takes_nothing_for_days_costs_no_more_memory_than_a_day_of_rows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "figures.sqlite"
    with closing(FigureFile(path, ["peers"])) as file:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for half in range(2):
                file.write([(NOON + 60.0 * (n + half * MAX_UNWRITTEN), 1.0) for n in range(MAX_UNWRITTEN)])
            assert len(file._unwritten) == MAX_UNWRITTEN and len(caplog.records) == 1
        file.write([(NOON + 120.0 * MAX_UNWRITTEN, 1.0)])
        assert len(file.read(MINUTE_S, 0.0)) == MAX_UNWRITTEN
        assert file.read(MINUTE_S, 0.0)[-1][0] == NOON + 120.0 * MAX_UNWRITTEN, "the newest are kept"


def test_coarser_rows_are_means_of_all_their_time_whenever_they_are_made_and_after_a_crash(tmp_path: Path) -> None:
    path, crashed = tmp_path / "figures.sqlite", tmp_path / "crashed.sqlite"
    with closing(FigureFile(path, ["peers"])) as file:
        for n in range(5, 24):
            file.write([(NOON + 60.0 * n, float(n))])
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(crashed)) as copy:
            source.backup(copy)  # as a power cut leaves it: nine minutes are in no coarser row
    with closing(FigureFile(path, ["peers"])) as file:
        assert [value for _, value in file.read(TEN_MINUTES_S, 0.0)] == [7.0, 14.5, 21.5]
    with closing(FigureFile(crashed, ["peers"])) as file:
        file.write([(NOON + 2400.0, 40.0)])
    with closing(FigureFile(crashed, ["peers"])) as file:
        assert [value for _, value in file.read(TEN_MINUTES_S, 0.0)] == [7.0, 14.5, 21.5, 40.0]


def test_a_file_of_an_older_release_gains_the_figures_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "figures.sqlite"
    with closing(FigureFile(path, ["peers", "gone"])) as file:
        file.write([(NOON, 1.0, 9.0)])
    with closing(FigureFile(path, ["added", "peers"])) as file:
        file.write([(NOON + 600.0, 5.0, 2.0)])
        assert file.read(MINUTE_S, 0.0) == [(NOON, None, 1.0), (NOON + 600.0, 5.0, 2.0)]
    with closing(FigureFile(path, ["peers"])) as file:
        assert [row[1] for row in file.read(TEN_MINUTES_S, 0.0)] == [1.0, 2.0]
