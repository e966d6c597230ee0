from crawl.lists.sitemap import Sitemap, parse_sitemap

HERE = "http://a.test/sitemap.xml"


def test_pages_of_the_site_are_listed_once() -> None:
    body = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc> http://a.test/1?a=1&amp;b=2 </loc><lastmod>2026</lastmod></url><url><loc>http://a.test/2#x</loc></url>
    <url><loc>http://b.test/3</loc></url><url><loc>http://a.test/2</loc></url></urlset>"""
    sitemap = parse_sitemap(body, HERE, 10)
    assert sitemap.pages == ("http://a.test/1?a=1&b=2", "http://a.test/2")
    assert sitemap.elsewhere == ("http://b.test/3",)
    assert len(parse_sitemap(body, HERE, 1).pages) == 1


def test_the_addresses_of_images_are_not_those_of_pages() -> None:
    body = b"""<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>http://a.test/1</loc>
    <image:image><image:loc>http://a.test/1.png</image:loc></image:image></url></urlset>"""
    assert parse_sitemap(body, HERE, 10).pages == ("http://a.test/1",)


def test_an_index_lists_sitemaps_and_a_text_file_pages() -> None:
    index = b"<sitemapindex><sitemap><loc>http://a.test/s1.xml</loc></sitemap></sitemapindex>"
    assert parse_sitemap(index, HERE, 10) == Sitemap((), ("http://a.test/s1.xml",))
    for end, charset in (("\r\n\n", "utf-8"), ("\r\n", "utf-8-sig"), ("\r", "utf-8"), ("\n", "utf-16")):
        text = f"http://a.test/1{end}http://a.test/2{end}".encode(charset)
        assert parse_sitemap(text, HERE, 10).pages == ("http://a.test/1", "http://a.test/2")


def test_entities_are_never_expanded() -> None:
    body = b"""<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
    <urlset><url><loc>http://a.test/&b;</loc></url></urlset>"""
    assert parse_sitemap(body, HERE, 10).pages == ()
