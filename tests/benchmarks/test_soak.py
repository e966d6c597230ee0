"""A soak of minutes finds what a soak of hours would: a node that grows, or a query that fails."""

import json
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import living, missing_s, report
from benchmarks.soak.blocks import added, keep, kept, starts
from benchmarks.soak.growth import judged
from benchmarks.soak.running import FIGURES, SoakPlan, SoakRecord, read_figures, soak
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


def test_blocks_add_up_and_an_interrupted_one_loses_only_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        block = SoakRecord(seconds=7200.0, asked=10, kills=34)
        for t in range(30, 7200, 30):
            for node in ("node-1", "node-5"):
                block.add("memory MB", node, t, 100.0 + (t if node == "node-5" else 0))
            block.add("load", "machine", t, 3.0)
        keep(block, tmp_path)
        (tmp_path / "block.unfinished").write_text("{")  # what a kill amid the writing leaves
    assert missing_s(tmp_path, 12.0) == 8 * 3600 and starts(kept(tmp_path)) == [0.0, 7200.0]
    assert report(tmp_path), "the node that is killed all the time is not judged"
    assert (
        "4.00 h; 20 queries, 0 failed, 0 partial; 68 kills, 0 directories not sound; load 3.0"
        in capsys.readouterr().out
    )
    block.unsound.append("damaged frames: 3")
    keep(block, tmp_path)
    assert not report(tmp_path) and "damaged frames: 3" in capsys.readouterr().out


@pytest.mark.prove
async def test_nothing_grows_in_three_quarters_of_an_hour(tmp_path: Path) -> None:
    """Half an hour is judged: what a warm node adds in it is noise; what F8 added was 300 MB."""
    keep(await soak(SoakPlan(seconds=FOR_S), tmp_path), tmp_path)
    report(tmp_path)
    record = added(kept(tmp_path))
    assert set(record.series) >= {figure for figure, _ in FIGURES.values()}, json.dumps(sorted(record.series))
    assert record.failed == 0 and record.kills > 10 and record.unsound == []
    grown = living(judged(record.series))
    assert [str(each) for each in grown if each.per_hour - 2 * each.error > max(each.limit, 6.0)] == []
