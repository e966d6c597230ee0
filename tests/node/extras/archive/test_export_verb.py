"""`dse-node archive export` as an operator meets it: a whole file or none, what it says of it, and going on."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dht import Identity
from node.captures.capture import Capture
from node.cli.main import main
from node.extras.archive.export_digest import ExportDigest, is_signed
from node.extras.archive.json_lines import read_json_lines
from node.extras.archive.read_limits import ReadLimits
from node.extras.archive.spf import read_spf
from node.extras.archive.wacz import read_wacz
from node.extras.archive.warc_reader import read_warc
from tests.node.conftest import PAGES, capture

PYTHON, CHINESE, EVIL = PAGES
CONTENTS = {url: PAGES[url]["content"] for url in (PYTHON, CHINESE)}


@pytest.fixture
def export(site: Any, tmp_path: Path) -> Any:
    Identity(bytes(32)).save(tmp_path / "identity.key")

    def run(out: str, *words: str) -> int:
        url = f"http://127.0.0.1:{site.port}"
        return main(["archive", "export", str(tmp_path / out), "--data-dir", str(tmp_path), "--url", url, *words])

    return run


def _captures(file: Path) -> list[Capture]:
    with file.open("rb") as lines:
        return [each for each in read_json_lines(lines) if isinstance(each, Capture)]


def _digest(file: Path) -> ExportDigest:
    return msgspec.json.decode(file.with_name(f"{file.name}.digest.json").read_bytes(), type=ExportDigest)


def test_an_export_is_whole_and_its_digest_signed(export: Any, tmp_path: Path, capsys: Any) -> None:
    assert export("all.jsonl") == 0
    file = tmp_path / "all.jsonl"
    assert {c.url: c.content for c in _captures(file)} == CONTENTS
    digest = _digest(file)
    assert (digest.captures, digest.bytes, digest.left_out) == (2, file.stat().st_size, {"noarchive": 1})
    assert digest.sha256 == sha256(file.read_bytes()).hexdigest()
    assert digest.public_key == Identity(bytes(32)).public_key.hex()
    assert is_signed(digest)
    assert not is_signed(msgspec.structs.replace(digest, captures=3))
    assert not is_signed(msgspec.structs.replace(digest, public_key=""))
    said = capsys.readouterr().out
    assert "left out   1 noarchive" in said and digest.sha256 in said
    assert sorted(p.name for p in tmp_path.glob("all*")) == ["all.jsonl", "all.jsonl.digest.json"]


@pytest.mark.parametrize(("ending", "read"), [(".warc.gz", read_warc), (".wacz", read_wacz), (".spf", read_spf)])
def test_every_format_is_one_that_is_read_again(export: Any, tmp_path: Path, ending: str, read: Any) -> None:
    assert export(f"all{ending}", "--json") == 0
    with (tmp_path / f"all{ending}").open("rb") as file:
        found = list(read(file, ReadLimits()))
    assert {c.content for c in found if isinstance(c, Capture)} == set(CONTENTS.values())
    assert _digest(tmp_path / f"all{ending}").sha256 == sha256((tmp_path / f"all{ending}").read_bytes()).hexdigest()


def test_an_export_that_broke_goes_on_where_it_was(export: Any, site: Any, tmp_path: Path, capsys: Any) -> None:
    site.service.most_pages, site.service.fails_at = 1, 2
    assert export("all.jsonl") == 2
    spool = tmp_path / "all.jsonl.pages.part"
    assert f"1 page kept in {spool}: the same command goes on" in capsys.readouterr().err
    assert not (tmp_path / "all.jsonl").exists()
    with spool.open("ab") as file:
        file.write(b'{"reading": 0, "documents": [')  # and the machine failed
    assert export("all.jsonl") == 0
    assert len(site.service.wishes) == 3
    assert sorted(c.url for c in _captures(tmp_path / "all.jsonl")) == sorted(CONTENTS)
    assert not spool.exists()


def test_an_export_of_something_else_begins_anew(export: Any, site: Any, tmp_path: Path) -> None:
    site.service.most_pages, site.service.fails_at = 1, 2
    assert export("out.jsonl") == 2
    assert export("out.jsonl", "--site", "python.test") == 0
    assert [c.url for c in _captures(tmp_path / "out.jsonl")] == [PYTHON]
    assert _digest(tmp_path / "out.jsonl").asked == {"site": "python.test"}


def test_a_query_exports_its_results_and_a_date_what_is_older(export: Any, site: Any, tmp_path: Path) -> None:
    assert export("found.jsonl", "--query", "task") == 0
    assert site.service.wishes[0][0].urls == (PYTHON, EVIL)
    assert [c.url for c in _captures(tmp_path / "found.jsonl")] == [PYTHON]
    assert export("old.jsonl", "--at", "2026-11-18") == 0
    assert [c.url for c in _captures(tmp_path / "old.jsonl")] == [PYTHON]
    assert _digest(tmp_path / "old.jsonl").left_out == {"noarchive": 1, "later": 1}


def test_a_date_exports_what_pages_said_then_and_all_versions_are_asked_for(
    export: Any, site: Any, tmp_path: Path
) -> None:
    newest = capture(PAGES[PYTHON])
    older = {"captured_at": 1_790_000_000.0, "content": b"older", "content_digest": sha256(b"older").digest()}
    site.service.versions = [msgspec.structs.replace(newest, **older)]
    assert export("then.jsonl", "--site", "python.test", "--at", "2026-11-01") == 0
    assert [c.content for c in _captures(tmp_path / "then.jsonl")] == [b"older"]
    assert export("now.jsonl", "--site", "python.test") == 0
    assert [c.content for c in _captures(tmp_path / "now.jsonl")] == [newest.content]
    assert export("all.jsonl", "--site", "python.test", "--all-versions") == 0
    assert sorted(c.captured_at for c in _captures(tmp_path / "all.jsonl")) == [1_790_000_000.0, newest.captured_at]
    assert _digest(tmp_path / "all.jsonl").asked == {"site": "python.test", "all_versions": "true"}
    assert export("both.jsonl", "--query", "task", "--all-versions", "--at", "2026-11-01") == 0
    assert [c.content for c in _captures(tmp_path / "both.jsonl")] == [b"older"]


def test_what_could_not_be_read_is_named_and_what_was_typed_wrong_too(export: Any, site: Any, tmp_path: Path) -> None:
    site.service.unread = True
    assert export("all.jsonl") == 1
    assert _digest(tmp_path / "all.jsonl").unread == [{"slot": 7, "reason": "nobody is there", "count": 0}]
    for words in (["all.zip"], ["all.jsonl", "--at", "soon"], ["all.jsonl", "--site", "a", "--query", "b"]):
        assert export(*words) == 2
    assert json.loads((tmp_path / "all.jsonl.digest.json").read_text())["captures"] == 2


def test_what_was_not_read_is_asked_for_by_the_same_command_and_no_page_comes_twice(
    export: Any, site: Any, tmp_path: Path, capsys: Any
) -> None:
    """An owner died in the middle: its slot is named, and is read once it is back."""
    site.service.unread = True
    assert export("all.jsonl") == 1
    assert "the same command asks for what was not read" in capsys.readouterr().err
    assert (tmp_path / "all.jsonl.pages.part").exists()
    assert export("all.jsonl") == 1, "it is not back yet"
    site.service.unread = False
    site.service.versions = [capture(PAGES[PYTHON] | {"url": "http://back.test/", "fetched_at": 1.5})]
    site.service.wishes.clear()
    site.service.unread_slot = None
    assert export("all.jsonl") == 0
    assert [wish.slot for wish, *_ in site.service.wishes] == [7]
    assert sorted(c.url for c in _captures(tmp_path / "all.jsonl")) == sorted([*CONTENTS, "http://back.test/"])
    assert _digest(tmp_path / "all.jsonl").unread == []
    assert not (tmp_path / "all.jsonl.pages.part").exists()
