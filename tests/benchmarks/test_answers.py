"""The comparison of answers shows each query whose order or scores differ, and where."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks.search.answers import differences, main, shares


def test_small_sets_give_all_their_queries_and_large_ones_fill_up():
    assert shares({"cran": 225, "cacm": 52, "cmrc": 3219}, 800) == {"cacm": 52, "cran": 225, "cmrc": 523}


def test_a_difference_in_the_last_digit_is_shown():
    before = {"cran": {"1": [["a", 0.5], ["b", 0.25]], "2": [["a", 1.0]], "3": []}}
    after = {"cran": {"1": [["a", 0.5], ["b", 0.25000000000000006]], "2": [["a", 1.0], ["c", 0.1]], "4": []}}
    assert list(differences(before, before)) == []
    assert list(differences(before, after)) == [
        "cran 1: place 2 was ['b', 0.25], is ['b', 0.25000000000000006]",
        "cran 2: place 2 was None, is ['c', 0.1]",
        "cran 3: asked only before",
        "cran 4: asked only after",
    ]


def test_answers_are_written_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "few").mkdir()
    texts = {"docs": {"a": "wings of aircraft", "b": "library hours"}, "queries": {"1": "aircraft wings"}}
    for name, each in texts.items():
        with gzip.open(tmp_path / "few" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in each.items())
    (tmp_path / "few" / "qrels.tsv").write_text("1\ta\t1\n")
    before = tmp_path / "before.json"
    words = ["answers", "--corpora", str(tmp_path), "--set", "few", "--engine", "memory"]
    monkeypatch.setattr(sys, "argv", [*words, "--out", str(before)])
    assert main() == 0
    assert [name for name, _ in json.loads(before.read_text())["few"]["1"]] == ["a"]
    monkeypatch.setattr(sys, "argv", [*words, "--compare", str(before)])
    assert main() == 0
    assert capsys.readouterr().out.endswith("0 of 1 answers differ\n")
