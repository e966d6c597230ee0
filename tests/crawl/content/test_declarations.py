"""Declarations of a page about itself count where its bytes bear them out.

Sources: HTML Standard, 14; URL Standard, 4.4; WHATWG Encoding; XML 1.0.
"""

import pytest

from crawl.content.charsets import encode_query
from crawl.content.decode import decode_text
from tests.crawl.content.pages_read import both_engines, lines, read, read_file

XHTML = "application/xhtml+xml"
HEAD = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body>'
ENTITIES = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'


@both_engines
@pytest.mark.parametrize(
    ("name", "title", "found", "targets"),
    [
        ("a", "T", ["walrusxh scriptclosed b"], ["http://xh.test/b"]),
        ("b", "T", ["walrusxh before", "walrusxh iframeclosed"], ["http://xh.test/x"]),
        ("c", "T", ["q a < b walrusxh cdataword"], []),
        ("d", "Prefixed", ["walrusxh prefixword", "second e"], ["http://xh.test/e"]),
        ("f", "", ["walrusxh titleclosed"], []),
        ("g", "T", ["walrusxh areaclosed"], []),
    ],
)
def test_the_given_xhtml_is_read_as_xml(
    engine: str, name: str, title: str, found: list[str], targets: list[str]
) -> None:
    parsed = read_file(f"14-xhtml-self-closing/xh.test-{name}.xhtml", engine)
    assert (parsed.title, lines(parsed), [link.url for link in parsed.links]) == (title, found, targets)


@both_engines
@pytest.mark.parametrize(
    ("page", "found"),
    [
        (f"{HEAD}<p>one</p><div/>two<br/>three</body></html>", ["one", "two", "three"]),
        (f"{HEAD}<a id='x'/>one &eacute;&nbsp;two &amp;lt;</body></html>", ["one é two &lt;"]),
        (f"{HEAD}<style/><p>one</p><!-- <p>no</p> --><textarea/>two</body></html>", ["one", "two"]),
        (f"{HEAD}<script><![CDATA[ if (a < b) ]]></script>one</body></html>", ["one"]),
        (f"{HEAD}<p>never closed<b>one</body></html>", ["never closedone"]),  # then it is HTML
        (f"{HEAD}<p>one &unknown; two</p></body></html>", ["one &unknown; two"]),
        (f"{ENTITIES}{HEAD[21:]}<p>one &b; two</p></body></html>", ["one &b; two"]),
        (f"<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'x.dtd'>{HEAD[21:]}<p/>one</body></html>", ["one"]),
        ("<p>no XML at all<br/>one", ["no XML at all", "one"]),
    ],
)
def test_other_xhtml(engine: str, page: str, found: list[str]) -> None:
    assert [" ".join(line.split()) for line in lines(read(page, engine, XHTML)) if line not in "]>"] == found


def test_html_is_never_read_as_xml() -> None:
    assert lines(read(f"{HEAD}<script/><p>all this is a script</p></script>one</body></html>")) == ["one"]


@both_engines
def test_drawings_and_languages_of_xhtml_are_known(engine: str) -> None:
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"><a x:href="/x"/></svg>'
    parsed = read(f"{HEAD}<p xml:lang='de'>one</p>{drawing}</body></html>", engine, XHTML)
    assert [link.url for link in parsed.links] == ["http://a.test/x"]


@both_engines
@pytest.mark.parametrize(
    ("host", "query", "path"),
    [
        ("gbk", "k=%BA%E91", "%E6%B4%AA"),
        ("w1251", "k=%EC%E8%F0", "%D0%BC%D0%B8%D1%80"),
        ("sjis", "k=%95\\%8E%A6", "%E8%A1%A8"),
    ],
)
def test_the_query_of_a_link_is_in_the_charset_of_its_page(engine: str, host: str, query: str, path: str) -> None:
    links = [link.url for link in read_file(f"15-legacy-charset-query/{host}.test.html", engine).links]
    assert links == [f"http://{host}.test/s.asp?{query}&p=2", f"http://{host}.test/{path}/x.html"]


def test_the_canonical_address_has_such_a_query_too() -> None:
    assert read_file("15-legacy-charset-query/x38.test-cangbk.html").canonical == "http://x38.test/s.asp?k=%BA%E9"


@pytest.mark.parametrize(
    ("reference", "charset", "encoded"),
    [
        ("/x?k=é", "windows-1252", "/x?k=%E9"),
        ("/é?k=é#é", "iso-8859-2", "/é?k=%E9#é"),
        ("/x?k=漢&é", "windows-1252", "/x?k=%26%2328450%3B&%E9"),  # it has no such letter
        ("?ж", "koi8-r", "?%D6"),
        ("/x?k=日", "euc-jp", "/x?k=%C6%FC"),
        ("/x?k=é", "utf-16-le", "/x?k=é"),  # of UTF-16 the URL Standard makes UTF-8
        ("/x?k=%E9", "windows-1252", "/x?k=%E9"),
        ("#?é", "windows-1252", "#?é"),
    ],
)
def test_queries_of_other_charsets(reference: str, charset: str, encoded: str) -> None:
    assert encode_query(reference, charset) == encoded


JAPANESE = "<title>日本語</title><p>これは日本語の文章です。"
ENGLISH = "<!doctype html><title>Hello</title><p>plain words"


@pytest.mark.parametrize("declared", ["", "utf-8", "iso-8859-1", "shift_jis"])
@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (JAPANESE, "iso-2022-jp"),
        *((text, f"utf-16-{end}") for end in ("le", "be") for text in (JAPANESE * 3, ENGLISH, f"<p>{'漢字' * 50}")),
        ("Привет мир, это просто текст без разметки", "utf-16-le"),
    ],
)
def test_what_only_one_charset_can_be_is_it(text: str, charset: str, declared: str) -> None:
    assert decode_text(text.encode("iso2022_jp" if charset == "iso-2022-jp" else charset), declared) == (text, charset)


@pytest.mark.parametrize("declared", ["utf-16", "utf-16le", "utf-16be"])
def test_a_text_without_a_zero_is_not_utf_16(declared: str) -> None:
    assert decode_text("<title>héllo</title>".encode(), declared) == ("<title>héllo</title>", "utf-8")


def test_escapes_of_terminals_are_no_japanese() -> None:
    assert decode_text(b"colours \x1b[0m \x1b$ end") == ("colours \x1b[0m \x1b$ end", "utf-8")
