"""Titles and dates of pages, from the right place. Sources: HTML Standard, 4.2.2 and 4.5.14; schema.org; RFC 8259;
Highwire Press tags; Dublin Core; ISO 32000-2, 7.9.4. Issues of others: htmldate 8 and 196, node-unfluff 93 (a comment's
date)."""

import time
from datetime import UTC, datetime

import pytest

from crawl.content.extract import extract
from crawl.content.linked_data import is_linked_data, linked_dates
from crawl.content.page import ParseTask
from crawl.content.printed_date import printed_dates
from tests.crawl.content.pages_read import both_engines, read, read_file
from tests.crawl.content.test_extract_pdf import pdf


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() if text else 0.0


@both_engines
@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<svg><title>icon</title></svg><title>page</title>", "page"),
        ("<body><svg><g><title>icon</title></g></svg><h1>head</h1>", "head"),
        ("<meta property=og:title content=og><h1>head</h1>", "og"),
        ("<title> </title><h2>menu</h2><h1>he<br>ad</h1>", "he ad"),
        ("<h1> </h1><h2>second</h2>text", "second"),  # trafilatura 400
        ("<title>Untitled Document</title><h1>head</h1>", "head"),
        ("<title>无标题文档</title>", "无标题文档"),
        ("<meta name=twitter:title content=card><h1>head</h1>", "card"),
        ("<title>Tom &amp;#8217;s &amp;amp; Jerry</title>", "Tom \u2019s & Jerry"),  # newspaper 193
        ("<title>The &amp;lt;b&amp;gt; element</title>", "The &lt;b&gt; element"),
        ("<title>one</title><title>two</title>", "one"),
        ("<title>page</title><meta property=og:title content=og><h1>head</h1>", "page"),
        ("<title>Site</title><meta property=og:title content=og><meta property=og:site_name content=Site>", "og"),
        ("<title>Site</title><meta property=og:site_name content=Site><h1>head</h1>", "head"),  # omnivore 1769
        ("<h1 hidden>hidden</h1><h1>head</h1>", "head"),
    ],
)
def test_the_title_is_that_of_the_document(engine: str, page: str, title: str) -> None:
    assert read(page, engine).title == title


