"""A WACZ holds what was written, says so in its lists, and replay tools take it."""

import gzip
import io
import json
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from node.captures.capture import Capture
from node.extras.archive.read_limits import ArchiveFlaw, ReadLimits
from node.extras.archive.sorted_lines import SortedLines
from node.extras.archive.wacz import read_wacz, write_wacz
from tests.node.extras.archive.samples import FORBIDDEN, MADE_AT, SAMPLES


def package() -> bytes:
    out = io.BytesIO()
    summary = write_wacz([*SAMPLES, FORBIDDEN], out, MADE_AT)
    data = out.getvalue()
    assert (summary.captures, summary.forbidden, summary.file_bytes) == (len(SAMPLES), 1, len(data))
    assert summary.file_digest == sha256(data).digest()
    return data


PACKAGE = package()


def test_every_capture_is_read_again() -> None:
    found = [item for item in read_wacz(io.BytesIO(PACKAGE)) if isinstance(item, Capture)]
    assert [(item.url, item.content) for item in found] == [(sample.url, sample.content) for sample in SAMPLES]
    assert package() == PACKAGE


def test_the_lists_say_what_is_in_it() -> None:
    with zipfile.ZipFile(io.BytesIO(PACKAGE)) as files:
        about = json.loads(files.read("datapackage.json"))
        for resource in about["resources"]:
            content = files.read(resource["path"])
            assert (resource["hash"], resource["bytes"]) == ("sha256:" + sha256(content).hexdigest(), len(content))
        named = {resource["path"] for resource in about["resources"]}
        assert named | {"datapackage.json", "datapackage-digest.json"} == set(files.namelist())
        warc = files.read("archive/data.warc.gz")
        lines = files.read("indexes/index.cdx").splitlines()
        pages = [json.loads(line) for line in files.read("pages/pages.jsonl").splitlines()]
    assert lines == sorted(lines) and len(lines) == len(SAMPLES)
    for line in lines:
        fields = json.loads(line.split(b" ", 2)[2])
        part = warc[int(fields["offset"]) :][: int(fields["length"])]
        assert fields["url"].encode() in gzip.decompress(part)
    assert [page["title"] for page in pages[1:3]] == ["Plain", "网页"]
    assert "http://a.example/missing" not in {page.get("url") for page in pages}


def test_wacz_validate_finds_it_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wacz = pytest.importorskip("wacz.main", reason="wacz is not installed")
    (tmp_path / "x.wacz").write_bytes(PACKAGE)
    assert wacz.main(["validate", "-f", str(tmp_path / "x.wacz")]) == 0
    assert "is valid" in capsys.readouterr().out


def test_a_damaged_package_is_read_as_far_as_it_goes() -> None:
    for data in (PACKAGE[:-30], b"", b"PK\x05\x06" + bytes(18), PACKAGE[:40] + bytes(40) + PACKAGE[80:]):
        found = list(read_wacz(io.BytesIO(data)))
        assert sum(isinstance(item, ArchiveFlaw) for item in found) <= 1


def test_a_bomb_and_overlapping_files_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("archive/data.warc", bytes(40_000_000))
    [flaw] = read_wacz(io.BytesIO(out.getvalue()), ReadLimits(record_bytes=1_000_000))
    assert isinstance(flaw, ArchiveFlaw) and "100 times its size" in flaw.reason
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as files:
        files.writestr("archive/data.warc.gz", b"x" * 1_000)
        files.filelist.extend(files.filelist * 50)
    [flaw] = read_wacz(io.BytesIO(out.getvalue()))
    assert isinstance(flaw, ArchiveFlaw) and "overlap" in flaw.reason


def test_more_lines_than_memory_holds_are_sorted() -> None:
    lines = [f"{n * 7919 % 1000:03} x" for n in range(1000)]
    with SortedLines(run_bytes=500) as found:
        for line in lines:
            found.add(line)
        assert list(found) == [line.encode() + b"\n" for line in sorted(lines)]
