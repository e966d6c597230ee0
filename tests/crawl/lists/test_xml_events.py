"""XML of strangers: bounded in depth and entities, read up to where it breaks."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.lists.sitemap import parse_sitemap
from crawl.lists.xml_events import MAX_DEPTH, Enough, EntryReader, read_xml


class Told(EntryReader):
    """Remembers the events; ends after so many elements."""

    def __init__(self, most: int = 1 << 30) -> None:
        super().__init__(most)
        self.events: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.events.append(f"<{tag} {' '.join(f'{k}={v}' for k, v in attributes.items())}".rstrip())
        if len(self.events) > self._limit:
            raise Enough

    def end(self, tag: str, text: str) -> None:
        self.events.append(f"{text}/{tag}")


def told(body: bytes, most: int = 1 << 30) -> list[str]:
    return read_xml(body, lambda: Told(most)).events


def test_names_come_without_namespaces_and_text_with_its_element() -> None:
    body = b'<a xmlns="u:x" xmlns:d="u:d"><d:b k="v">one&amp;<![CDATA[<two>]]></d:b>tail</a>'
    assert told(body) == ["<a", "<b k=v", "one&<two>/b", "tail/a"]


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b'<!DOCTYPE html SYSTEM "http://a.test/x.dtd"><a>x</a>',
    ],
)
def test_entities_and_html_end_it(body: bytes) -> None:
    assert told(body) == []
    assert told(b'<!DOCTYPE a SYSTEM "http://a.test/x.dtd"><a>x</a>') == ["<a", "x/a"], "and no document type else"


def test_depth_and_number_are_bounded_and_what_is_broken_and_no_list_says_nothing() -> None:
    assert told(b"<a>" * 1_000_000) == [], "nothing that has an end"
    assert len(told(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH)) == 2 * MAX_DEPTH
    assert len(told(b"<a>" + b"<b/>" * 1_000_000, most=10)) <= 12
    assert told(b"<a>x<b>y</b></c>") == []


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | st.text("<a>/&;#x0![CDAT]?", max_size=60).map(str.encode))
def test_nothing_breaks_it(body: bytes) -> None:
    told(body)


HERE = "http://a.test/list"
PAGES = ("http://a.test/1", "http://a.test/2", "http://a.test/3")
SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://a.test/1</loc><lastmod>2026-05-01</lastmod></url>
<url><loc>http://a.test/2</loc></url>
<url><loc>http://a.test/3</loc></url>
</urlset>"""
RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>Site</title><link>http://a.test/</link>
<item><title>One</title><link>http://a.test/1</link><pubDate>Sat, 02 May 2026 10:00:00 +0200</pubDate></item>
<item><title>Two</title><link>http://a.test/2</link></item>
<item><title>Three</title><link>http://a.test/3</link></item>
</channel></rss>"""


@pytest.mark.parametrize(
    ("body", "pages"),
    [
        (SITEMAP.replace("/1<", "/1?a=1&b=2&copy=3<"), ("http://a.test/1?a=1&b=2&copy=3", *PAGES[1:])),
        (SITEMAP.replace("/2<", "/2?a=1&amp;b=&#50;&c<"), (PAGES[0], "http://a.test/2?a=1&b=2&c", PAGES[2])),
        (SITEMAP.replace("/2<", "/&eacute;<"), (PAGES[0], "http://a.test/%C3%A9", PAGES[2])),
        (SITEMAP.replace("/2<", "/<![CDATA[2?&]]><").replace("/3<", "/&<"), (PAGES[0], PAGES[1] + "?&", "http://a.test/&")),
        ("Warning: Undefined index in /srv/wp.php on line 7\n" + SITEMAP, PAGES),
        ("<br />\n<b>Notice</b>: x<br />\n" + SITEMAP, PAGES),
        ("\n\n " + SITEMAP, PAGES),
        (SITEMAP[: SITEMAP.index("/3<")] + "/3</lo", PAGES[:2]),
        (SITEMAP.replace("</urlset>", ""), PAGES),
        (SITEMAP.replace("</url>", "", 1), PAGES),
        (SITEMAP.replace("</url>", ""), PAGES),
        (SITEMAP.replace("</loc>", "", 1).replace("</lastmod>", "").replace("<lastmod>2026-05-01", ""), PAGES),
        (SITEMAP.replace("<url>", "<url><x:i><x:loc>/no</x:loc></x:i>", 1).replace("</urlset>", ""), PAGES),
        (SITEMAP.replace("<url>", "<!-- <url><loc>/no</loc></url> --><url>", 1).replace("</urlset>", ""), PAGES),
        (SITEMAP + SITEMAP, PAGES),
        (SITEMAP + "\n<!-- 0.2 s --><script>x</script>", PAGES),
        (RSS.replace("One", "Salt & Pepper"), PAGES),
        (RSS.replace("One", "caf&eacute;&nbsp;&bogus; 1 < 2 <3"), PAGES),
        (RSS.replace("One", "a\0b\x0b\x1fc"), PAGES),
        (RSS.replace("</item>", "", 1), PAGES),
        (RSS.replace("</item>", ""), PAGES),
        (RSS.replace("</title><link>http://a.test/2", "<link>http://a.test/2"), (PAGES[0], PAGES[2])),
        (RSS.replace("One", "<![CDATA[ <item><link>/no</link> & <!-- ]]>").replace("</rss>", ""), PAGES),
        (RSS.replace("One", "<![CDATA[ x ]]> & ]]>"), PAGES),
        (RSS.replace(' encoding="UTF-8"', " encoding=utf-8 standalone"), PAGES),
        (RSS.replace("UTF-8", "utf8mb4"), PAGES),
        (RSS.replace("UTF-8", "UTF-16"), PAGES),
        (RSS.replace("<rss", "<!-- a -- b --><rss"), PAGES),
    ],
)  # fmt: skip
def test_what_can_be_read_is_read(body: str, pages: tuple[str, ...]) -> None:
    assert parse_sitemap(body.encode(), HERE, 100).pages == pages


def test_the_charset_of_a_list_is_told_from_its_bytes() -> None:
    body = RSS.replace("One", "caf\xe9 \xe0 la cr\xe8me").encode("latin-1")
    found = parse_sitemap(body, HERE, 100)
    assert found.pages == PAGES and found.is_feed and len(found.changed_at) == 1
    chinese = SITEMAP.replace("/2<", "/新闻网页<").replace("UTF-8", "utf-8x").encode("gb18030")
    assert (
        parse_sitemap(chinese.replace(b"utf-8x", b"gbk"), HERE, 100).pages[1]
        == "http://a.test/%E6%96%B0%E9%97%BB%E7%BD%91%E9%A1%B5"
    )


def test_dates_and_indexes_are_read_too() -> None:
    found = parse_sitemap(SITEMAP.replace("/3<", "/3?&<").encode(), HERE, 100)
    assert list(found.changed_at) == [PAGES[0]] and not found.is_feed
    index = SITEMAP.replace("urlset", "sitemapindex").replace("url>", "sitemap>").replace("</sitemapindex>", "")
    assert parse_sitemap(index.encode(), HERE, 100).sitemaps == PAGES


@pytest.mark.parametrize(
    "body",
    [
        '<?xml bad><!DOCTYPE x [<!ENTITY a "x"><!ENTITY b "&a;">]><urlset><url><loc>/&b;</loc></url></urlset>',
        'x<!doctype x SYSTEM "http://b.test/x.dtd><urlset><url><loc>/1&</loc></url></urlset>',
        "<!DOCTYPE html><html><body>&nbsp;<item><link>/x</link></item>",
    ],
)  # fmt: skip
def test_what_a_document_type_says_is_never_read(body: str) -> None:
    assert not parse_sitemap(body.encode(), HERE, 100).pages


HOSTILE = (
    *("<", "&", "&amp", "<a ", "<![CDATA[", "]]>", "<!--", "</", "<url>", "<url><loc>/x&", "<a/>", "<a>"),
    *("<item><link>", "<x:y z='", "\0", "<?xml ", "&#0;", "\x80", "<entry"),
)


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_lists_are_bounded_in_time(part: str) -> None:
    body = b"<rss><item>" + part.encode("latin-1") * (200_000 // len(part))
    began = time.process_time()
    assert len(parse_sitemap(body, HERE, 5_000).pages) <= 5_000
    assert time.process_time() - began < 5.0  # it takes a tenth


PIECES = (
    *("<urlset>", "<url>", "</url>", "<loc>", "</loc>", "<item>", "</item>", "<link>", "</link>", "&", "<"),
    *("<![CDATA[", "]]>", "<!--", "-->", "<?xml ?>", "/x", "&amp;", "\0"),
    *( "\ud800", "&#xd800;", "&#1114112;", "&#xfffe;", "<a b=c>", "<p:a xmlns:p=''/>", "\ufeff", "<!", "http://["),
    *("<lastmod>", "</lastmod>", "0001-01-01T00:00:00+23:59", "9999-12-31", "T24:00Z", "<sitemap>", "\n"),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from(PIECES), max_size=30).map(lambda parts: "".join(parts).encode("utf-8", "surrogatepass"))
)
def test_rubbish_never_fails(body: bytes) -> None:
    parse_sitemap(body, HERE, 10)
