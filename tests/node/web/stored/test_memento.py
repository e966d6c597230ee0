"""A Memento client finds the version of a date (RFC 7089), and what it finds says which it is."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from node.web.requests.problems import BadParameter
from node.web.stored.memento import last_instant, nearest, timestamp_of
from tests.node.conftest import PAGES, capture

PYTHON = "http://docs.python.test/3/tutorial/appetite.html"
DAY_S = 86_400.0
NEWEST = capture(PAGES[PYTHON])
OLDER = [
    replace(NEWEST, captured_at=NEWEST.captured_at - n * DAY_S, content=b"<h1>%d days before</h1>" % n)
    for n in (10, 30)
]
OLDEST_AT = "Mon, 19 Oct 2026 11:06:40 GMT"
CLOSE_TO_OLDEST = "Thu, 22 Oct 2026 00:00:00 GMT"


@pytest.fixture
def archive(site: Any) -> Any:
    site.service.versions = list(OLDER)
    return site


def _links(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for target, rel in re.findall(r'<([^>]*)>; rel="([^"]*)"', text):
        for word in rel.split():
            found.setdefault(word, []).append(target)
    return found


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def test_a_client_walks_from_a_page_and_a_date_to_its_version(archive: Any) -> None:
    gate = archive.get(f"/timegate/{PYTHON}", Accept_Datetime=CLOSE_TO_OLDEST)
    assert gate.status == 302
    assert gate.headers["vary"] == "accept-datetime"
    links = _links(gate.headers["link"])
    assert links["original"] == [PYTHON]
    memento = archive.get(_path(gate.headers["location"]))
    assert memento.status == 200
    assert memento.headers["memento-datetime"] == OLDEST_AT
    assert "as it was on 2026-10-19" in memento.text
    frame = re.search(r'src="(/cache/raw[^"]*)"', memento.text)
    assert frame
    raw = archive.get(frame[1].replace("&amp;", "&"))
    assert raw.body == b"<h1>30 days before</h1>"
    assert raw.headers["memento-datetime"] == OLDEST_AT
    assert raw.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    timemap = archive.get(_path(links["timemap"][0]))
    assert timemap.headers["content-type"].startswith("application/link-format")
    assert len(_links(timemap.text)["memento"]) == 3
    assert _links(timemap.text)["first"] == [gate.headers["location"]] == _links(gate.headers["link"])["first"]
    assert _links(timemap.text)["last"] == [_links(timemap.text)["memento"][-1]]
    assert f'from="{OLDEST_AT}"' in timemap.text


def test_without_a_date_it_is_the_newest_and_the_page_in_the_path_may_have_a_query(archive: Any) -> None:
    gate = archive.get(f"/timegate/{quote(PYTHON, safe='')}")
    assert gate.headers["location"].endswith("&at=20261118110640&view=page")
    archive.service.versions = [replace(NEWEST, url="http://a.test/x?y=1&z=%20")]
    gate = archive.get("/timegate/http://a.test/x?y=1&z=%20")
    assert gate.status == 302
    assert quote("http://a.test/x?y=1&z=%20", safe="") in gate.headers["location"]


def test_what_is_not_there_is_404_and_what_is_no_date_400(archive: Any) -> None:
    missing = archive.get("/timegate/http://nobody.test/")
    assert missing.status == 404
    assert _links(missing.headers["link"])["original"] == ["http://nobody.test/"]
    assert archive.get("/timemap/link/http://nobody.test/").status == 404
    assert archive.get(f"/timegate/{PYTHON}", Accept_Datetime="yesterday").status == 400
    assert archive.get("/timegate/javascript:alert(1)").status == 400
    assert archive.get(f"/cache?url={quote(PYTHON)}&at=20261399").status == 400


def test_no_url_breaks_out_of_a_link(archive: Any) -> None:
    reply = archive.get('/timegate/http://a.test/%3E;rel="memento"<b>')
    assert len(_links(reply.headers["link"])["original"]) == 1
    assert "memento" not in _links(reply.headers["link"])


def test_cache_shows_the_version_nearest_to_a_date_and_says_which(archive: Any) -> None:
    page = archive.get(f"/cache?url={quote(PYTHON, safe='')}&at=20261106").text
    assert "as it was on 2026-11-08 (the nearest to 2026-11-06)" in page
    assert archive.get(f"/cache/raw?url={quote(PYTHON, safe='')}&at=2027").body == NEWEST.content
    assert archive.get(f"/cache/raw?url={quote(PYTHON, safe='')}").body == NEWEST.content


def test_instants() -> None:
    assert timestamp_of("") is None
    assert timestamp_of("2026") == timestamp_of("20260101000000")
    assert timestamp_of("20261118110640") == NEWEST.captured_at
    assert last_instant("2026") == (timestamp_of("2027") or 0) - 1e-6
    assert last_instant("202602") == (timestamp_of("202603") or 0) - 1e-6
    assert last_instant("9999") == last_instant("999912") == last_instant("99991231235959") == 253402300800 - 1e-6
    assert last_instant("20261118110640") == NEWEST.captured_at + 1 - 1e-6
    assert (timestamp_of("2026-11-18"), last_instant("2026-11")) == (timestamp_of("20261118"), last_instant("202611"))
    for text in ("2026112", "2026-1-12", "2026-11-18T11", "--20261118"):
        with pytest.raises(BadParameter, match=r"^from: .* is no date; write"):
            last_instant(text, "from")
    assert nearest([*OLDER, NEWEST], NEWEST.captured_at - 20 * DAY_S) == OLDER[1]
