"""`dse-node web-report` as an operator meets it: a page and JSON, whole or none, and what it says of what it lacks."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from node.captures.capture import DAY_S, Capture, Lifetime
from node.cli.main import main
from node.extras.web_report import verb
from node.extras.web_report.rank_files import SUFFIXES
from tests.node.conftest import PAGES

HUBS = [f"http://hub{n}.test/" for n in range(3)]
ENDINGS = (".html", ".json", *(f"{part}.csv" for part in SUFFIXES))
FILES = sorted(f"shape{ending}" for ending in ENDINGS)
GOOD = [f"http://good{n}.test/" for n in range(3)]
needs_extra = pytest.mark.skipif(not all(map(find_spec, verb.NEEDED)), reason="the extra web-report is not installed")


@pytest.fixture
def report(site: Any, tmp_path: Path) -> Any:
    site.service.versions = [Capture(url, 1.8e9, 200, (), b"", b"", links=(*GOOD, HUBS[0])) for url in HUBS]

    def run(*words: str) -> int:
        url = f"http://127.0.0.1:{site.port}"
        return main(["web-report", str(tmp_path / "shape.html"), "--data-dir", str(tmp_path), "--url", url, *words])

    return run


def _figures(folder: Path) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((folder / "shape.json").read_text())
    return figures


@needs_extra
def test_a_page_and_its_figures_are_written(report: Any, site: Any, tmp_path: Path, capsys: Any) -> None:
    site.service.most_pages = 2
    assert report() == 0
    assert all(wish.links and not content for wish, _, _, content in site.service.wishes)
    figures = _figures(tmp_path)
    assert (figures["pages"], figures["links"], figures["sites_with_pages"]) == (5, 11, 5)
    assert set(figures["communities"]["largest"][0]["centres"]) == {*GOOD}
    assert figures["coverage"]["left_out"] == {"noarchive": len(site.service.wishes)}
    page = (tmp_path / "shape.html").read_text()
    assert page.startswith("<!doctype html>") and HUBS[0] in page
    told = capsys.readouterr().out
    assert "pages               5 of 5 sites" in told and f"top page by rank    {GOOD[0]}" in told
    assert sorted(path.name for path in tmp_path.glob("shape*") if path.suffix != ".parquet") == FILES


@needs_extra
def test_a_report_that_broke_goes_on_and_a_bound_is_told(report: Any, site: Any, tmp_path: Path, capsys: Any) -> None:
    site.service.most_pages, site.service.fails_at = 1, 3
    assert report() == 2
    assert "2 pages kept" in capsys.readouterr().err and not (tmp_path / "shape.html").exists()
    assert report("--max-links", "4", "--json", "--processes", "2") == 0
    told = json.loads(capsys.readouterr().out)
    assert told == _figures(tmp_path) and told["links"] <= 4 and told["cut_links"] == 8
    assert "8 links are beyond the bound" in (tmp_path / "shape.html").read_text()


@needs_extra
def test_what_could_not_be_read_is_named_and_asked_for_again(report: Any, site: Any, tmp_path: Path) -> None:
    site.service.unread = True
    assert report() == 1
    assert _figures(tmp_path)["coverage"]["unread"] == {"7": "nobody is there"}
    assert "slot 7: nobody is there" in (tmp_path / "shape.html").read_text()
    site.service.unread, site.service.unread_slot = False, None
    assert report() == 0
    figures = _figures(tmp_path)
    assert figures["coverage"]["unread"] == {} and figures["pages"] == 3 + len(PAGES) - 1


@needs_extra
def test_lifetimes_and_a_list_of_sites_are_in_the_report(report: Any, site: Any, tmp_path: Path, capsys: Any) -> None:
    born = 20_000 * DAY_S
    site.service.lifetimes = [Lifetime(1, born, born + 10 * DAY_S, born + 14 * DAY_S), Lifetime(2, born, born + DAY_S)]
    (tmp_path / "list").write_text("hub0.test\nfar.test\n")
    assert report("--list", str(tmp_path / "list")) == 0
    assert all(wish.lifetimes for wish, *_ in site.service.wishes)
    figures = _figures(tmp_path)
    assert (figures["life"]["pages"], figures["life"]["half_life"]) == (2, 12)
    assert (figures["listed"]["listed"], figures["listed"]["fetched"], figures["listed"]["pages"]) == (2, 1, 1)
    (tmp_path / "list").write_text("hub0.test\nno site\n")
    assert report("--list", str(tmp_path / "list")) == 2
    assert "line 2 names no site: 'no site'" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(monkeypatch: Any, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    assert main(["web-report", str(tmp_path / "shape.html")]) == 2
    told = capsys.readouterr()
    assert "pipx inject dse-node scipy powerlaw" in told.err and told.err.count("\n") == 1 and not told.out


@needs_extra
def test_what_is_no_page_is_said_to_be_none(tmp_path: Path, capsys: Any) -> None:
    assert main(["web-report", str(tmp_path / "shape.pdf")]) == 2
    assert "let it end with .html" in capsys.readouterr().err
