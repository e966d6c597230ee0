"""Rules: the first match decides, and patterns are linear-time."""

import pytest

from dht import BadStrategy, Rule, Strategy, placement_key, slot_of
from dht.strategy.crawl_rules import CrawlRules, Pattern, host_matches


def rules(*given: Rule, min_delay_s: float = 1.0) -> CrawlRules:
    return CrawlRules(
        Strategy(network="", version=1, effective_at=0, expires_at=1, next_at=1, rules=given, min_delay_s=min_delay_s)
    )


def test_nothing_matching_leaves_a_url_to_its_owners():
    decision = rules(Rule(action="deny", host="bad.example")).decide("http://good.example/")
    assert (decision.action, decision.rule, decision.max_depth, decision.min_delay_s) == ("owners", 0, None, 1.0)


def test_the_first_match_wins_even_if_a_later_one_denies():
    decided = rules(
        Rule(host="a.example", pattern="/public/", max_depth=3, min_delay_s=5.0),
        Rule(action="deny", host="a.example"),
    )
    assert decided.decide("https://a.example/public/x").rule == 1
    assert decided.decide("https://a.example/public/x").max_depth == 3
    assert decided.decide("https://a.example/public/x").min_delay_s == 5.0
    assert decided.decide("https://a.example/private").action == "deny"


def test_rules_by_address_decide_no_url_and_keep_their_numbers():
    decided = rules(Rule(action="never", prefixes=("10.0.0.0/8",)), Rule(action="deny", host="a.example"))
    assert (decided.decide("http://a.example/").action, decided.decide("http://a.example/").rule) == ("deny", 2)
    assert decided.decide_host("b.example").rule == 0


def test_a_rule_cannot_go_below_the_politeness_floor():
    assert rules(Rule(min_delay_s=0.1), min_delay_s=2.0).decide("http://a.example/").min_delay_s == 2.0


def test_a_domain_wildcard_covers_the_domain_and_what_is_below_it_only():
    assert host_matches("*.edu.cn", "edu.cn")
    assert host_matches("*.edu.cn", "www.ustc.edu.cn")
    assert not host_matches("*.edu.cn", "notedu.cn")
    assert not host_matches("edu.cn", "www.edu.cn")


def test_a_slot_range_is_inclusive():
    url = "http://a.example/page"
    slot = slot_of(placement_key(url), 8)
    assert rules(Rule(action="deny", slots=(slot, slot))).decide(url).action == "deny"
    assert rules(Rule(action="deny", slots=((slot + 1) % 256, (slot + 1) % 256))).decide(url).action == "owners"


def test_a_pattern_that_stalls_backtracking_engines_is_answered_at_once():
    assert not Pattern("(a|a)*b$").found_in("a" * 100_000)


@pytest.mark.parametrize("text", ["(", "a**", "(?<=x)y", "(a)\\1", "((a{1000}){1000})"])
def test_what_is_no_re2_pattern_is_refused_with_its_text(text: str):
    with pytest.raises(BadStrategy) as refused:
        Pattern(text)
    assert repr(text) in str(refused.value)


def test_a_host_is_decided_at_once_where_no_rule_looks_at_more_of_its_urls():
    decided = rules(
        Rule(host="a.example", pattern="/public/", max_depth=3),
        Rule(action="deny", host="*.example"),
        Rule(action="deny", host="c.test", slots=(0, 3)),
    )
    assert decided.decide_host("a.example") is None
    assert decided.decide_host("c.test") is None
    for host in ("b.example", "b.test"):
        whole = decided.decide_host(host)
        assert whole is not None
        assert whole == decided.decide(f"http://{host}/public/") == decided.decide(f"http://{host}/")
