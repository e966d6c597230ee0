"""What two nodes crawled goes into a WARC by the command, and another program reads it as the web had it."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from machines import linked, village, wait_until
from warcio.archiveiterator import ArchiveIterator

pytestmark = pytest.mark.e2e
ROOMS = ["library", "pool", "museum"]


def test_a_crawl_is_exported_and_read_by_another_program(tmp_path: Path) -> None:
    with village(tmp_path, {"town.test": linked(ROOMS, "town.test", "town.test")}, 23400) as town:
        origin, one = f"http://town.test:{town.port}", town.add("one")
        one.start()
        one.do("crawl", f"{origin}/", "--depth", "9")
        wait_until("all is found", lambda: len(one.urls("opening hours")) == len(ROOMS), 40)
        said = one.do("archive", "export", "town.warc.gz", "--site", "town.test")
        assert "pages      3, " in said and "left out   none" in said
        one.do("archive", "export", "town.wacz")
        lines = one.do("archive", "export", "town.jsonl", "--prefix", f"{origin}/pool", "--json")
        assert json.loads(lines)["captures"] == 1
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
