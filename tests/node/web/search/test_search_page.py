"""What the page's script asks for: results that came first, then all of the very same search."""

import re
from html import unescape
from typing import Any


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
