"""Keys and lines of the index are those of the tools that read them."""

import io
import json

import pytest

from node.extras.archive.archive_output import ArchiveOutput
from node.extras.archive.cdxj import cdxj_line, surt_key, timestamp14
from node.extras.archive.warc_writer import WarcWriter
from tests.node.extras.archive.samples import MADE_AT, SAMPLES

URLS = (
    "http://example.org/", "https://www.Example.org:443/A/B/?b=2&a=1&a=0#x", "http://www2.example.org:8080/x/",
    "http://a.b.example.org/%7Euser/%E4%BD%A0", "http://example.org/a//b/./c/../d", "http://example.org/?",
    "http://example.org/?x", "http://example.org/x?q=%2541&r=%20", "http://example.org/a%20b?A=B&&c",
    "http://example.org/x?jsessionid=0123456789abcdef0123456789ABCDEF&y=1", "http://127.0.0.1:81/x",
    "http://example.org/(a(0123456789abcdefghijklmn))/x.aspx", "http://example.org/x?PHPSESSID=" + "a" * 32,
    "http://xn--fsq.example/中文?中=文", "http://example.org/a/..", "http://example.org/x#frag?not", "http://example.org",
)  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_keys_are_those_of_surt(url: str) -> None:
    surt = pytest.importorskip("surt", reason="surt is not installed")
    assert surt_key(url) == surt.surt(url)


def test_a_key_and_a_line() -> None:
    assert surt_key("https://www.example.org/b?y=1&x=2") == "org,example)/b?x=2&y=1"
    assert surt_key("urn:isbn:1") == "urn:isbn:1"
    assert timestamp14(0.9) == timestamp14(-9.0) == "19700101000000"
    key, at, rest = cdxj_line(SAMPLES[0], ("data.warc.gz", 7, 9)).split(" ", 2)
    assert (key, at) == ("example,a)/", "20231114221320")
    fields = json.loads(rest)
    assert fields["digest"] == "sha256:" + SAMPLES[0].content_digest.hex()
    assert (fields["filename"], fields["offset"], fields["length"]) == ("data.warc.gz", "7", "9")


def test_a_hostile_address_costs_little() -> None:
    for url in (
        "http://a.example/?" + "sid=" * 50_000,
        "http://a.example/" + "%25" * 50_000,
        "http://[::1]:x/",
        "http:///?",
    ):
        assert surt_key(url)


def test_cdxj_indexer_finds_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    main = pytest.importorskip("cdxj_indexer.main", reason="cdxj-indexer is not installed")
    path, out = tmp_path / "data.warc.gz", io.StringIO()
    with path.open("wb") as file:
        writer = WarcWriter(ArchiveOutput(file), MADE_AT)
        ours = [cdxj_line(sample, ("data.warc.gz", *writer.write(sample))) for sample in SAMPLES]
    main.CDXJIndexer(out, [str(path)]).process_all()
    theirs = out.getvalue().splitlines()
    assert len(theirs) == len(ours)
    for own, other in zip(ours, theirs, strict=True):
        assert own.split(" ")[:2] == other.split(" ")[:2]
        wanted, told = json.loads(own.split(" ", 2)[2]), json.loads(other.split(" ", 2)[2])
        told = {"status": "200", **told}  # of a resource it tells no status
        if "mime" in told and not wanted["url"].endswith(("/odd", "-error")):
            assert told == wanted
        else:
            assert told.keys() <= wanted.keys() and told["offset"] == wanted["offset"]
