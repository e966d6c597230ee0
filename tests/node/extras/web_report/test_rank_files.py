"""The ranks of all URLs and sites as files that other programs read."""

import csv
from importlib.util import find_spec
from pathlib import Path

import pytest

from node.captures.capture import Capture
from node.extras.web_report.link_table import LinkTable
from node.extras.web_report.page_rank import OneSweeper, in_links, rank
from node.extras.web_report.rank_files import write_rank_files
from node.extras.web_report.report import measure

ODD = 'http://b.test/a,"b\n'
PAGES = [
    Capture("http://a.test/", 0.0, 200, (), b"", b"", links=("http://b.test/", "http://b.test/", ODD)),
    Capture("http://b.test/", 0.0, 200, (), b"", b"", links=("http://a.test/",)),
]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_url_and_site_stands_there_once_with_its_rank(tmp_path: Path) -> None:
    """a gives .425 of its rank to b and as much to the odd one, b gives .85 to a.

    So a = .15 + .85 b and b = odd = .15 + .425 a, each over their sum."""
    table = LinkTable()
    for page in PAGES:
        table.add(page)
    web = table.table()
    links = in_links(web.graph)
    files = write_rank_files(tmp_path / "shape.html", measure(web, rank(links, OneSweeper(links)), 1), PAGES)
    pages, sites = _rows(tmp_path / "shape.pages.csv"), _rows(tmp_path / "shape.sites.csv")
    assert [(row["url"], row["stored"], row["links"], row["votes"]) for row in pages] == [
        ("http://a.test/", "true", "1", "1"),
        ("http://b.test/", "true", "1", "1"),
        ('http://b.test/a,"b ', "false", "1", "1"),
    ]
    a = (0.15 + 0.85 * 0.15) / (1 - 0.85 * 0.425)
    b = 0.15 + 0.425 * a
    expected = [a / (a + 2 * b), b / (a + 2 * b), b / (a + 2 * b)]
    assert [float(row["rank"]) for row in pages] == pytest.approx(expected, abs=1e-6)
    assert {row["site"]: row["pages"] for row in sites} == {"a.test": "1", "b.test": "1"}
    assert sum(float(row["rank"]) for row in sites) == pytest.approx(1)
    if find_spec("pyarrow"):
        from pyarrow import parquet

        assert [path.suffix for path in files] == [".csv", ".csv", ".parquet", ".parquet"]
        read = parquet.read_table(tmp_path / "shape.pages.parquet").to_pylist()
        assert [row["url"] for row in read] == [row["url"] for row in pages] and read[0]["stored"] is True
