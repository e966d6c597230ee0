"""The rules in force are those of the strategy in force, also where two have one version."""

from typing import Any

from dht import Rule, Strategy
from node.crawling.fetch_rules import StrategyPolicy


def strategy(**fields: Any) -> Strategy:
    return Strategy(network="00", version=7, effective_at=0, expires_at=1 << 40, next_at=1 << 40, **fields)


def test_a_fork_of_the_same_version_brings_its_own_rules() -> None:
    in_force = strategy()
    policy = StrategyPolicy(lambda: in_force)
    assert policy.decide("http://a.test/").allowed
    in_force = strategy(rules=(Rule(action="deny", host="a.test"),))
    decision = policy.decide("http://a.test/")
    assert not decision.allowed and decision.reason == "rule 1 of strategy 7"
    assert policy.decide("http://b.test/").allowed


def test_caps_reach_the_crawler() -> None:
    peer = "ab" * 20
    rules = (Rule(action="prefer", host="a.test", peer=peer, max_depth=2, min_delay_s=90.0),)
    policy = StrategyPolicy(lambda: strategy(rules=rules, min_delay_s=2.0, max_delay_s=30.0))
    said = policy.decide("http://a.test/")
    assert (said.max_depth, said.min_delay_s, said.max_delay_s) == (2, 90.0, 90.0)
    assert said.preferred is not None and said.preferred.hex() == peer
    other = policy.decide("http://b.test/")
    assert (other.max_depth, other.min_delay_s, other.max_delay_s, other.preferred) == (None, 2.0, 30.0, None)


def test_what_depends_on_the_url_is_not_said_of_its_host() -> None:
    rules = (Rule(action="deny", host="a.test", pattern="/private/"), Rule(action="deny", host="b.test"))
    policy = StrategyPolicy(lambda: strategy(rules=rules))
    for _ in range(2):
        assert not policy.decide("http://a.test/private/").allowed
        assert policy.decide("http://a.test/").allowed
        assert not policy.decide("http://b.test/private/").allowed
        assert policy.decide("http://c.test/private/").allowed
