"""A stored copy can be read and can do nothing."""

import re
from html import escape
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from node.web.stored.snapshots import content_type
from tests.node.conftest import PAGES, capture

PYTHON = quote("http://docs.python.test/3/tutorial/appetite.html", safe="")
CHINESE = quote("http://zh.debian.test/手册/第一章?版=3", safe="")
EVIL = quote("http://evil.test/", safe="")


def test_the_frame_says_what_it_is_of_when_and_where_the_live_page_is(site: Any) -> None:
    page = site.get(f"/cache?url={PYTHON}&view=page").text
    assert "<b>http://docs.python.test/3/tutorial/appetite.html</b></bdi> as it was on 2026-11-18" in page
    assert "<iframe sandbox src=" in page and "Whetting Your Appetite — Python 3 documentation</h1>" in page
    assert '<a href="http://docs.python.test/3/tutorial/appetite.html">' in page


def test_the_text_comes_first_and_nothing_of_it_is_markup(site: Any) -> None:
    page = site.get(f"/cache?url={PYTHON}").text
    text = PAGES["http://docs.python.test/3/tutorial/appetite.html"]["text"]
    assert escape(text[:40]) in page and "<iframe" not in page and "view=page" in page
    evil = site.get(f"/cache?url={EVIL}").text
    assert "<script>alert" not in evil and "onerror=" not in re.sub(r"&lt;.*?&gt;", "", evil)
    made = capture(PAGES["http://docs.python.test/3/tutorial/appetite.html"])
    site.service.versions = [replace(made, url="http://old.test/", text="", captured_at=5.0)]
    assert "<iframe sandbox" in site.get("/cache?url=http://old.test/&at=1970").text, "a page without text"
    site.service.versions = [replace(made, url="http://old.test/", text="é" * 60_000, captured_at=5.0)]
    assert site.get("/cache?url=http://old.test/&at=1970").text.count("é") == 50_000


def test_the_copy_itself_has_no_rights(site: Any) -> None:
    reply = site.get(f"/cache/raw?url={PYTHON}")
    assert reply.body == b"<html><script>alert(1)</script><h1>Whetting Your Appetite</h1></html>"
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "allow-" not in policy
    assert "script" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_copy_keeps_its_charset(site: Any) -> None:
    reply = site.get(f"/cache/raw?url={CHINESE}")
    assert reply.headers["content-type"] == "text/html; charset=gb18030"
    assert "第一章" in reply.body.decode("gb18030")


def test_what_is_not_html_is_shown_as_text_and_headers_cannot_be_forged(site: Any) -> None:
    reply = site.get(f"/cache/raw?url={EVIL}")
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert "x-bad" not in reply.headers
    odd = replace(capture(PAGES["http://evil.test/"]), media_type="TEXT/HTML; x=y", charset="no-such-charset")
    assert content_type(odd) == "text/html; charset=utf-8"


def test_a_copy_that_was_imported_says_where_it_comes_from(site: Any) -> None:
    made = capture(PAGES["http://docs.python.test/3/tutorial/appetite.html"])
    site.service.versions = [replace(made, url="http://old.test/", origin="<b>.warc.gz urn:uuid:1", captured_at=5.0)]
    page = site.get("/cache?url=http://old.test/&at=1970").text
    assert "as it was on 1970-01-01, taken from &lt;b&gt;.warc.gz urn:uuid:1 and not fetched here" in page
    assert "not fetched here" not in site.get(f"/cache?url={PYTHON}").text


def test_no_copy_is_a_kind_404(site: Any) -> None:
    reply = site.get("/cache?url=http%3A%2F%2Fnobody.test%2F", Accept="text/html")
    assert reply.status == 404
    assert "No copy of this page is stored" in reply.text
    assert site.get("/cache/raw?url=http%3A%2F%2Fnobody.test%2F").status == 404
    assert 'href="javascript:' not in site.get("/cache?url=javascript:alert(1)").text


def test_the_frame_lists_the_versions_and_does_without_where_nobody_says_which(site: Any) -> None:
    newest = capture(PAGES["http://docs.python.test/3/tutorial/appetite.html"])
    site.service.versions = [replace(newest, captured_at=newest.captured_at - n * 86_400) for n in range(1, 40)]
    page = site.get(f"/cache?url={PYTHON}&at=20261110").text
    assert (
        "All versions: 30" in page
        and page.count('<li><a href="/cache?url=') == 29
        and 'aria-current="true">2026-11-10' in page
    )
    site.service.fails_at = len(site.service.wishes) + 1
    page = site.get(f"/cache?url={PYTHON}").text
    assert "as it was on 2026-11-18" in page and "All versions" not in page
