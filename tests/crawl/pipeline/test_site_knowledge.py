"""Sitemaps to be fetched and feeds handed over: each is bounded, and the oldest gives way."""

from crawl.frontier.admission import Trail
from crawl.pipeline.site_knowledge import SiteFeeds, SitemapQueue


def test_each_feed_of_a_site_is_news_once_and_their_number_is_bounded() -> None:
    feeds = SiteFeeds(per_site=2, sites=1)
    assert feeds.take_new("a.test", ["http://a.test/f", "http://b.test/f", "http://a.test/f"]) == ["http://a.test/f"]
    assert feeds.take_new("a.test", ["http://a.test/f", "http://a.test/2", "http://a.test/3"]) == ["http://a.test/2"]
    assert feeds.take_new("a.test", ["http://a.test/3"]) == []
    assert feeds.take_new("c.test", []) == []
    assert feeds.take_new("b.test", ["http://b.test/f"]) == ["http://b.test/f"]
    assert feeds.take_new("a.test", ["http://a.test/f"]) == ["http://a.test/f"], "forgotten for another site"


def test_the_queue_is_bounded() -> None:
    queue, here, there = SitemapQueue(per_site=2, sites=1), Trail(3, 0, "a.test"), Trail(1, 0, "")
    queue.start("a.test", ["http://a.test/1", "http://a.test/1"], here)
    assert queue.take("a.test") == ("http://a.test/1", here)
    queue.add("a.test", ["http://a.test/1", "http://a.test/2", "http://a.test/3"])
    assert queue.take("a.test") == ("http://a.test/2", here)
    assert queue.take("a.test") is None
    queue.start("b.test", ["http://b.test/1"], Trail(0, 0, ""))
    assert queue.take("b.test") is None
    queue.start("b.test", ["http://b.test/1"], there)
    assert queue.take("a.test") is None
    assert queue.take("b.test") == ("http://b.test/1", there)
