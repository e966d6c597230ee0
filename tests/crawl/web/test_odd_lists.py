"""Feeds and sitemaps that strangers write: a bad item costs itself, and what can be read of the others is read."""

import pytest

from crawl.lists.feed_fallback import MAX_BYTES
from crawl.lists.sitemap import Sitemap, parse_sitemap
from tests.crawl.web.raw_sites import case

HERE = "http://a.test/blog/feed"
ONE, TWO, THREE = PAGES = tuple(f"http://a.test/{n}" for n in (1, 2, 3))
ITEMS = "".join(f"<item><title>t</title><link>{page}</link></item>" for page in PAGES)
RSS = f'<rss version="2.0"><channel><title>T</title>{ITEMS}</channel></rss>'
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/x/"><entry>{}</entry></feed>'
MAP = "<urlset>" + "".join(f"<url><loc>{page}</loc></url>" for page in PAGES) + "</urlset>"
JSON = '{"version":"https://jsonfeed.org/version/1.1","items":[%s]}'
LATIN1 = '[<!ENTITY % l PUBLIC "-//W3C//ENTITIES Latin 1 for XHTML//EN" "http://www.w3.org/TR/xhtml-lat1.ent"> %l;]'
OWN: dict[str, tuple[str, tuple[str, ...]]] = {  # name: a list, and the pages that it names
    "Netscape's document type": (
        f'<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://n.test/d.dtd">{RSS}',
        PAGES,
    ),
    "entities of another file": (
        f"<!DOCTYPE rss {LATIN1}>{RSS}".replace("/2<", "/caf&eacute;<"),
        (ONE, "http://a.test/caf%C3%A9", THREE),
    ),
    "a declared entity costs its item": (
        f'<!DOCTYPE rss [<!ENTITY e "x"><!ENTITY nbsp "&#160;">]>{RSS}'.replace("/2<", "/&e;<").replace(
            ">t<", ">&nbsp;<"
        ),
        (ONE, THREE),
    ),
    "an undeclared entity": (RSS.replace(">t<", ">&rsquo; &ecirc;<", 1), PAGES),  # miniflux 122
    "an undeclared namespace": (RSS.replace("<title>t", "<dc:creator>x</dc:creator><title>t"), PAGES),
    "control characters": (RSS.replace(">t<", ">\x1e\x08<"), PAGES),  # miniflux 569
    "a bare ampersand": (RSS.replace(">t<", ">D&D, &D<"), PAGES),  # miniflux 416
    "an attribute twice": (RSS.replace("<item>", '<item a="1" a="2">'), PAGES),
    "junk before": (f"\n\nNotice: x on line 3\n<?xml version='1.0'?>{RSS}", PAGES),
    "another charset than declared": (f"<?xml version='1.0' encoding='utf-16'?>{RSS}", PAGES),
    "a name that is no address": (RSS.replace(f"<link>{TWO}</link>", "<guid>12345</guid>"), (ONE, THREE)),
    "HTML first": (
        ATOM.format('<link type="application/json" href="1.json"/><link type="text/html" href="1"/>'),
        ("http://a.test/x/1",),
    ),
    "a relation by its address": (
        ATOM.format('<link rel="http://www.iana.org/assignments/relation/alternate" href="/1"/>'),
        (ONE,),
    ),
    "bases within bases": (
        ATOM.replace("<entry", '<entry xml:base="y/"').format('<link href="1"/>'),
        ("http://a.test/x/y/1",),
    ),
    "a base in a broken feed": (ATOM.format('<title>&D</title><link href="1"/>'), ("http://a.test/x/1",)),
    "a sitemap's document type": (f"<!DOCTYPE urlset [<!ELEMENT urlset ANY>]>{MAP}", PAGES),
    "a sitemap's bad address": (MAP.replace(TWO, "http://["), (ONE, THREE)),
    "a sitemap's open entry": (MAP.replace("2</loc></url>", "2"), (ONE, THREE)),
    "a sitemap's undeclared namespace": (
        MAP.replace("</loc>", "</loc><image:image><image:loc>/i.png</image:loc></image:image>"),
        PAGES,
    ),
    "a sitemap's entity": (f"<!DOCTYPE urlset [<!ENTITY a 'x'>]>{MAP}".replace(TWO, f"{TWO}&a;"), (ONE, THREE)),
    "JSON of odd types": (
        JSON % '{"url":"/1","date_modified":null},{"url":7},null,"x",[],{"id":3},{"url":"/2","tags":3}',
        PAGES[:2],
    ),
    "JSON with a name that is an address": (JSON % f'{{"id":"{ONE}"}},{{"id":"/2"}}', (ONE,)),
    "JSON with a byte order mark": ("\ufeff" + JSON % '{"url":"/1"}', (ONE,)),
    "JSON with line feeds in texts": (JSON % '{"url":"/1","title":"a\nb"}', (ONE,)),
    "JSON with a comma too many": (JSON % '{"url":"/1"},{"url":"/2"},', PAGES[:2]),
    "JSON that breaks off": ((JSON % '{"url":"/1"},{"url":"/2"},{"url":"/3')[:-2], PAGES[:2]),
    "JSON with one broken item": (JSON % '{"url":"/1"},{"url":"/2",x},{"url":"/3"}', (ONE, THREE)),
    "no list": (f"<!DOCTYPE html><html><body>{ITEMS}", ()),
}


