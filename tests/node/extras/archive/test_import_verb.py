"""`dse-node archive import` as an operator meets it: any file, in requests of bounded size, and what became of it."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from node.cli.main import main
from node.extras.archive import export_verb, import_verb
from node.extras.archive.json_lines import write_json_lines
from node.extras.archive.spf import web_object, write_spf
from node.extras.archive.wacz import write_wacz
from node.extras.archive.warc_writer import write_warc
from node.extras.archive.web_object import PACKAGE_HEAD, encode_object
from tests.attacks.test_hostile_archives import KEPT
from tests.node.conftest import TOKEN
from tests.node.extras.archive.samples import HTML, MADE_AT, SAMPLES, capture


@pytest.fixture
def bring(site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "admin.token").write_text(TOKEN)
    (tmp_path / "admin.token").chmod(0o600)
    monkeypatch.setattr(import_verb, "PAUSES_S", (0.0, 0.0))

    def run(*words: str) -> int:
        url = f"http://127.0.0.1:{site.port}"
        return main(["archive", "import", *words, "--data-dir", str(tmp_path), "--url", url])

    return run


def _written(write: Any, *when: float, pages: Any = SAMPLES) -> bytes:
    out = io.BytesIO()
    write(pages, out, *when)
    return out.getvalue()


PAGE = capture("http://a.example/one", b"<p>one", HTML)
OBJECT = encode_object(web_object(PAGE))
FILES = {
    "a.warc.gz": _written(write_warc, MADE_AT),
    "a.warc": gzip.decompress(_written(write_warc, MADE_AT)),
    "a.wacz": _written(write_wacz, MADE_AT),
    "a.jsonl": _written(write_json_lines),
    "a.jsonl.gz": gzip.compress(_written(write_json_lines)),
    "a.spf": _written(write_spf, MADE_AT),
    "a.webop": PACKAGE_HEAD + OBJECT,
    "a.webo": OBJECT,
    "any name": _written(write_warc, MADE_AT),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_known_by_what_it_holds(bring: Any, site: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    assert bring(str(tmp_path / name)) == 0
    urls = [url for file, part, *_ in site.service.brought for url in part if file == name]
    wanted = (
        {"http://a.example/one"}
        if ".webo" in name
        else {s.url for s in SAMPLES if s.status == 200 or "spf" not in name}
    )
    assert set(urls) == wanted


def test_counts_are_told_and_programs_read_them(bring: Any, site: Any, tmp_path: Path, capsys: Any) -> None:
    kinds = ("taken", "known", "older", "refused1xx", "refused2yy", "refused1xx?")
    pages = [capture(f"http://a.example/{kind}", b"<p>x", HTML) for kind in kinds]
    (tmp_path / "a.jsonl").write_bytes(_written(write_json_lines, pages=pages) + b"{no json\n")
    assert bring(str(tmp_path / "a.jsonl"), "--dry-run", "--crawl") == 1
    assert site.service.brought == [("a.jsonl", [page.url for page in pages], True, True)]
    told = capsys.readouterr()
    assert "would be taken   1 page\n" in told.out and "  1xx" in told.out and "1 records" in told.out
    assert "at byte" in told.err
    assert bring(str(tmp_path / "a.jsonl"), "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["taken"], said["known"], said["older"], said["flaws"], said["stopped"]) == (1, 1, 1, 1, "")
    assert said["refused"] == {"1xx": 1, "2yy": 1, "xx?": 1}


def test_requests_are_bounded_and_what_is_not_taken_yet_is_brought_again(
    bring: Any, site: Any, tmp_path: Path, capsys: Any
) -> None:
    pages = [capture(f"http://a.example/{n}", b"x" * 100_000, HTML) for n in range(90)]
    pages += [capture(f"http://b.example/{n}", b"", HTML) for n in range(500)]
    (tmp_path / "a.warc.gz").write_bytes(_written(write_warc, MADE_AT, pages=pages))
    site.service.takes_in_vain = 2
    assert bring(str(tmp_path / "a.warc.gz")) == 0
    assert "the network rests; trying again" in capsys.readouterr().err
    sizes = [len(part) for _, part, *_ in site.service.brought]
    assert max(sizes) == import_verb.BATCH and sum(sizes) == 590 + 2 * sizes[0]
    assert sizes[0] * 100_000 <= import_verb.BATCH_BYTES
    site.service.takes_in_vain = 100
    assert bring(str(tmp_path / "a.warc.gz")) == 1
    assert "stopped: the network rests\nthe same command goes on later" in capsys.readouterr().err


def test_a_truncated_archive_is_taken_as_far_as_it_goes(bring: Any, site: Any, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "a.warc.gz").write_bytes(FILES["a.warc.gz"][:-200])
    assert bring(str(tmp_path / "a.warc.gz")) == 1
    assert [part for _, part, *_ in site.service.brought] == [[each.url for each in SAMPLES[:-1]]]
    assert "not readable     1 records" in capsys.readouterr().out


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_hostile_archives_are_read_within_bounds_and_what_is_wrong_is_counted(
    bring: Any, path: Path, capsys: Any
) -> None:
    """Bombs, endless heads, lengths that are none: `tests/attacks/test_hostile_archives.py` bounds what they cost."""
    code, told = bring(str(path)), capsys.readouterr()
    assert code == 1 and "not readable" in told.out and "at byte" in told.err
    assert len(told.out) + len(told.err) < 10_000


def test_what_is_no_archive_is_an_error_before_anything_is_sent(
    bring: Any, site: Any, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "a.warc.gz").write_bytes(FILES["a.warc.gz"])
    for name, content in (("a.txt", b"hello"), ("empty", b""), ("cut.gz", b"\x1f\x8b\x08")):
        (tmp_path / name).write_bytes(content)
        assert bring(str(tmp_path / "a.warc.gz"), str(tmp_path / name)) == 2
        assert "is not a known archive" in capsys.readouterr().err
    assert bring(str(tmp_path / "nothing")) == 2
    (tmp_path / "no-page.warc").write_bytes(b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    assert bring(str(tmp_path / "no-page.warc")) == 2
    assert site.service.brought == []


def test_what_is_too_large_for_a_request_is_counted_and_the_rest_goes_on(
    bring: Any, site: Any, tmp_path: Path, capsys: Any
) -> None:
    pages = [capture("http://a.example/big", bytes(import_verb.MOST_BYTES + 1), HTML), PAGE]
    (tmp_path / "a.warc").write_bytes(gzip.decompress(_written(write_warc, MADE_AT, pages=pages)))
    assert bring(str(tmp_path / "a.warc")) == 0
    assert [part for _, part, *_ in site.service.brought] == [[PAGE.url]]
    assert "size: larger than 16777216 bytes" in capsys.readouterr().out


def test_the_largest_page_goes_through_the_request(bring: Any, site: Any, tmp_path: Path) -> None:
    page = capture("http://a.example/big", bytes(import_verb.MOST_BYTES), HTML)
    (tmp_path / "a.warc").write_bytes(gzip.decompress(_written(write_warc, MADE_AT, pages=[page])))
    assert bring(str(tmp_path / "a.warc")) == 0
    assert [part for _, part, *_ in site.service.brought] == [[page.url]]


def test_parquet_is_an_ending_and_an_option_and_names_what_it_lacks(
    site: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:

    def export(*words: str) -> int:
        return main(
            ["archive", "export", *words, "--data-dir", str(tmp_path), "--url", f"http://127.0.0.1:{site.port}"]
        )

    monkeypatch.setattr(export_verb, "find_spec", lambda name: None)
    for words in ([str(tmp_path / "a.parquet")], [str(tmp_path / "a"), "--parquet"]):
        assert export(*words) == 2
        assert "needs pyarrow" in capsys.readouterr().err
    assert site.service.wishes == []
    monkeypatch.undo()
    reader = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    assert export(str(tmp_path / "a"), "--parquet") == 0
    assert reader.read_table(tmp_path / "a").num_rows == 2
    assert site.service.wishes[-1][0].links, "whoever analyses columns wants the links"
