from crawl.pipeline.sitemap_state import SitemapListings


def test_the_oldest_lists_give_way() -> None:
    listed = SitemapListings(5)
    for name, count in (("a", 2), ("b", 2), ("a", 3), ("c", 2)):
        listed.add(name, [f"{name}{n}" for n in range(count)])
    assert [len(listed.find(name)) for name in "abc"] == [3, 0, 2]
    listed.add("d", ["x"] * 6)
    assert [len(listed.find(name)) for name in "abcd"] == [0, 0, 0, 0]
