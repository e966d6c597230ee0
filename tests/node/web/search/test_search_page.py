"""A page of results has its parts and its weight; first results come early, then all of the very same search."""

import re
from html import unescape
from typing import Any

from tests.node.web.browsers import linked

MAX_PAGE_BYTES = 30_000
OWNERS_PART_BYTES = 4_300  # three buttons to each of ten results
WORDS = ["how", "create", "new", "database", "table", "with", "foreign", "keys"]


def titles(body: str) -> list[str]:
    return re.findall(r"<h2.*?<a href.*?>(.*?)</a>", body)


def test_what_came_first_leads_to_the_rest_of_the_same_search(site: Any) -> None:
    site.service.held_back = 1
    first = site.get("/search?q=e&quick=1").text
    rest = re.search(r'data-rest="(.+?)"', first)
    assert rest is not None and 'class="notice late"' in first
    address = unescape(rest[1])
    whole = site.get(address).text
    assert titles(whole)[1:] == titles(first) and len(titles(whole)) == 3 and "data-rest" not in whole
    assert len(site.service.asked) == 1, "both are answers to one question"
    assert titles(site.get(address).text) == titles(whole) and len(site.service.asked) == 2, "later it is asked anew"


def test_a_token_shows_no_other_question(site: Any) -> None:
    site.service.held_back = 1
    rest = re.search(r"later=([\w-]+)", site.get("/search?q=e&quick=1").text)
    assert rest is not None
    site.service.held_back = 0
    assert len(titles(site.get(f"/search?q=task&later={rest[1]}").text)) == 2
    assert [each.text for each in site.service.asked] == ["e", "task"]


def test_who_does_not_ask_for_it_waits_for_the_whole_answer(site: Any) -> None:
    site.service.held_back = 1
    assert len(titles(site.get("/search?q=e").text)) == 3 and site.service.asked[0].first_ms == 0


def full_page(site: Any) -> str:
    """A page of ten results, each with all that it may show, for a question of many words."""
    leaf = {"df": 1200, "idf": 1.826, "tf": {"title": 1, "headings": 2, "body": 100}, "score": 1.75}
    explained = {
        "score": 3.5,
        "bm25": 1.75,
        "rewards": 0.25,
        "proximity": 2.0,
        "documents": 120_000,
        "length": 1953.0,
        "average_length": 671.1,
        "weights": {"title": 4, "headings": 3, "body": 1},
        "leaves": [{**leaf, "leaf": word} for word in WORDS],
    }
    snippet = "It tells how to create a new table of a database with keys. " * 5
    site.service.hits = [
        {
            "url": f"http://documentation.of.a-large-site.test:8800/a/folder/page-{number}.html",
            "title": "Creating tables with foreign keys: the manual of a database " * 4,
            "snippet": snippet[:300],
            "highlights": [[60 * n + 15, 60 * n + 21] for n in range(5)],
            "language": ("en", "ar")[number % 2],
            "date": 1.7e9 if number else 0.0,
            "fetched_at": 1.79e9,
            "replicas": 3,
            "site_more": 4,
            "similar": ["http://mirror.a-large-site.test/a/folder/page.html"],
            "similar_count": 1,
            "explain": explained,
        }
        for number in range(10)
    ]
    return str(site.get(f"/search?q={'+'.join(WORDS)}", Accept_Language="en").text)


def test_a_full_page_of_results_weighs_little(site: Any) -> None:
    assert len(full_page(site).encode()) <= MAX_PAGE_BYTES


def test_the_owners_buttons_to_delete_results_weigh_little(site: Any, token: str) -> None:
    readers = len(full_page(site).encode())
    page = linked(site, token).get(f"/search?q={'+'.join(WORDS)}", Accept_Language="en").text
    assert page.count('form="delete"') == 30
    assert len(page.encode()) <= readers + OWNERS_PART_BYTES


def test_one_row_stands_above_the_results_and_each_has_one_menu_and_a_date(site: Any) -> None:
    page = full_page(site)
    assert page.count('class="bar"') == 1
    between = page[page.index("</details>\n</div>") : page.index('<ol class="results">')]
    assert re.sub(r"<form.*?</form>|</?(?:div|details)>", "", between).strip() == "", "nothing else is above them"
    results = page.split('<ol class="results">')[1].split("</ol>")[0].split("<li lang=")[1:]
    assert [each.count("<summary") for each in results] == [1] * 10
    assert [len(re.findall(r"<time.*?>(?:crawled )?20\d\d-\d\d-\d\d</time>", each)) for each in results] == [1] * 10
    assert ">crawled 2026-" in results[0] and "<time>2023-11-14</time>" in results[1]


def test_a_language_is_named_where_it_is_another_than_the_readers_and_gives_the_direction(site: Any) -> None:
    page = full_page(site)
    assert page.count('<li lang="ar" dir="rtl">') == page.count('<span class="tag">ar</span>') == 5
    assert '<li lang="en" dir="ltr">' in page and '<span class="tag">en</span>' not in page
    assert 'class="panel" lang="en" dir="ltr"' in page, "what this page says itself stays as it is"


def test_a_long_title_is_cut_between_words(site: Any) -> None:
    assert re.search(r">Creating tables [A-Za-z: ]+ \w+…</a></h2>", full_page(site))
