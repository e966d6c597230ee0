"""The harness of reading scores by words, titles and days as it says, and reads collections as they are checked out."""

import gzip
import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from benchmarks.webreading import __main__ as command
from benchmarks.webreading.scores import is_day_right, is_title_right, score_words
from benchmarks.webreading.truth import ARTICLES, read_pages, template_pages


def test_words_are_scored_as_a_bag_and_averaged_over_pages() -> None:
    score = score_words(["a b c d", "e"], ["a b x y", "e"])
    assert (score.precision, score.recall) == (0.75, 0.75) and score.f1 == 0.75
    assert score_words(["a"], [""]).recall == 0.0


def test_a_title_may_have_the_site_beside_it_and_a_day_any_zone() -> None:
    assert is_title_right("Old crane turns", "Old Crane Turns – Notes")
    assert not is_title_right("Old crane turns", "Notes") and not is_title_right("a b", "b a")
    late = datetime(2021, 3, 4, 23, 30, tzinfo=UTC).timestamp()
    assert is_day_right(date(2021, 3, 4), late) and is_day_right(date(2021, 3, 5), late)
    assert not is_day_right(date(2021, 3, 6), late) and not is_day_right(date(2021, 3, 4), 0.0)


def test_templates_are_small_and_have_their_truth() -> None:
    pages = list(template_pages())
    assert len(pages) == 60 and all(len(page.html) < 6_000 for page in pages)
    essay = next(page for page in pages if page.url == "https://moinmoin.example/essay")
    assert essay.text is not None and essay.text.split()[:3] == ["The", "crane", "on"] and "Immutable" not in essay.text
    assert essay.day == date(2021, 3, 4)


def test_a_collection_is_read_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / ARTICLES
    (folder / "html").mkdir(parents=True)
    (folder / "ground-truth.json").write_text(
        json.dumps({"x": {"articleBody": "Hello there", "url": "http://a.example/"}})
    )
    (folder / "html" / "x.html.gz").write_bytes(gzip.compress(b"<p>Hello there"))
    page = read_pages(tmp_path, quick=True)[-1]
    assert (page.url, page.text, page.html, page.day) == ("http://a.example/", "Hello there", b"<p>Hello there", None)


def test_the_command_prints_rows_without_any_collection(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--quick", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    titles = next(row for row in told["rows"] if row["what"] == "templates (60 pages): title right")
    assert titles["ours"] == 1.0 and titles["met"]
