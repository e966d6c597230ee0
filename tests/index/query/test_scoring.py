"""Scores: their bounds, and what people expect of an order. `tests/test_search_vectors.py` writes the formula again."""

import random
from array import array
from dataclasses import replace
from itertools import product
from math import prod

import index_corpus as corpus
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.change_feed import Text
from index.query.collection_statistics import Statistics
from index.query.leaf import phrase_of, term_of
from index.query.parser import parse_query
from index.query.scoring import (
    CLOSE_ONE,
    Scorer,
    closeness,
    explain,
    idfs,
    score,
    upper_bound,
)
from index.results.oracle import SearchOracle
from index.text.analyzer import terms
from index.text.field_terms import analyse
from index.text.forward_index import forward_of


def page(title: str = "", body: str = "", url: str = "http://a.example/") -> Text:
    return replace(corpus.text(random.Random(1), url), title=title, headings=(), body=body, site_links=-1)


@pytest.mark.parametrize("seed", range(2))
def test_no_score_is_above_its_bound_and_an_explanation_tells_it(seed: int) -> None:
    texts = corpus.web(random.Random(seed), 30)
    for words in corpus.QUERIES:
        query, sums = parse_query(words), SearchOracle(texts).search(words).statistics
        for text in texts:
            got = score(forward_of(text), query, sums)
            assert got.score == Scorer(query, sums).score(got.numbers) == explain(query, got, sums)["score"]
            assert got.score <= upper_bound(query, sums)


def first(texts: list[Text], query: str) -> str:
    return SearchOracle(texts).search(query).hits[0].text.url


def test_a_title_beats_a_mention_and_neighbours_beat_strangers() -> None:
    filler = " ".join(f"word{n}" for n in range(60))
    titled = page("Whale song", filler, "http://a.example/1")
    mentioned = page("Something", f"whale {filler}", "http://a.example/2")
    assert first([mentioned, titled], "whale") == titled.url
    near = page("", f"blue whale {filler}", "http://a.example/3")
    far = page("", f"blue {filler} whale", "http://a.example/4")
    assert first([far, near], "blue whale") == near.url
    assert first([far, near], '"blue whale"') == near.url


def test_a_front_page_stands_before_its_own_pages_for_the_name_of_its_site_only() -> None:
    """For a name the front page comes first, however the others repeat it; for a question it does not."""
    filler = " ".join(f"word{n}" for n in range(60))
    front = page("Welcome", filler, "http://docs.sprocket.test/index.html")
    pages = [
        page(f"Sprocket {n}", f"sprocket docs {filler}", f"http://docs.sprocket.test/a/b/{n}.html") for n in range(5)
    ]
    others = [page(f"Topic {n}", filler, f"http://other{n}.test/") for n in range(20)]
    web = [*pages, front, *others]
    assert first(web, "docs sprocket") == front.url
    assert first(web, "sprocket topic") != front.url, "it asks for more than the site"


def test_a_term_and_the_name_of_a_site_find_the_page_of_that_site() -> None:
    """The page is named by nothing but its address; others say the term more often, or are beside it."""
    filler = " ".join(f"word{n}" for n in range(60))
    meant = page("Gears", f"gears turn each other {filler}", "http://sprocket.test/wiki/gears.html")
    elsewhere = [page(f"Gears {n}", f"gears gears {filler}", f"http://other{n}.test/gears.html") for n in range(9)]
    beside = [page(f"Topic {n}", filler, f"http://sprocket.test/wiki/topic{n}.html") for n in range(9)]
    assert first([*elsewhere, *beside, meant], "gears sprocket") == meant.url


