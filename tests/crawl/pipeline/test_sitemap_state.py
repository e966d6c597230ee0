from crawl.pipeline.sitemap_state import SiteFeeds, SitemapListings


def test_each_feed_of_a_site_is_news_once_and_their_number_is_bounded() -> None:
    feeds = SiteFeeds(per_site=2, sites=1)
    assert feeds.news("a.test", ["http://a.test/f", "http://b.test/f", "http://a.test/f"]) == ["http://a.test/f"]
    assert feeds.news("a.test", ["http://a.test/f", "http://a.test/2", "http://a.test/3"]) == ["http://a.test/2"]
    assert feeds.news("a.test", ["http://a.test/3"]) == []
    assert feeds.news("c.test", []) == []
    assert feeds.news("b.test", ["http://b.test/f"]) == ["http://b.test/f"]
    assert feeds.news("a.test", ["http://a.test/f"]) == ["http://a.test/f"], "forgotten for another site"


def test_the_oldest_lists_give_way() -> None:
    listed = SitemapListings(5)
    for name, count in (("a", 2), ("b", 2), ("a", 3), ("c", 2)):
        listed.add(name, [f"{name}{n}" for n in range(count)])
    assert [len(listed.find(name)) for name in "abc"] == [3, 0, 2]
    listed.add("d", ["x"] * 6)
    assert [len(listed.find(name)) for name in "abcd"] == [0, 0, 0, 0]
