"""The archive over HTTP: documents part by part."""

import base64
from typing import Any

import pytest

from dht import placement_key
from node.archive.scope import FIRST, Wish
from tests.node.conftest import PAGES

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
        ("limit=1001", "limit: is not between 1 and 1000"),
        ("site=a.test&prefix=http://b.test/", "site: excludes prefix"),
        ("prefix=http://[", "prefix: "),
    ],
)
def test_a_wrong_reading_names_its_parameter(site: Any, query: str, detail: str) -> None:
    reply = site.get(f"/api/v1/documents?{query}")
    assert reply.status == 400
    assert detail in reply.json["detail"]
