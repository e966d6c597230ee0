"""The judged benchmark runs on a set of its form, and its figures are those of a ranking that anybody can check."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.judged import main, ndcg


def write(path: Path, texts: dict[str, str]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items())


@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
def test_each_query_finds_the_document_about_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    write(tmp_path / "docs.jsonl.gz", {"a": "wings of aircraft", "b": "library opening hours", "c": "the sea"})
    write(
        tmp_path / "queries.jsonl.gz", {"1": "aircraft wings", "2": "when does the library open", "3": "no judgement"}
    )
    (tmp_path / "qrels.tsv").write_text("1\ta\t1\n2\tb\t2\n")
    assert main(["--dir", str(tmp_path), "--engine", engine, "--json"]) == 0
    figures = {row["what"]: row["value"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert (figures["ndcg@10"], figures["hit@1"], figures["hit@10"], figures["exact"]) == (1.0, 1.0, 1.0, 1.0)


def test_the_gain_falls_with_the_rank() -> None:
    assert ndcg(["x", "a"], {"a": 1}) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg([], {"a": 1}) == 0.0
