"""Signs of other keyboards mean what their ASCII forms mean. Filters of sites take the folders that they name, and
exclusions nothing more."""

import random
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import index_corpus as corpus
import pytest

from index.change_feed import Text
from index.engine.matcher import matches
from index.query.parser import ReadAs, parse_query
from index.query.patterns import find_patterns
from index.query.signs import in_ascii
from index.text.forward_index import forward_of

WEB = Path(__file__).parents[2] / "data" / "web"


def page(url: str, body: str, title: str = "") -> Text:
    made = corpus.text(random.Random(1), url)
    return replace(made, title=title, headings=(), body=body, language="en", boilerplate="")


def kept_pages(name: str) -> list[Text]:
    """The pages of a folder of tests/data/web."""
    parts = re.split(r"^### (\S+)\n", (WEB / name / "input").read_text("utf-8"), flags=re.MULTILINE)[1:]
    bodies = (re.sub(r"<[^>]+>", " ", each.partition("<body>")[2]) for each in parts[1::2])
    return [page(url, body) for url, body in zip(parts[::2], bodies, strict=True)]


def found(pages: list[Text], query: str) -> set[str]:
    asked = parse_query(query)
    forwards = [forward_of(each, asked.rules.analyzer) for each in pages]
    kept = [each for each, forward in zip(pages, forwards, strict=True) if matches(asked.counted, each, forward)]
    return {each.url.partition("://")[2] for each in kept}


TEA = kept_pages("04-typographic-signs")
A, B = "tea.test/a", "tea.test/b"


@pytest.mark.parametrize(
    "query",
    ["“green tea”", "«green tea»", "»green tea«", "„green tea“", "„green tea”", "‹green tea›", "「green tea」",
     "『green tea』", "＂green tea＂", "〝green tea〟", "❝green tea❞", "“green tea",
     "«“green” tea»", "「green『tea』」",
     "＋（green tea）＋morning", "green \u200e−hills", "green –hills", "green ﹣hills", "green －（hills）",
     "green ＮＯＴ hills",
     "（ｓｉｔｅ：none.test｜morning）", "morning site：tea．test", "inurl∶a green", "site﹕tea.test／a tea"],
)  # fmt: skip
def test_a_sign_of_any_script_means_what_its_ascii_form_means(query: str) -> None:
    assert found(TEA, query) == {A}
    assert not [each for each in parse_query(query).readings if each.read_as != ReadAs.CLOSED]


@pytest.mark.parametrize("query", ["green tea’s leaf", "‘green tea’", "tea – green", "green ‚tea‘", "tea 12″ green"])
def test_apostrophes_inches_and_dashes_between_words_stay_what_they_are(query: str) -> None:
    assert found(TEA, query) == {A, B}
    assert not parse_query(query).readings


def test_all_dashes_of_unicode_are_dashes_but_those_that_look_otherwise() -> None:
    dashes = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Pd"} - set("־᐀゠〜〰")
    assert {each for each in dashes if in_ascii(each) != "-"} == set()
    assert [str(each.pattern) for each in find_patterns("ｕｎｉｖｅｒｓ＊ “data＊”")[0]] == ["univers*"]


PATHS = kept_pages("03-site-path")
FOLDERS = [
    *PATHS,
    page("https://sp.test/docs", "walrusone"),
    page("http://sp.test/docs-old/x", "walrusone"),
    page("http://sp.test/Docs/x", "walrusone"),
    page("http://sp.test:8090/docs/a/b/c/d/e", "walrusone"),
    page("http://www.sp.test/wiki/%E7%8C%AB", "walrusone"),
    page("http://xn--mnchen-3ya.test/a%20b/", "walrusone"),
    page("http://xn--strae-oqa.test/", "walrusone"),
]
DOCS = {"sp.test/docs/x", "sp.test/docs", "sp.test:8090/docs/a/b/c/d/e"}
ALL = {each.url.partition("://")[2] for each in FOLDERS}


@pytest.mark.parametrize(
    ("site", "urls"),
    [
        ("sp.test/docs", DOCS),
        ("https://SP.test/docs/*", DOCS),
        ("sp.test/docs/x", {"sp.test/docs/x"}),
        ("sp.test/forum/../docs/", DOCS),
        ("sp.test/Docs", {"sp.test/Docs/x"}),
        ("sp.test:80/docs", {"sp.test/docs/x"}),
        ("sp.test:443", {"sp.test/docs"}),
        ("sp.test:8090", {"sp.test:8090/docs/a/b/c/d/e"}),
        ("sp.test/docs/a/b/c", {"sp.test:8090/docs/a/b/c/d/e"}),
        ("sp.test/doc", set()),
        ("sp.test/wiki/猫", {"www.sp.test/wiki/%E7%8C%AB"}),
        ("sp.test/wiki/%e7%8c%ab", {"www.sp.test/wiki/%E7%8C%AB"}),
        ("*.sp.test", {"www.sp.test/wiki/%E7%8C%AB"}),
        ("münchen.test/a%20b", {"xn--mnchen-3ya.test/a%20b/"}),
        ("XN--MNCHEN-3YA.test", {"xn--mnchen-3ya.test/a%20b/"}),
        ("straße。test", {"xn--strae-oqa.test/"}),
    ],
)
def test_a_site_is_its_host_port_and_folders_and_an_exclusion_all_others(site: str, urls: set[str]) -> None:
    if site != "*.sp.test":  # whose port that is not the scheme's counts as another host
        assert found(FOLDERS, f"walrusone site:{site}") == urls
        assert found(FOLDERS, f"walrusone -site:{site}") == ALL - urls
    assert "sp.test/docs" in found(FOLDERS, "walrusone -site:*.sp.test")


@pytest.mark.parametrize(
    "filter_",
    ["site:sp.test/docs/a/b/c/d", "site:sp.test:99999", "site:sp.test:http", "site:sp.test/docs?a=b", "site:me@sp.test",
     "site:sp.test/*/x", "site:sp..test", "site:sp.test,",
     "site:http://", "site:", "before:soon", "intitle:" + "x" * 65],
)  # fmt: skip
def test_an_exclusion_that_cannot_be_is_told_and_excludes_nothing(filter_: str) -> None:
    query = f"walrusone -{filter_}"
    assert [each.piece for each in parse_query(query).readings if each.read_as == ReadAs.NO_FILTER] == [filter_[:64]]
    assert found(FOLDERS, query) == ALL


@pytest.mark.parametrize(
    ("beside", "excluded", "kept"),
    [
        ("x " * 508, "-hillside", "hill"),  # the text ends inside of the word
        ("x " * 508, '-"hill map side"', "hill"),
        ("x " * 508, "-(hill side)", "hill"),
        (" ".join(map("w{}".format, range(63))) + " ", '-"hill map side"', "hill"),  # there is room for one word more
        ("hill ", '-intitle:"old map"', "hill"),
    ],
)
def test_an_exclusion_never_excludes_more_than_was_written(beside: str, excluded: str, kept: str) -> None:
    pages = [page("http://a.test/", f"{kept} x {beside}", "Map of old")]
    assert found(pages, f"x hill {beside}{excluded}") == {"a.test/"}