def test_a_page_in_another_script_stands_behind_one_that_says_the_same() -> None:
    """English "database": a Chinese page that has the word in its address and menu is hardly meant."""
    filler = " ".join(f"word{n}" for n in range(60))
    chinese = replace(page("Database", f"database {filler}", "http://a.example/1/database"), language="zh")
    english = replace(page("Database", f"database {filler}", "http://b.example/2"), language="en")
    unknown = replace(english, url="http://c.example/3/database", language="")
    others = [page(f"t{n}", "数据库", f"http://d.example/{n}") for n in range(9)]
    assert first([chinese, english, *others], "database") == english.url
    assert first([replace(chinese, language="en"), english, *others], "database") == chinese.url, (
        "else the address counts"
    )
    assert first([unknown, english, *others], "database") == unknown.url
    german = replace(page("数据库", "数据库", "http://e.example/1"), language="de")
    assert first([german, *(replace(each, body="数据库", title="") for each in others)], "数据库") == german.url, (
        "rare there"
    )
    front = replace(chinese, url="http://database.example/")
    sums = Statistics(20, (20, 0, 40, 900), (11,))
    parts = [
        explain(parse_query("database"), score(forward_of(t), parse_query("database"), sums), sums)
        for t in (chinese, front)
    ]
    assert [part["script"] for part in parts] == [0.85, 1.0], "the name of a site is Latin in most languages"


def test_a_stuffed_page_stands_behind_one_about_its_words() -> None:
    adverts = " ".join(["cheap offers blue whale"] * 40)
    honest = page(
        "Animals", f"a blue whale sings to a blue whale {' '.join(f'word{n}' for n in range(60))}", "http://a.example/1"
    )
    stuffed = page("blue whale", adverts, "http://b.example/2")
    for links in (-1, 0, 9):
        assert first([replace(stuffed, site_links=links), honest], "blue whale") == honest.url


def test_a_title_that_the_text_does_not_support_counts_little_where_few_link_to_the_site() -> None:
    filler = " ".join(f"word{n}" for n in range(60))
    honest = page("Animals", f"a blue whale sings to a blue whale {filler}", "http://a.example/1")
    light = page("blue whale", f"blue whale {filler} blue whale", "http://b.example/2")
    for links, wanted in ((-1, light), (0, honest), (1, honest), (2, light)):
        assert first([replace(light, site_links=links), honest], "blue whale") == wanted.url, links
    headed = replace(light, headings=("blue whale",), site_links=0)
    assert first([headed, honest], "blue whale") == headed.url
    front = replace(light, url="http://blue-whale.example/", site_links=0)
    assert first([front, honest], "blue whale") == front.url, "its site is called so"


def test_words_of_an_address_count_where_it_is_short() -> None:
    filler = " ".join(f"word{n}" for n in range(60))
    named = page("", f"apples {filler}", "http://a.example/fruit/apples.html")
    other = page("", f"apples {filler}", "http://a.example/fruit/item7.html")
    stuffed = page(
        "", f"apples {filler}", "http://a.example/apples-pears-cherries-plums-figs-dates-kiwis-melons-grapes-limes"
    )
    assert first([other, named], "apples pie") == named.url
    rewards = [_rewards(each, "apples pie") for each in (named, other, stuffed)]
    assert rewards[0] > 0 and rewards[1:] == [0, 0]


def _rewards(text: Text, asked: str) -> float:
    query, sums = parse_query(asked), Statistics(100, (0, 0, 400, 5000), (3, 3))
    return float(explain(query, score(forward_of(text), query, sums), sums)["rewards"])


def test_words_that_ask_do_not_decide_what_a_page_is_about() -> None:
    """In both languages a page that has all the asking words and not the subject stands behind one of the subject."""
    filler = [page(f"t{n}", f"学校 河流 transport river {n}", f"http://a.example/f{n}") for n in range(9)]
    about = page("", "操场 位于学校 操场 操场", "http://a.example/1")
    asking = page("", "世界是什么", "http://a.example/2")
    assert first([*filler, asking, about], "操场是什么") == about.url
    subject = page("", "sediment sediment carried by a river", "http://a.example/3")
    papers = page("", "articles concerning the moon and the sun", "http://a.example/4")
    assert first([*filler, papers, subject], "articles concerning sediment") == subject.url


