"""The command writes the crawl of two nodes into a WARC, and another program reads it as the web had it."""

import json
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
from machines import linked, village, wait_until
from warcio.archiveiterator import ArchiveIterator

from node.extras.web_report.verb import NEEDED

pytestmark = pytest.mark.e2e
OLD = b"""WARC/1.0\r
WARC-Type: response\r
WARC-Target-URI: http://old.example/\r
WARC-Date: 2011-02-25T18:32:20Z\r
WARC-Record-ID: <urn:uuid:f569983a-ef8c-4e62-b347-295b227c3e51>\r
Content-Type: application/http; msgtype=response\r
Content-Length: 73\r
\r
HTTP/1.1 200 OK\r
Content-Type: text/html\r
\r
<title>Old</title><p>A quokka\r\n\r\n"""
ROOMS = ["library", "pool", "museum"]


def test_a_crawl_is_exported_and_read_by_another_program(tmp_path: Path) -> None:
    with village(tmp_path, {"town.test": linked(ROOMS, "town.test", "town.test")}, 26100) as town:
        origin, one = f"http://town.test:{town.port}", town.add("one")
        one.start()
        one.do("crawl", f"{origin}/", "--depth", "9")
        wait_until("all is found", lambda: len(one.urls("opening hours")) == len(ROOMS))
        said = one.do("archive", "export", "town.warc.gz", "--site", "town.test")
        assert "pages      3, " in said and "left out   none" in said
        one.do("archive", "export", "town.wacz")
        lines = one.do("archive", "export", "town.jsonl", "--prefix", f"{origin}/pool", "--json")
        assert json.loads(lines)["captures"] == 1
        if all(map(find_spec, NEEDED)):
            said = one.do("web-report", "shape.html")
            assert "pages               3 of 1 site" in said and "core                3 pages" in said
            assert "town.test" in (one.home / "shape.html").read_text()
        (one.home / "old.warc").write_bytes(OLD)
        said = one.do("archive", "import", "old.warc", "town.warc.gz")
        assert "taken            1 page" in said and "here already     3" in said
        wait_until("the import is found", lambda: one.urls("quokka") == ["http://old.example/"])
        assert one.do("archive", "import", "old.warc", "--json").count('"known": 1')
        one.stop()
    pages = {}
    with (one.home / "town.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                assert record.http_headers.get_statuscode() == "200"
                assert record.http_headers.get_header("Content-Type") == "text/html; charset=utf-8"
                pages[record.rec_headers.get_header("WARC-Target-URI")] = record.content_stream().read()
    web = tmp_path / "web" / "town.test"
    served = {f"{origin}/{path.name}".removesuffix("index.html"): path.read_bytes() for path in web.iterdir()}
    assert pages == served
    with ZipFile(one.home / "town.wacz") as package:
        assert json.loads(package.read("datapackage.json"))["wacz_version"]
        listed = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()[1:]]
    assert {page["url"] for page in listed} == set(served)
