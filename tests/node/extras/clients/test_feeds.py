"""Feeds as readers take them: well-formed whatever a site says, with dates and the elements of OpenSearch."""

from xml.etree import ElementTree

import pytest

from node.extras.clients.feeds import Feed, atom, rss
from node.extras.clients.found import FoundAnswer, read_found

FEED = Feed("q – dse", "about", "http://node/search?q=q&format=rss", "http://node/search?q=q", "http://node", 20)
NAMES = {"o": "http://a9.com/-/spec/opensearch/1.1/", "a": "http://www.w3.org/2005/Atom"}
ODD = "]]> <x> & \x00\x1b\u202e\ufffe \ud800 </title>"


def found(text: str = "hay", query: str = "q") -> FoundAnswer:
    dated = {"url": "https://a.test/1?x=1&y=2", "title": text, "snippet": text, "date": 1_714_521_600.0}
    plain = {"url": "https://a.test/2", "title": "", "snippet": "", "fetched_at": 1_795_000_000.0}
    return read_found({"results": [dated, plain, {"url": "javascript:alert(1)"}], "total": 9}, query, 20)


def test_rss_has_items_dates_and_opensearch() -> None:
    channel = ElementTree.fromstring(rss(FEED, found())).find("channel")
    assert channel is not None
    items = channel.findall("item")
    assert [item.findtext("link") for item in items] == ["https://a.test/1?x=1&y=2", "https://a.test/2"]
    assert [item.findtext("pubDate") for item in items] == ["Wed, 01 May 2024 00:00:00 +0000", None]
    assert items[1].findtext("title") == "https://a.test/2"
    counts = [channel.findtext(f"o:{name}", "", NAMES) for name in ("totalResults", "startIndex", "itemsPerPage")]
    assert counts == ["9", "21", "20"]
    query = channel.find("o:Query", NAMES)
    assert query is not None and query.get("searchTerms") == "q"
    links = {link.get("rel"): link.get("href") for link in channel.findall("a:link", NAMES)}
    assert links == {"self": FEED.here, "search": "http://node/opensearchdescription.xml"}


def test_atom_has_what_the_format_demands() -> None:
    feed = ElementTree.fromstring(atom(FEED, found(), "2026-11-24"))
    assert feed.findtext("a:updated", "", NAMES) == "2026-11-18T00:00:00Z", "the newest of its entries"
    assert feed.findtext("a:author/a:name", "", NAMES) and feed.findtext("a:id", "", NAMES) == FEED.here
    entries = feed.findall("a:entry", NAMES)
    assert len(entries) == 2
    for entry in entries:
        for name in ("id", "title", "updated"):
            assert entry.findtext(f"a:{name}", "", NAMES)
    assert [entry.findtext("a:published", None, NAMES) for entry in entries] == ["2024-05-01T00:00:00Z", None]
    empty = ElementTree.fromstring(atom(FEED, read_found({}, "q"), "2026-11-24"))
    assert empty.findtext("a:updated", "", NAMES) == "2026-11-24T00:00:00Z"


@pytest.mark.parametrize("form", ["rss", "atom"])
def test_a_feed_is_xml_whatever_a_site_or_a_reader_says(form: str) -> None:
    odd = found(ODD, ODD)
    text = rss(FEED, odd) if form == "rss" else atom(FEED, odd, "2026-11-24")
    ElementTree.fromstring(text)
    assert "javascript" not in text and "\u202e" not in text
