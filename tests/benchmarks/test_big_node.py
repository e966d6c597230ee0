"""Pages of the big node's benchmark are such as a web has, and the benchmark runs from end to end."""

import json
import re
from pathlib import Path
from random import Random

import pytest

from benchmarks.big_node.__main__ import build_rows, main
from benchmarks.big_node.asking import queries
from benchmarks.big_node.building import Stage, captures
from benchmarks.big_node.documents import BETA, corpus, html_of, rare_word, url_of, vocabulary

OF = corpus(
    ["The first sentence of a text is here. A second one, which is longer, comes after it.\nWater is a liquid."]
)


def test_a_page_is_the_same_in_each_run_and_no_two_share_an_address() -> None:
    assert [html_of(page, OF) for page in (0, 7, 900_000)] == [html_of(page, OF) for page in (0, 7, 900_000)]
    assert len({url_of(page) for page in range(5000)}) == 5000
    assert len({rare_word(number) for number in range(5000)}) == 5000


def test_words_grow_as_those_of_a_web_do() -> None:
    """Heaps' law: four times as many pages have 4^BETA times as many words, but for the few that all pages share."""
    words = [set[str](), set[str]()]
    for found, pages in zip(words, (100, 400), strict=True):
        for page in range(pages):
            found |= set(re.findall(r"\w+", html_of(page, OF).decode().partition("<main>")[2].lower()))
    assert 0.9 * 4**BETA < len(words[1]) / len(words[0]) < 1.1 * 4**BETA
    assert 2_500_000 < vocabulary(1_000_000) < 3_000_000


def test_queries_have_one_to_three_words_of_the_pages() -> None:
    asked = queries(OF, 1000, 60, Random(1))
    assert {len(query.split()) for query in asked} == {1, 2, 3}
    assert any(word in OF.common for query in asked for word in query.split())


def test_a_build_that_grows_slower_is_seen() -> None:
    def stages(last_ms: float) -> list[Stage]:
        spent = [0.001 * n if n <= 800 else 0.8 + 0.001 * last_ms * (n - 800) for n in range(0, 1001, 100)]
        return [Stage(100 * n, n, cpu_s, 1, 1, 1) for n, cpu_s in enumerate(spent)]

    assert [row.met for row in build_rows(stages(1.0)) if "last fifth" in row.what] == [True]
    assert [row.met for row in build_rows(stages(2.0)) if "last fifth" in row.what] == [False]


def test_pages_come_as_archives_have_them() -> None:
    (found,) = captures(range(3, 4), OF)
    assert found.url == url_of(3) and found.content == html_of(3, OF) and found.status == 200


@pytest.mark.prove
def test_a_node_is_filled_started_again_and_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--documents", "300", "--json", "--folder", str(tmp_path)]) == 0
    rows = {row["what"]: row["ours"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["documents"] == 300 and rows["of these refused"] == 0
    assert rows["searches refused before it"] == 0
    assert (tmp_path / "stages.jsonl").is_file()