def test_a_host_named_by_a_list_of_words_earns_nothing_by_them() -> None:
    query, sums = parse_query("docs sprocket"), Statistics(100, (0, 0, 400, 5000), (3, 3))
    short = page("", "x", "http://docs.sprocket.test/")
    stuffed = page("", "x", "http://docs.sprocket.flights.hotels.cars.casino.test/")
    rewards = [explain(query, score(forward_of(each), query, sums), sums)["rewards"] for each in (short, stuffed)]
    assert rewards[0] > 0 and rewards[1] == 0


@pytest.mark.parametrize(
    ("url", "is_front"),
    [
        ("http://a.test", True),
        ("http://a.test:8080/", True),
        ("https://a.test/index.htm", True),
        ("https://a.test/index.php", True),
        ("https://a.test/?page=2", False),
        ("https://a.test/index.html/more", False),
        ("https://a.test/en/", False),
        ("http://[/", False),
        ("mailto:a", False),
    ],
)
def test_a_front_page_is_known_by_its_address_and_has_its_hosts_name_for_one(url: str, is_front: bool) -> None:
    found = replace(page(), url=url)
    assert forward_of(found).is_front == is_front
    if is_front:
        assert analyse(found).url == terms("a.test"), "neither the port nor the file's name"


def test_a_word_that_only_the_menu_names_is_found_and_adds_nothing() -> None:
    menu = "Home sqlite downloads support"
    about = replace(page("Pragmas", "how sqlite keeps its pragmas in a file", "http://a.example/1"), boilerplate=menu)
    texts = [replace(page("Trees", "short words", f"http://a.example/{n}"), boilerplate=menu) for n in range(2, 9)]
    found = SearchOracle([*texts, about]).search("sqlite")
    assert found.total == 8
    assert found.hits[0].text == about and found.hits[0].scored.score > 0
    assert {hit.scored.score for hit in found.hits[1:]} == {0.0}
    near = SearchOracle([*texts, about]).search("sqlite downloads")
    assert near.hits[0].scored.numbers.closeness == 0, "they stand side by side in the menu alone"


def test_a_rare_word_weighs_more_and_one_that_is_nowhere_nothing() -> None:
    often, rarely, never = idfs(Statistics(1000, (0, 0, 0, 0), (900, 3, 0)))
    assert never == 0 < often < rarely


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(0, 60), max_size=8), min_size=2, max_size=4), st.integers(1, 3))
def test_closeness_is_the_nearest_pair(places: list[list[int]], span: int) -> None:
    leaves = [
        term_of("a") if span == 1 else phrase_of(*("a",) * span),
        *(term_of(str(n)) for n in range(len(places) - 1)),
    ]
    arrays = [array("H", sorted(set(found))) for found in places]
    spans = [span] + [1] * (len(places) - 1)
    slow = 0
    for n in range(len(places) - 1):
        gaps = [
            2 if a == b else max(b - a - spans[n] + 1 if a < b else a - b - spans[n + 1] + 1, 1)
            for a in arrays[n]
            for b in arrays[n + 1]
        ]
        slow += CLOSE_ONE // min(gaps) if gaps and min(gaps) <= 16 else 0
    assert closeness(leaves, arrays) == slow // (len(places) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_no_document_that_lacks_what_is_needed_reaches_the_least(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        query = parse_query(" ".join(rng.sample(["ash", "birch", "cedar", "elm", "larch", "maple", "oak"], 2 + seed)))
        df = tuple(rng.randint(1, 900) for _ in query.leaves)
        scorer, least = Scorer(query, Statistics(1000, (9, 9, 9, 9000), df)), rng.uniform(0.3, 1.3)
        needed = scorer.needed(least)
        for has in product((False, True), repeat=len(query.leaves)):
            if sum(has) < needed.least_count or not any(has[number] for number in needed.any_of):
                assert prod(scorer.factors(has)) <= needed.others * (1 + 1e-12)
        assert needed.others < least