@pytest.mark.parametrize("name", OWN)
def test_a_bad_item_costs_itself(name: str) -> None:
    text, pages = OWN[name]
    assert parse_sitemap(text.encode(), HERE, 100).pages == pages


ODD = {  # what only feedparser reads
    "capitals": RSS.upper().replace("HTTP://A.TEST", "http://a.test"),
    "HTML in an entry": RSS.replace("</title><link>", "</title><description><p>un<br>closed <b>x</description><link>"),
    "attributes without quotes": RSS.replace("<item>", "<item a=1>"),
    "tags that cross": RSS.replace(">t<", "><b>t<i>x</b><", 1),
    "an attribute without quotes": RSS.replace("<title>t</title>", "<m:title type=plain>t</m:title>", 1),
    "Atom's names alone": f"<feed>{''.join(f'<entry><id>{page}</id></entry>' for page in PAGES)}</feed>",
    "Microsoft's channels": f"<CHANNEL>{''.join(f'<ITEM HREF={page!r}></ITEM>' for page in PAGES)}</CHANNEL>",
}


@pytest.mark.parametrize("name", ODD)
def test_what_our_reader_cannot_read_feedparser_does(name: str) -> None:
    pytest.importorskip("feedparser")
    assert parse_sitemap(ODD[name].encode(), HERE, 100).pages == PAGES
    assert len(parse_sitemap(ODD[name].encode(), HERE, 2).pages) == 2


def test_feedparser_is_given_little_and_no_entities() -> None:
    pytest.importorskip("feedparser")
    items = "".join(f"<ITEM><TITLE>t</TITLE><LINK>http://a.test/{n:05}</LINK></ITEM>" for n in range(10_000))
    pages = parse_sitemap(f"<RSS><CHANNEL>{items}".encode(), "http://a.test/", 10_000).pages
    whole = MAX_BYTES // (len(items) // 10_000)
    assert whole - 2 <= len(pages) <= whole + 1, "what follows the first bytes is not read"
    assert parse_sitemap(f'<!DOCTYPE rss [<!ENTITY e "x">]>{ODD["capitals"]}'.encode(), HERE, 9).pages == ()


def test_given_feeds_and_sitemaps_list_their_pages() -> None:
    found: dict[str, Sitemap] = {}
    for name in ("21-json-feed-null", "30-harmless-doctype"):
        for url, raw in case(name).items():
            found[url] = parse_sitemap(raw.partition(b"\r\n\r\n")[2], url, 100)
    wanted = {"jf1": ("/1", "/2", "/4"), "jf2": ("/1", "/2"), "dt": ("/1",), "x09": ("/p1", "/p2")}
    assert {url: sitemap.pages for url, sitemap in found.items()} == {
        url: tuple(f"http://{host}.test{path}" for path in wanted[host])
        for url in found
        for host in [url.split("/")[2].removesuffix(".test")]
    }
