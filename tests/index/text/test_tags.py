"""Filters ask a document for its tags: types by address, its date, ranges of dates as the fewest tags, single
characters."""

import random
import unicodedata
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import index_corpus as corpus
import pytest

from index.change_feed import Text
from index.query.parser import parse_query
from index.results.oracle import SearchOracle
from index.text.tags import bears, characters_in, date_of, date_tags, is_character, tags_of, type_of


@pytest.mark.parametrize(
    ("url", "ending"),
    [
        ("http://a.example/", "html"),
        ("http://a.example/index.php?x=a.pdf", "html"),
        ("http://a.example/paper.PDF", "pdf"),
        ("http://a.example/v3.11", "html"),
        ("http://a.example/notes.txt#top.pdf", "txt"),
        ("http://a.example/a.b/c", "html"),
        ("http://a.example/x.tooolong", "html"),
        ("http://[broken", "html"),
    ],
)
def test_the_type_of_an_address(url: str, ending: str) -> None:
    assert type_of(url) == ending


@pytest.mark.parametrize(
    ("url", "media_type", "ending"),
    [
        ("http://a.example/pdf/2401.00001", "application/pdf", "pdf"),
        ("http://a.example/get.php?id=5", "application/vnd.oasis.opendocument.text", "odt"),
        ("http://a.example/notes.md", "text/plain", "md"),
        ("http://a.example/get.php?id=5", "text/html", "html"),
    ],
)
def test_a_file_has_the_type_that_it_was_sent_with(url: str, media_type: str, ending: str) -> None:
    text = replace(corpus.text(random.Random(1), url), media_type=media_type)
    assert [tag for tag in tags_of(text) if tag.startswith("type:")] == [f"type:{ending}"]


@pytest.mark.parametrize("seed", range(20))
def test_a_range_of_dates_matches_its_days_and_no_others(seed: int) -> None:
    rng = random.Random(seed)
    first = date(2020, 1, 1) + timedelta(rng.randrange(900))
    last = first + timedelta(rng.randrange(1200))
    tags = set(date_tags(first, last))
    assert len(tags) < 100
    for number in range(-3, (last - first).days + 4):
        day = first + timedelta(number)
        borne = {f"date:{day.year // 10}", f"date:{day:%Y}", f"date:{day:%Y-%m}", f"date:{day:%Y-%m-%d}"}
        assert bool(borne & tags) == (first <= day <= last), day


def test_all_of_time_is_few_tags() -> None:
    assert len(list(date_tags(date.min, date.max))) == 13


@pytest.mark.parametrize("instant", [0.0, -1e18, 1e18, float("inf"), float("nan")])
def test_an_impossible_date_is_none(instant: float) -> None:
    text = replace(corpus.text(random.Random(1), "http://a.example/"), published_at=instant)
    assert not [tag for tag in tags_of(text) if tag.startswith("date:")]


def test_a_document_bears_its_tags_and_no_others() -> None:
    texts = corpus.web(random.Random(2), 40)
    every = {tag for text in texts for tag in tags_of(text)}
    assert {tag.partition(":")[0] for tag in every} == {
        "title", "url", "type", "port", "folder", "date", "character", "image"
    }  # fmt: skip
    for text in texts:
        assert {tag for tag in every if bears(text, tag)} == set(tags_of(text))


@pytest.mark.parametrize(
    ("published", "modified", "date"),
    [
        (0.0, 0.0, 0.0),
        (1e9, 0.0, 1e9),
        (1e9, 1.2e9, 1.2e9),
        (1e9, 4e9, 1e9),
        (4e9, 0.0, 0.0),
        (float("nan"), float("inf"), 0.0),
        (-5.0, 0.0, 0.0),
    ],
)
def test_the_last_change_counts_and_no_date_after_the_fetch(published: float, modified: float, date: float) -> None:
    text = replace(corpus.text(Random(1), "http://a.test/"), fetched_at=1.7e9)
    assert date_of(replace(text, published_at=published, modified_at=modified)) == date


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
    assert found_by(texts, query) >= {body for body in bodies if "茶" in body}
    assert "喝咖啡" not in found_by(texts, "茶")
    assert all("茶" not in body for body in found_by(texts, "喝 很 -茶"))


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
    for code in (*range(0x4E00, 0x9FFF, 47), *range(0xAC00, 0xD7A3, 71)):
        if unicodedata.category(chr(code)) != "Cn":
            found = parse_query(chr(code))
            assert [f"character:{each}" for each in characters_in(chr(code))] == [_tag(found.root)]


def _tag(node: object) -> str:
    return next(child.tag for child in node.children if hasattr(child, "tag"))  # type: ignore[attr-defined]


def found_by(texts: list[Text], query: str) -> set[str]:
    return {text.body for text in SearchOracle(texts).search(query).matches}


def _page(number: int, body: str) -> Text:
    made = corpus.text(random.Random(number), f"http://n{number}.test/a")
    return replace(made, title="", headings=(), body=body, boilerplate="")
