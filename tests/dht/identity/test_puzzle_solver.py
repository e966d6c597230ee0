from pathlib import Path

import pytest

from dht.identity.puzzle_solver import PuzzleFile


def test_what_was_solved_is_there_at_the_next_start(tmp_path: Path) -> None:
    PuzzleFile(tmp_path / "identity.puzzle").save((1 << 64) - 1)
    assert PuzzleFile(tmp_path / "identity.puzzle").load() == (1 << 64) - 1


@pytest.mark.parametrize("text", ["", "x", "-1", str(1 << 64), "é"])
def test_a_damaged_file_costs_solving_again_and_no_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "identity.puzzle").write_text(text)
    assert PuzzleFile(tmp_path / "identity.puzzle").load() == 0


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    PuzzleFile(None).save(7)
    assert PuzzleFile(None).load() == PuzzleFile(tmp_path / "none").load() == 0
