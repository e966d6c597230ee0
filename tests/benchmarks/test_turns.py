"""Two commits' figures are compared by the medians of what both have."""

from pathlib import Path

import pytest

from benchmarks.turns import checked_out, figures_of, rows_of

NAME = "made_up"
PROGRAM = """import json
print("notes come before")
print(json.dumps({"rows": [{"what": f"CPU a page (sample, 31 pages)", "ours": 4.0, "unit": "ms"},
                           {"what": "skipped", "ours": None, "unit": "ms"}]}))
"""


def test_a_row_stands_beside_the_median_of_the_other_commit() -> None:
    here = [{"CPU a page": (us, "µs"), "new": (1.0, "×")} for us in (30.0, 10.0, 20.0)]
    there = [{"CPU a page": (us, "µs"), "old": (1.0, "×")} for us in (40.0, 90.0, 10.0)]
    (found,) = rows_of(list(zip(here, there, strict=True)))
    assert (found.what, found.ours, found.peer, found.ratio, found.unit) == ("CPU a page", 20.0, 40.0, 0.5, "µs")
    assert found.spread == (10.0, 30.0)


def test_a_row_is_named_by_its_text_before_the_bracket_and_needs_a_figure(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / f"{NAME}.py").write_text(PROGRAM)
    assert figures_of(tmp_path, NAME, []) == {"CPU a page": (4.0, "ms")}


def test_a_benchmark_that_fails_is_told_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / f"{NAME}.py").write_text("raise SystemExit('no web')")
    with pytest.raises(SystemExit, match=r"benchmarks\.made_up --json .*no web"):
        figures_of(tmp_path, NAME, [])


def test_the_other_commit_is_there_for_the_block_alone() -> None:
    with checked_out("HEAD") as tree:
        assert (tree / "README.md").is_file()
    assert not tree.exists()
