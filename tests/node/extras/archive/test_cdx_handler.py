"""The archive over HTTP: documents part by part, and CDX lines."""

import base64
import json
import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec.structs import replace

from dht import placement_key
from node.captures.scope import FIRST, Wish
from tests.node.conftest import PAGES, capture

PYTHON, CHINESE, _ = PAGES


def test_documents_come_part_by_part_and_the_cursor_leads_on(site: Any) -> None:
    first = site.get("/api/v1/documents?limit=1&content=true").json
    second = site.get(f"/api/v1/documents?limit=1&content=true&cursor={first['next_cursor']}").json
    assert second["next_cursor"] is None
    documents = first["documents"] + second["documents"]
    assert [each["url"] for each in documents] == sorted((PYTHON, CHINESE), key=placement_key)
    assert {each["url"]: base64.b64decode(each["content"]) for each in documents} == {
        url: PAGES[url]["content"] for url in (PYTHON, CHINESE)
    }
    assert documents[0]["headers"][1] == ["Content-Encoding", "gzip"]
    assert first["left_out"] == {"noarchive": 1}
    assert first["unread"] == []
    assert site.service.wishes[0] == (Wish(), FIRST, 1, True)


@pytest.mark.parametrize(
    ("query", "wish"),
    [
        ("slot=7", Wish(slot=7)),  # type: ignore[arg-type]
        ("site=python.test", Wish("http://python.test/", "domain")),
        ("prefix=http://docs.python.test/3/", Wish("http://docs.python.test/3/", "prefix")),
        ("url=http://a.test&url=http://b.test/x", Wish(urls=("http://a.test/", "http://b.test/x"))),
        ("all_versions=true", Wish(all_versions=True)),
        ("links=true", Wish(links=True)),
        ("at=20260101", Wish(at=datetime(2026, 1, 2, tzinfo=UTC).timestamp() - 1e-6)),
    ],
)
def test_a_reading_is_of_a_slot_a_site_or_some_pages(site: Any, query: str, wish: Wish) -> None:
    body = site.get(f"/api/v1/documents?{query}").json
    assert site.service.wishes[0][0] == wish
    assert body["unread"] == ([{"slot": 7, "reason": "nobody is there", "count": 0}] if wish.slot else [])


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("cursor=xyz", "cursor: is none"),
        ("cursor=" + "0" * 41, "cursor: has 41"),
        ("slot=-1", "slot: is no number"),
        ("slot=70000", "slot: is no number below 65536"),
        ("limit=1001", "limit: is '1001'; it takes a whole number from 1 to 1000"),
        ("site=a.test&prefix=http://b.test/", "site: excludes prefix"),
        ("prefix=http://[", "prefix: "),
        ("at=yesterday", "at: 'yesterday' is no date"),
        ("at=2026&all_versions=true", "at: excludes all_versions"),
    ],
)
def test_a_wrong_reading_names_its_parameter(site: Any, query: str, detail: str) -> None:
    reply = site.get(f"/api/v1/documents?{query}")
    assert reply.status == 400
    assert detail in reply.json["detail"]


def test_pages_are_taken_from_the_operator_alone_within_bounds(site: Any, token: str) -> None:
    page = msgspec.to_builtins(replace(capture(PAGES[PYTHON]), url="http://a.test/"))
    order = {"file": "a.warc", "pages": [page], "crawl": True}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}

    def send(**more: object) -> Any:
        return site.send("POST", "/api/v1/import", msgspec.json.encode(order | more), **headers)

    assert (
        site.send("POST", "/api/v1/import", msgspec.json.encode(order), **headers | {"Authorization": ""}).status == 401
    )
    assert site.service.brought == []
    assert send().json == {"pages": [{"state": "taken", "reason": "st/"}]}
    assert site.service.brought == [("a.warc", ["http://a.test/"], False, True)]
    for more in ({"pages": [page] * 1001}, {"file": 1}, {"page": []}, {"pages": [{"url": "x"}]}, {"file": "x" * 3000}):
        assert send(**more).status == 400
    assert send(file="x" * (33 << 20)).status == 413
    assert len(site.service.brought) == 1


def test_pages_are_read_as_they_were_on_a_day_or_in_all_versions(site: Any) -> None:
    newest = capture(PAGES[PYTHON])
    older = replace(newest, captured_at=newest.captured_at - 40 * 86_400.0, content=b"older")
    site.service.versions = [older]
    asked = f"/api/v1/documents?url={quote(PYTHON, safe='')}"
    both = [newest.captured_at, older.captured_at]
    asks = (("", both[:1]), ("&at=20261018", both[1:]), ("&at=2026", both[:1]), ("&all_versions=true", both))
    for words, wanted in asks:
        found = site.get(asked + words).json["documents"]
        assert sorted(each["captured_at"] for each in found) == sorted(wanted), words


def test_cdx_lines_say_which_versions_there_are(site: Any) -> None:
    older = replace(capture(PAGES[PYTHON]), captured_at=1_790_000_000.0)
    site.service.versions = [older]
    at = f"/cdx?url={quote(PYTHON, safe='')}"
    lines = site.get(at).text.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["test,python,docs)/3/tutorial/appetite.html", "20260921141320"],
        ["test,python,docs)/3/tutorial/appetite.html", "20261118110640"],
    ]
    assert json.loads(lines[0].split(maxsplit=2)[2])["mime"] == "text/html"
    (only,) = map(json.loads, site.get(f"{at}&output=json&from=202611&to=2026").text.splitlines())
    assert (only["timestamp"], only["url"], only["status"]) == ("20261118110640", PYTHON, "200")
    assert site.get(f"{at}&to=20260920").text == ""
    assert len(site.get("/cdx?url=python.test&matchType=domain").text.splitlines()) == 2
    assert len(site.get("/cdx?url=*.python.test").text.splitlines()) == 2
    assert site.get("/cdx?url=python.test/*").text == ""
    assert len(site.get("/cdx?url=docs.python.test&matchType=host").text.splitlines()) == 2


def test_cdx_answers_are_bounded_and_lead_on(site: Any) -> None:
    first = site.get("/cdx?url=*.test&limit=1")
    following = re.fullmatch(r'<(.*)>; rel="next"', first.headers["link"])
    assert following
    second = site.get(following[1])
    assert len((first.text + second.text).splitlines()) == 2
    site.service.unread = True
    assert site.get("/cdx?url=*.test").headers["x-unread-slots"] == "7"
    for query in ("url=a.test&matchType=range", "url=http://[", "url=a.test&output=xml", "url=a.test&from=x", ""):
        assert site.get(f"/cdx?{query}").status == 400
