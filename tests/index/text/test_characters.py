"""Single characters that are words of Chinese and Korean."""

import random
import unicodedata
from dataclasses import replace

import index_corpus as corpus
import pytest

from index.change_feed import Text
from index.query.parser import parse_query
from index.results.oracle import SearchOracle
from index.text.characters import characters_in, is_character


def test_each_character_is_told_once_as_the_analyzer_writes_it() -> None:
    assert characters_in("I drink 綠茶, 绿茶 and \uf900", "책을 읽다 のカ") == sorted("绿茶岂책을읽다")
    assert characters_in("plain", "Größe Ωμέγα дом") == []


@pytest.mark.parametrize(("word", "is_one"), [("茶", True), ("책", True), ("の", False), ("a", False), ("茶叶", False)])
def test_what_is_a_character(word: str, is_one: bool) -> None:
    assert is_character(word) == is_one


@pytest.mark.parametrize("query", ["茶", "+茶", '"茶"', "茶 OR nothing", "茶*", "飲 茶 喝"])
def test_a_character_finds_the_pages_that_hold_it_anywhere(query: str) -> None:
    bodies = ["他喝绿茶。", "茶叶很香", "一杯红茶很香", "喝咖啡", "tea 茶 leaves"]
    texts = [_page(number, body) for number, body in enumerate(bodies)]
    answer = SearchOracle(texts).search(query)
    assert {text.body for text in answer.matches} >= {body for body in bodies if "茶" in body}
    assert "喝咖啡" not in {text.body for text in SearchOracle(texts).search("茶").matches}
    assert all("茶" not in text.body for text in SearchOracle(texts).search("喝 很 -茶").matches)


def test_a_page_about_a_character_stands_before_one_that_holds_it_once() -> None:
    once = "茶" + "".join(map(chr, range(0x5B00, 0x5B40)))
    texts = [_page(0, once), _page(1, "茶叶与茶具，茶树，茶园，茶文化"), _page(2, "喝咖啡")]
    hits = SearchOracle(texts).search("茶").hits
    assert [hit.text.id for hit in hits] == [texts[1].id, texts[0].id]


def test_a_character_beside_words_does_not_outweigh_them() -> None:
    list_ = _page(
        0, "".join(f"第{n}章" for n in "一二三四五六七八九十") * 3 + "章节章程章鱼章法文章章回第一第二第三第四"
    )
    texts = [list_, _page(1, "第 2 章 上传软件包"), *(_page(n, f"软件包{chr(0x5B00 + n)}") for n in range(2, 9))]
    assert SearchOracle(texts).search("第 9 章 上传软件包").hits[0].text.id == texts[1].id


def test_every_character_is_looked_for_as_it_is_written() -> None:
    for code in (*range(0x4E00, 0x9FFF, 7), *range(0xAC00, 0xD7A3, 11)):
        if unicodedata.category(chr(code)) != "Cn":
            found = parse_query(chr(code))
            assert [f"character:{each}" for each in characters_in(chr(code))] == [_tag(found.root)]


def _tag(node: object) -> str:
    return next(child.tag for child in node.children if hasattr(child, "tag"))  # type: ignore[attr-defined]


def _page(number: int, body: str) -> Text:
    made = corpus.text(random.Random(number), f"http://n{number}.test/a")
    return replace(made, title="", headings=(), body=body, boilerplate="")
