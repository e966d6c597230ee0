from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.politeness.robots import parse_robots


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