@pytest.mark.parametrize(
    ("named", "title"),
    [
        ("A title", "A title"),
        ("Microsoft Word - report.doc", "Hello there"),
        ("report_final2.docx", "Hello there"),
        (r"C:\\\\tex\\\\paper.dvi", "Hello there"),
        ("untitled", "Hello there"),
        (r"\(anonymous\)", "Hello there"),
        ("Document1", "Hello there"),
        ("-", "Hello there"),
        ("The node.js way", "The node.js way"),
        ("Release 2.0", "Release 2.0"),
    ],
)
def test_a_file_name_is_no_title_of_a_pdf(named: str, title: str) -> None:
    assert read(pdf("Hello there", head=f"/Title ({named})"), media_type="application/pdf").title == title


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles"])
@pytest.mark.parametrize(
    ("made", "instant"), [("D:20240101003000", 1_704_069_000.0), ("D:20240101003000+08'00'", 1_704_040_200.0)]
)
def test_a_pdf_without_a_zone_is_of_utc(made: str, instant: float, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        body = pdf("Hello there", head=f"/CreationDate ({made})")
        assert read(body, media_type="application/pdf").published_at == instant
    finally:
        monkeypatch.undo()
        time.tzset()


@both_engines
def test_given_linked_data_is_read(engine: str) -> None:
    assert read_file("42-json-ld-escapes-and-type/x02.test-jl1.html", engine).published_at == at("2020-05-06T08:00:00")
    assert read_file("42-json-ld-escapes-and-type/x02.test-jl3.html", engine).published_at == at("2020-05-06")


@both_engines
@pytest.mark.parametrize(
    "data",
    [
        r'{"datePublished":"2020\u002D05\u002d06"}',
        '[{"@type":"Person"},{"@type":["Thing","NewsArticle"],"datePublished":"2020-05-06"}]',
        '{"@graph":[{"@type":"WebPage","datePublished":"2019-01-01"},{"@type":"Article","datePublished":"2020-05-06"}]}',
        '{"@type":"Article","comment":{"@type":"Comment","datePublished":"2021-01-01"},"datePublished":"2020-05-06"}',
        '{"@type":"WebPage","mainEntity":{"@type":"BlogPosting","datePublished":["2020-05-06"]}}',
        '{"@graph":[{"@type":"Comment","datePublished":"2019-01-01"},{"@type":"WebPage","datePublished":"2020-05-06"}]}',
        '{"@type":"https://schema.org/Article","schema:datePublished":{"@type":"Date","@value":"2020-05-06"}}',
        '<!-- {"@type":"Article","datePublished":"2020-05-06",} -->',
        '//<![CDATA[\n{"headline":"two\nlines","datePublished":"2020-05-06"}\n//]]>',
        '{"@type":"Article","name":"broken" "datePublished" : "2020\\u002d05-06"',
        '{"&quot;":0}',
        '{"@type":"Book","datePublished":"1999-01-01"}',
        '{"@type":"Article","datePublished":null}',
    ],
)
def test_linked_data_is_json(engine: str, data: str) -> None:
    expected = at("2020-05-06") if "2020" in data else 0.0
    assert read(f'<script type="application/ld+json">{data}</script><p>text', engine).published_at == expected


def test_linked_data_of_spaces_and_brackets_takes_no_time() -> None:
    for data in (" " * 60_000, "[" * 60_000, '{"a":' * 20_000, '"::' * 20_000, "," * 60_000, "//<!--" * 9_000):
        assert not linked_dates([data])


def test_the_type_of_a_script_is_a_mime_type() -> None:
    assert all(map(is_linked_data, ("application/ld+json", " Application/LD+JSON ; charset=utf-8")))
    assert not any(map(is_linked_data, (None, "", "application/json", "application/ld+json5")))


@both_engines
@pytest.mark.parametrize(
    ("name", "text", "date"),
    [
        ("citation_publication_date", "2009/5/4", "2009-05-04"),
        ("citation_publication_date", "2009/05", "2009-05-01"),
        ("citation_date", "2009", "2009-01-01"),
        ("DC.date.issued", "2009-05-04", "2009-05-04"),
        ("DCTERMS.issued", "2009-05", "2009-05-01"),
        ("article:published_time", "2009-05-04T03:02:01+00:00", "2009-05-04T03:02:01"),
        ("article:published_time", "2009-05-04 03:02:01 UTC", "2009-05-04T03:02:01"),
        ("parsely-pub-date", "2009-05-04T03:02:01.1234567Z", "2009-05-04T03:02:01.123456"),
        ("prism.publicationDate", "2009-05-04", "2009-05-04"),
        ("date", "May 4, 2009", "2009-05-04"),
        ("pubdate", "4 May 2009", "2009-05-04"),
        ("publish-date", "1241406121", "2009-05-04T03:02:01"),
        ("date", "2009", ""),
        ("date", "04/05/2009", ""),  # May or April
        ("viewport", "2009-05-04", ""),
    ],
)
def test_dates_of_meta_elements(engine: str, name: str, text: str, date: str) -> None:
    assert read(f'<meta name="{name}" content="{text}"><p>text', engine).published_at == at(date)


ARTICLE = "<article><h1>Title</h1><p>by A <time datetime=2020-05-06>x</time></p><p>text</p></article>"
LATER = "<time datetime=2021-01-01>x</time>"


@both_engines
@pytest.mark.parametrize(
    ("page", "date"),
    [
        (ARTICLE, "2020-05-06"),
        (f"<header><h1>T</h1><time>2020-05-06</time></header><p>{'word ' * 200}{LATER}", "2020-05-06"),
        (f"<aside>{LATER}</aside>{ARTICLE}<footer>{LATER}</footer>", "2020-05-06"),
        (f"<nav><h2>News</h2>{LATER}</nav>{ARTICLE}", "2020-05-06"),
        (f"{ARTICLE}<section><article><h2>Related</h2>{LATER}</article></section>", "2020-05-06"),
        (ARTICLE.replace("<p>text", f"<article class=comment>{LATER}</article><p>text").replace("2020-05-06", ""), ""),
        (f"<h1>Title</h1><p>{'word ' * 200}<p>{LATER}", ""),
        (f"<h1>T</h1><p>text<div class='comment-list x'>{LATER}</div>", ""),
        (f"<h1>T</h1><div class=comments-open>{LATER}</div>", "2021-01-01"),
        (f"<h1>Blog</h1><article><h2>One</h2>{LATER}</article><article><h2>Two</h2>{LATER}</article>", ""),
        (f"<h1>Blog</h1><h2>One</h2>{LATER}<h2>Two</h2>{LATER}", ""),
        (
            "<h1>T</h1><p itemtype=http://schema.org/Comment><time itemprop=datePublished datetime=2021-01-01></time>",
            "",
        ),
        (f"<h1>T</h1><p>{'word ' * 200}<time itemprop=datePublished datetime=2020-05-06>x</time>", "2020-05-06"),
        ("<time datetime=2020-05-06>x</time><h1>Title</h1>", "2020-05-06"),
        ("<p>by <time class='entry-date published updated' datetime=2020-05-06>x</time>", "2020-05-06"),
    ],
)
def test_only_a_time_in_the_head_of_the_article_is_its_date(engine: str, page: str, date: str) -> None:
    assert read(page, engine).published_at == at(date)


@both_engines
def test_an_update_is_told_from_the_first_date(engine: str) -> None:
    parsed = read("<h1>T</h1><time class=updated datetime=2021-01-01></time><time datetime=2020-05-06></time>", engine)
    assert (parsed.published_at, parsed.modified_at) == (at("2020-05-06"), at("2021-01-01"))


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("/2017/10/06/visit-austria.html", "2017-10-06"),
        ("/news/2019-11-20/", "2019-11-20"),
        ("/c/20200219.htm", "2020-02-19"),
        ("/1848/03/18/", ""),  # older than the web
        ("/2017/13/06/", ""),
        ("/2020/02/31/x", ""),
        ("/iso/9001-2/", ""),
        ("/x?day=/2017/10/06/", ""),
        ("/2017/10/061/", ""),
    ],
)
def test_an_address_dates_a_page_that_has_no_date(path: str, day: str) -> None:
    for head, expected in (("", day), ("<meta name=date content=2001-02-03>", "2001-02-03")):
        page = extract(ParseTask(f"http://a.test{path}", f"<p>x{head}".encode(), "text/html", "utf-8", 10, 1_000))
        found = datetime.fromtimestamp(page.published_at, UTC).date().isoformat() if page.published_at else ""
        assert found == expected


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("© Copyright 2001-2026, Us. Last updated on Oct 07, 2026. Created using Sphinx.", "2026-10-07"),
        ("Last updated 2024-05-31 00:35:55 UTC", "2024-05-31"),
        ("Last modified: Fri May  3 12:33:44 UTC 2024", "2024-05-03"),
        ("This page was last edited on 3 May 2024, at 12:00 (UTC).", "2024-05-03"),
        ("Stand: 3. März 2024", "2024-03-03"),
        ("Diese Seite wurde zuletzt am 3. März 2024 um 12:00 Uhr bearbeitet.", "2024-03-03"),
        ("Dernière mise à jour le 1er août 2024", "2024-08-01"),
        ("Última actualización: 3 de marzo de 2024", "2024-03-03"),
        ("Последнее обновление: 3 мая 2024 г.", "2024-05-03"),
        ("Naposledy změněno: 3. července 2024", "2024-07-03"),
        ("更新日期：2024年3月3日", "2024-03-03"),
        ("마지막 업데이트: 2024년 5월 3일", "2024-05-03"),
        ("Last updated: 25/05/2024", "2024-05-25"),
        ("Last updated: 03/05/2024", ""),  # by readers of one country it is May, of another March
        ("Copyright 2019-2024", ""),
        ("Version 2024.05.03", ""),
        ("Last updated in version 3.2 of 2024", ""),
        ("The library was last updated on 3 May 2020 by them", ""),
        ("Last updated: 31 June 2024", ""),
    ],
)
def test_a_page_is_dated_by_the_day_that_it_prints_at_its_foot(line: str, day: str) -> None:
    page = read(f"<main><p>{'Words of the page. ' * 200}</main><footer>{line}</footer>")
    assert page.modified_at == at(day)


