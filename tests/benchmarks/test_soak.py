"""A soak of minutes finds what a soak of hours would: a node that grows, or a query that fails."""

import json
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import report
from benchmarks.soak.running import FIGURES, SoakPlan, read_figures, soak
from benchmarks.soak.web import write

FOR_S = 45 * 60.0


def test_the_figures_are_read_from_the_page_that_operators_see() -> None:
    page = "# HELP x y\ndse_own_memory_bytes 1.5e+08\ndse_tasks 31.0\nother 7\n"
    assert dict(read_figures(page)) == {"memory MB": 150.0, "tasks": 31.0}


def test_the_web_is_the_same_for_a_seed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, 1, 2, 5)
    pages = [sorted(path.read_text() for path in (tmp_path / name).rglob("*.html")) for name in ("a", "b")]
    assert len(pages[0]) == 10 and pages[0] == pages[1]


@pytest.mark.prove
async def test_nothing_grows_in_three_quarters_of_an_hour(tmp_path: Path) -> None:
    """Half an hour is judged: what a warm node adds in it is noise; what F8 added was 300 MB."""
    record = await soak(SoakPlan(seconds=FOR_S, restart_s=600.0), tmp_path)
    grown = report(record, tmp_path)
    assert set(record.series) >= {figure for figure, _ in FIGURES.values()}, json.dumps(sorted(record.series))
    assert record.failed == 0
    assert [str(each) for each in grown if each.per_hour - 2 * each.error > max(each.limit, 6.0)] == []
