from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.politeness.robots import parse_robots


def allows(text: str, path: str, agent: str = "dse-node") -> bool:
    return parse_robots(text.encode(), agent).allows("http://a.test" + path)


def test_our_group_stands_before_everybodys() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: DSE-Node\nDisallow: /private\n"
    assert allows(text, "/page")
    assert not allows(text, "/private/x")
    assert not allows(text, "/page", agent="other-bot")


def test_the_whole_product_token_counts() -> None:
    assert allows("User-agent: dse\nDisallow: /\n", "/x")
    assert allows("User-agent: node\nDisallow: /\n", "/x")
    assert not allows("User-agent: dse-node/2.0 (experimental)\nDisallow: /\n", "/x")


def test_groups_share_rules_and_repeat() -> None:
    text = "User-agent: a\nUser-agent: dse-node\nDisallow: /one\n\nUser-agent: dse-node\nDisallow: /two\n"
    assert not allows(text, "/one")
    assert not allows(text, "/two")
    assert allows(text, "/three")


def test_longest_match_wins_and_wildcards_work() -> None:
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.cgi$\n"
    assert allows(text, "/a/b/c")
    assert not allows(text, "/a/c")
    assert not allows(text, "/run.cgi")
    assert allows(text, "/run.cgi?x")


def test_delay_and_sitemaps() -> None:
    text = b"Sitemap: http://a.test/s.xml\nUser-agent: *\nCrawl-delay: 7\nRequest-rate: 1/9\n"
    robots = parse_robots(text, "dse-node")
    assert robots.crawl_delay_s == 9.0
    assert robots.sitemaps == ("http://a.test/s.xml",)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300) | st.text("User-agent: *\nDisallow/$%#\r\x00é", max_size=200).map(str.encode))
def test_rubbish_never_fails(body: bytes) -> None:
    robots = parse_robots(body, "dse-node")
    robots.allows("http://a.test/x?y")
    assert robots.crawl_delay_s >= 0
