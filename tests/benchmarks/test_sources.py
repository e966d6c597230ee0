"""The sources' tables have all rows, and what they count is so: on small input, crawls on made-up outcomes."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.crawl.fleet import FleetCrawl
from benchmarks.crawl.judged import Visitor
from benchmarks.figures import Row
from benchmarks.pagerank.made_up_web import make_up
from benchmarks.search.web_pages import read_page
from benchmarks.sources import __main__ as command
from benchmarks.sources.crawlers import rows_of
from benchmarks.sources.indexing import QUERIES, documents, size_rows
from benchmarks.sources.lecture import address_rows, ways
from benchmarks.sources.published import CRAWLED_2018, PAGES_2006, RANKED_2018, beside
from benchmarks.sources.workers import WORKERS, index_rows, rank_rows, texts_of
from benchmarks.sources.yacy import missing, plain_words

PAGE = b"<html lang=en><title>A page of a database</title><p>%s</p></html>"
PAGES = [read_page(f"http://a.test/{n}", PAGE % (b"text of file %d, its connection " % n * 20)) for n in range(5)]
VISIT = Visitor(frozenset(("h", f"/p{n}") for n in range(60)), 61, 0, 0, 0.2, 0, wall_s=10.0, bytes=120_000)


def of(rows: list[Row], start: str, *words: str) -> Row:
    """Return the one row that begins so and has all these words."""
    (found,) = [each for each in rows if each.what.startswith(start) and all(word in each.what for word in words)]
    return found


def test_a_crawl_stands_beside_both_sources_with_its_ratio_to_one_node() -> None:
    def crawled(wall_s: float) -> FleetCrawl:
        return FleetCrawl(3.0, replace(VISIT, wall_s=wall_s), 4, 1, 60, 0, 0)

    rows = rows_of({n: [crawled(10.0 / n), crawled(8.0 / n)] for n in (1, 2, 3, 4)}, 0.15)
    one, three = (
        of(rows, "pages crawled a minute", "by 1; peer: 2006"),
        of(rows, "as fast as one: pages", "by 3; peer: 2006"),
    )
    assert (one.ours, one.spread, one.peer) == (405.0, (360.0, 450.0), 16)
    assert three.ours == pytest.approx(3.0) and three.peer == 2.625
    assert of(rows, "KB crawled", "by 2; peer: 2006").ours
    assert of(rows, "as fast", "by 4; peer: 2018").peer == pytest.approx(3.1716)
    assert of(rows, "CPU a page, by 4").ours == 50.0 and of(rows, "copies stored", "by 4").ours == 1.0
    assert not [each for each in rows if "by 4; peer: 2006" in each.what], "the thesis has three machines at most"


def test_a_job_that_takes_half_the_time_is_twice_as_fast() -> None:
    rows = beside("job", {1: [8.0], 2: [4.0]}, RANKED_2018)
    assert of(rows, "as fast").ours == 2.0 and of(rows, "as fast").peer == pytest.approx(963.955 / 754.473, abs=1e-4)
    assert [each.unit for each in beside("job", {1: [8.0], 3: [9.0]}, PAGES_2006)] == ["pages/min"] * 2 + ["×"]
    assert CRAWLED_2018.speed_up(1) == 1.0


def test_documents_are_as_many_mb_as_asked_for_and_each_has_an_address() -> None:
    found = list(documents(PAGES, 0.01))
    size = sum(len(html) for _, html in found)
    assert 0.009 < size / 1e6 <= 0.01 and len({url for url, _ in found}) == len(found)
    assert {found[0][0], found[5][0]} == {"http://a.test/0", "http://a1.test/0"}


def test_the_table_of_an_index_has_its_times_and_each_query_its_hits() -> None:
    rows = size_rows(PAGES, 0.01, 1, asked=1)
    count = len(list(documents(PAGES, 0.01)))
    assert len(rows) == 4 + 3 * len(QUERIES) and all(each.ours is not None for each in rows)
    assert of(rows, "hits of database").ours == count and of(rows, "hits of xBestIndex").ours == 0
    assert of(rows, "index time, CPU", f"{count} documents").ours


@pytest.mark.prove
def test_workers_index_all_pages_and_rank_all_alike() -> None:
    rows = index_rows(texts_of(PAGES, 12), (1,), 1, None)
    assert of(rows, "pages indexed", "12 pages", "peer: 2018").ours and of(rows, "CPU of a page indexed, by 1").ours
    rows = rank_rows(make_up(1, 20, 400, 3_000), (1, 2), 1, None)
    assert 1 < (of(rows, "sweeps", "by 1").ours or 0) <= (of(rows, "sweeps", "by 2").ours or 0)
    assert set(WORKERS) == set(RANKED_2018.values) == set(CRAWLED_2018.values)


def test_an_address_has_other_ways_to_be_written_which_all_mean_it() -> None:
    assert len({"http://a.test/x", *ways("http://a.test/x")}) == 5
    assert address_rows(["http://a.test/x", "http://a.test/"])[0].met


def test_without_yacy_one_line_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--part", "yacy"]) == 0
    (line,) = [each for each in capsys.readouterr().out.splitlines() if each.startswith("beside YaCy")]
    assert "needs --yacy DIR" in line


def test_yacy_runs_only_where_it_reaches_nothing_but_loopback(tmp_path: Path) -> None:
    assert "ant compile" in missing(tmp_path, ["lo"])
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "yacycore.jar").touch()
    assert not missing(tmp_path, ["lo"])
    assert "loopback alone" in missing(tmp_path, ["lo", "eth0"])


def test_plain_words_have_no_numbers_and_no_marks() -> None:
    assert plain_words("73.7. Heap-Only Tuples (HOT)") == "Heap Only Tuples HOT"
    assert plain_words("Shell — Flask (2.2.x)") == "Shell Flask" and plain_words("3.1") == "3.1"


@pytest.mark.prove
@pytest.mark.parametrize("part", command.PARTS)
def test_the_command_prints_each_part(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--part", part, "--quick"]) == 0
    assert capsys.readouterr().out.startswith("sources, commit")
