"""Feeds of four kinds, and what strangers make of them."""

import time
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.content.extract import extract
from crawl.content.page import Engine, ParseTask
from crawl.fetch.link_header import MAX_NAMED, feeds_of
from crawl.lists.feeds import MAX_URL_CHARS, read_feed
from crawl.lists.sitemap import Sitemap, parse_sitemap

HERE = "http://a.test/blog/feed"
RSS = b"""\xef\xbb\xbf<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:x="urn:x">
<channel><title>T</title><link>http://a.test/</link><atom:link rel="self" href="http://a.test/feed"/>
<item><title>1</title><link> http://a.test/1 </link><guid>http://a.test/?p=1</guid>
  <pubDate>Sat, 02 May 2026 10:00:00 +0200</pubDate><enclosure url="http://a.test/1.mp3"/></item>
<item><guid isPermaLink="true">http://a.test/2</guid><atom:updated>2026-05-03T00:00:00Z</atom:updated>
  <pubDate>Sat, 02 May 2026 00:00:00 GMT</pubDate></item>
<item><guid isPermaLink="false">urn:3</guid></item><item><link>http://b.test/4</link></item>
<item><link>/5</link><x:source><x:link>/not</x:link></x:source></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><updated>2026-01-01T00:00:00Z</updated>
<entry><link rel="edit" href="/edit/1"/><link rel="enclosure" href="/1.mp3"/><link href="../1"/>
  <published>2026-05-01T00:00:00Z</published><updated>2026-05-02T08:00:00Z</updated>
  <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><link href="/no"/><updated>x</updated></div></content>
  <source><link href="/no"/></source></entry>
<entry><link rel="alternate" type="text/html" href="http://a.test/2"/><published>2026-05-03</published></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><link>http://a.test/</link></channel>
<item rdf:about="http://a.test/1"><link>http://a.test/1</link><dc:date>2026-05-02T08:00:00+00:00</dc:date></item>
<item><link>http://a.test/2</link><dc:date>2026-05-03</dc:date></item></rdf:RDF>"""
JSON = msgspec.json.encode(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [
            {"id": "1", "url": "/1", "date_published": "2026-01-01", "date_modified": "2026-05-02T08:00:00Z"},
            {"id": 2, "url": "http://a.test/2", "date_published": "2026-05-03T00:00:00Z", "authors": [{"name": "x"}]},
        ],
    }
)


def at(*instant: int) -> float:
    return datetime(*instant, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


@pytest.mark.parametrize("body", [RSS, ATOM, RDF, JSON], ids=["rss", "atom", "rdf", "json"])
def test_entries_lead_to_their_pages_with_their_dates(body: bytes) -> None:
    found = parse_sitemap(body, HERE, 100)
    assert found.is_feed and not found.sitemaps
    pages = ("http://a.test/1", "http://a.test/2")
    assert found.pages[:2] == pages and found.pages[2:] == (("http://a.test/5",) if body == RSS else ())
    assert found.changed_at == {pages[0]: at(2026, 5, 2, 8), pages[1]: at(2026, 5, 3)}
    assert len(parse_sitemap(body, HERE, 1).pages) == 1


def test_other_json_is_no_feed() -> None:
    for body in (b'{"items": [{"url": "/1"}]}', b'{"version": 3}', b"{" * 100_000, b'{"items":' * 100_000):
        assert parse_sitemap(body, HERE, 100) == Sitemap((), (), {}, is_feed=True)


@pytest.mark.parametrize(
    "body",
    [
        b"<rss>" + b"<item><link>/x</link></item>" * 100_000,  # a million are as many: it ends at the limit
        b"<rss><item>" + b"<link>" * 500_000,
        b"<rss>" + b"<item>" * 500_000,
        b"<feed><entry><link href='" + b"x" * 1_000_000 + b"'/></entry>",
        b"<rss><item><link>" + b"x&amp;" * 500_000 + b"</link></item>",
        b'<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><rss><item><link>/&b;</link></item></rss>',
    ],
    ids=["items", "deep", "deep items", "attribute", "text", "entities"],
)
def test_hostile_feeds_are_bounded(body: bytes) -> None:
    began = time.process_time()
    found = read_feed(body, 5_000)
    assert len(found.pages) <= 5_000 and all(len(page) <= MAX_URL_CHARS for page in found.pages)
    assert b"ENTITY" not in body or not found.pages
    assert time.process_time() - began < 5.0  # a thousand times what it takes


PIECES = (
    *("<item>", "</item>", "<entry>", "</entry>", "<link>", "</link>", "<guid>", "/y", "<pubDate>", "</pubDate>"),
    *("<updated>", "</updated>", "&", "\x00", "x", "<link href='/x'/>", "2026-01-01", "Sat, 99 May 2026"),
    "<![CDATA[",
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(("<rss>", "<feed>", "<RDF>", '{"version":"jsonfeed.org/version","items":[')),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=40),
)
def test_rubbish_never_fails(root: str, rest: str) -> None:
    found = parse_sitemap((root + rest).encode("utf-8", "replace"), HERE, 3)
    assert len(found.pages) <= 3 and set(found.changed_at) <= set(found.pages)


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
def test_pages_name_their_feeds(engine: Engine) -> None:
    html = b"""<base href=/sub/><link rel="ALTERNATE home" type="application/rss+xml; charset=utf-8" href=feed>
    <link rel=alternate type=application/atom+xml href="http://b.test/f"><link rel=alternate hreflang=de href=/de>
    <link rel=alternate type=text/html href=/print><link rel=stylesheet type=application/rss+xml href=/no>"""
    task = ParseTask("http://a.test/", html, "text/html", "utf-8", 100, 1_000, engine)
    assert extract(task).feeds == ("http://a.test/sub/feed", "http://b.test/f")
    assert len(feeds_of([("application/feed+json", f"/{n}") for n in range(99)], HERE)) == MAX_NAMED
