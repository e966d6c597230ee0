"""The filter `lang:` and the language that a page declares go by what a code means, not by its letters."""

import pytest

from crawl.content.language import guess_language
from dht import codes_of, language_code
from index.query.parser import LanguageFilter, parse_query
from index.query.query_tree import QueryGroup, ReadAs

# RFC 4647, lookup; RFC 5646 and its registry: deprecated codes, extended and grandfathered tags.
MEANT = {
    "en-US": "en",
    "EN": "en",
    "de-Latn-DE-1996": "de",
    "en_GB.UTF-8": "en",
    "en-*": "en",
    "iw": "he",
    "JP": "ja",
    "cz": "cs",
    "in-ID": "id",
    "ji": "yi",
    "jw": "jv",
    "mo": "ro",
    "nb-NO": "no",
    "no-bok": "no",
    "no-nyn": "nn",
    "zh-Hant-TW": "zh",
    "zh-cmn-Hans": "zh",
    "zh-yue": "yue",
    "deu": "de",
    "ast": "ast",
}
NONE = ("xx", "english", "e", "", "und", "mul", "x-klingon", "d3", "en-", "en-toolongsubtag", "日本", "en,de", "*")


@pytest.mark.parametrize(("tag", "code"), MEANT.items())
def test_a_filter_finds_pages_by_either_code(tag: str, code: str) -> None:
    assert language_code(tag) == code == language_code(code)
    query, plain = parse_query(f"word lang:{tag}"), parse_query(f"word lang:{code}")
    assert query.root == plain.root and not query.readings
    assert parse_query("word", language=tag).root == plain.root
    assert guess_language(tag, "A few words.") in codes_of(tag)


@pytest.mark.parametrize("value", NONE)
def test_a_value_that_cannot_be_is_told(value: str) -> None:
    assert language_code(value) == ""
    if value:
        assert [each.read_as for each in parse_query(f"word lang:{value}").readings] == [ReadAs.NO_FILTER]
        assert [each.piece for each in parse_query("word", language=value).readings] == [f"lang:{value}"]


def test_norwegian_is_also_nynorsk_but_not_the_other_way() -> None:
    root = parse_query("lang:nb").root
    assert isinstance(root, QueryGroup) and root.children == (LanguageFilter("no"), LanguageFilter("nn"))
    assert parse_query("lang:nn").root == LanguageFilter("nn")


def test_stop_words_are_those_of_the_language_that_is_meant() -> None:
    assert parse_query("die hard lang:de-AT").leaves == parse_query("hard lang:de").leaves
