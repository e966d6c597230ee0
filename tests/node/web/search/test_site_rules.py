"""Which sites a reader wants higher, lower or not at all, as lists and cookies say it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.web.search.site_rules import (
    MAX_COOKIE_CHARS,
    SITE_RULES,
    BadSiteRule,
    SiteRules,
    cookie_of,
    ordered,
    read_cookie,
    read_rules,
    written,
)


def results(*hosts: str) -> list[dict[str, object]]:
    return [{"url": f"http://{host}:8080/{place}"} for place, host in enumerate(hosts)]


def places(rules: str, *hosts: str, is_by_date: bool = False) -> list[int]:
    found = ordered(results(*hosts), read_rules(rules), is_by_date).results
    return [int(str(each["url"]).rpartition("/")[2]) for each in found]


def test_raised_sites_move_up_by_places_lowered_ones_down_and_blocked_ones_go() -> None:
    assert places("raise r.test", *"aaaaa", "r.test", "r.test") == [0, 5, 6, 1, 2, 3, 4]
    assert places("lower a.test", "a.test", *"bbbbbb") == [1, 2, 3, 0, 4, 5, 6]
    assert places("block a.test", "a.test", "b", "www.a.test", "ba.test") == [1, 3]
    assert places("block a.test\nraise www.a.test", "a.test", "b", "www.a.test") == [2, 1], "the nearest rule counts"
    assert places("raise r.test\nblock a", "a", "b", "r.test", is_by_date=True) == [1, 2], "dates stay in order"
    assert ordered(results("a", "b", "a"), read_rules("block a\nlower b"), False).touched == {
        "raise": 0,
        "lower": 1,
        "block": 2,
    }


HOSTS = st.sampled_from(["a.test", "www.a.test", "b.test", "c.org", "org"])
RULES = st.dictionaries(HOSTS, st.sampled_from(SITE_RULES)).map(SiteRules)


@given(RULES, st.lists(HOSTS, max_size=100))
def test_nothing_is_lost_but_what_is_blocked_and_sites_of_one_rule_keep_their_order(
    rules: SiteRules, hosts: list[str]
) -> None:
    found = [str(each["url"]) for each in ordered(results(*hosts), rules, False).results]
    kept = [str(each["url"]) for each, host in zip(results(*hosts), hosts, strict=True) if rules.of(host) != "block"]
    assert sorted(found) == sorted(kept)
    for rule in ("raise", "lower", None):
        alike = [url for url in kept if rules.of(url.split("/")[2].partition(":")[0]) == rule]
        assert [url for url in found if url in alike] == alike


@given(RULES)
def test_rules_are_read_as_they_were_written(rules: SiteRules) -> None:
    assert read_cookie(cookie_of(rules)) == rules == read_rules(written(rules))


def test_lists_of_other_programs_are_read() -> None:
    text = "# mine\n*://*.spam.test/*\n! theirs\n$boost=3,site=good.test\n$downrank,site=dull.test\n\n"
    text += "block http://münchen.de/x # no"
    assert written(read_rules(text)) == ("lower dull.test\nraise good.test\nblock spam.test\nblock xn--mnchen-3ya.de\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "raise a.test\nboost b.test",
            "line 2: 'boost b.test' is no rule; write block example.org, or raise, or lower",
        ),
        ("block", "line 1: '' is no host, like example.org"),
        ("block a b", "line 1: 'a b' is no host, like example.org"),
        ("block [::1]", "line 1: '[::1]' is no host, like example.org"),
        ("x" * 300_000, "line 1: the list has 300000 characters, at most 262144 are read"),
    ],
)
def test_a_list_that_cannot_be_read_is_told_where_and_why(text: str, told: str) -> None:
    with pytest.raises(BadSiteRule) as raised:
        read_rules(text)
    assert str(raised.value) == told


@given(st.text(max_size=200) | st.text("+-!|a.", max_size=20))
def test_no_cookie_is_too_odd(text: str) -> None:
    assert all(host == host.lower() for host in read_cookie(text).hosts)


def test_a_cookie_is_read_as_far_as_browsers_keep_one() -> None:
    assert len(read_cookie("|".join(f"!{n}.test" for n in range(10_000))).hosts) < MAX_COOKIE_CHARS / 7