def test_a_day_of_publication_is_told_from_one_of_a_change() -> None:
    page = read("<h1>Title</h1><p>Published: June 1, 2023<p>Words")
    assert (page.published_at, page.modified_at) == (at("2023-06-01"), 0.0)


@pytest.mark.parametrize(
    ("around", "day"),
    [
        ("<h1>Head</h1><p>4 February 2022</p>", "2022-02-04"),
        ("<p>31.01.2022 | Sport</p><h1>Head</h1>", "2022-01-31"),
        ("<h1>Head</h1><p>Ada • Freitag, 4. Februar 2022, 13:10 Uhr</p>", "2022-02-04"),
        ("<h1>Head</h1><p>On 4 February 2022 they met.</p>", ""),
        ("<h1>Head</h1><p>4 February 2022</p><p>5 February 2022</p>", ""),  # a list of news
        ("<p>4 February 2022</p><h1>Other</h1>", ""),
    ],
)
def test_the_one_day_that_stands_alone_beside_the_title_is_that_of_the_page(around: str, day: str) -> None:
    page = read(f"<title>Head - Site</title>{around}<p>{'Words of the page. ' * 200}")
    assert page.published_at == at(day)


def test_a_printed_day_amid_a_long_text_is_not_that_of_the_page() -> None:
    text = "Words of the page.\n" * 200
    assert not any(printed_dates(f"{text}Last updated on May 3, 2024\n{text}"))


def test_what_a_page_declares_counts_more_than_what_it_prints() -> None:
    page = read("<meta name=date content=2020-02-02><p>Words</p><p>Last updated on May 3, 2024</p>")
    assert (page.published_at, page.modified_at) == (at("2020-02-02"), 0.0)


@both_engines
@pytest.mark.parametrize(("root", "language"), [("<html>", "fr"), ("<html lang=de>", "de")])
def test_a_meta_declares_the_language_where_the_root_does_not(engine: str, root: str, language: str) -> None:
    page = f"{root}<meta http-equiv=Content-Language content=fr-CA><p>12 345"
    assert read(page, engine).language == language
