"""One host of the sample web: what its settings do to its answers, with the time as an argument."""

import re
from pathlib import Path

import pytest

from node.extras.demo.sample_reply import CacheBudget, SampleReply
from node.extras.demo.sample_settings import BadSite, parse_settings
from node.extras.demo.sample_site import SampleSite, Times

CLIENT = ("127.0.0.1", "test")
HOUR_S = 3600.0
PAGE = '<html><head><meta charset="utf-8"><title>T</title></head><body><p>中文 &amp; words {}</p>{}</body></html>'


def make_site(root: Path, settings: str, count: int = 40, seed: str = "1") -> SampleSite:
    """A host of `count` pages that link to each other in a ring; page 0 is the index."""
    folder = root / "a.test"
    folder.mkdir(exist_ok=True)
    (folder / "_site.toml").write_text(settings)
    for n in range(count):
        link = f'<a href="p{(n + 1) % count}.html">next</a> <a href="http://b.test:8800/">b</a>'
        (folder / ("index.html" if n == 0 else f"p{n}.html")).write_text(PAGE.format("word " * n, link))
    site = SampleSite("a.test", root, Times(1000.0, 10.0), seed, CacheBudget(1 << 20))
    site.port = 9999
    return site


def get(site: SampleSite, path: str, now: float = 0.0) -> SampleReply:
    return site.answer(path, {}, CLIENT, now)


def body(made: SampleReply) -> str:
    return made.bodies[""].decode()


def test_plain_page_has_the_real_port_and_stable_validators(tmp_path: Path) -> None:
    """Links lead to the real port; the same page is remembered and the same for another seed."""
    site = make_site(tmp_path, "")
    first = get(site, "/p1.html")
    assert 'href="http://b.test:9999/"' in body(first) and get(site, "/p1.html") is first
    assert get(make_site(tmp_path, "", seed="2"), "/p1.html").headers == first.headers
    assert get(site, "/").status == 200 and get(site, "/_site.toml").status == 404
    assert get(site, "/p1.html/").status == 404 and get(site, "/../a.test/p1.html").status == 404


@pytest.mark.parametrize(
    ("settings", "label", "code"),
    [
        ('charset = "gbk"', "text/html; charset=gbk", "gbk"),
        ('charset = "gb18030"\ncharset_header = ""', "text/html", "gb18030"),
        ('charset = "big5"\ncharset_header = "utf-8"', "text/html; charset=utf-8", "big5"),
    ],
)
def test_charsets_and_lies_about_them(tmp_path: Path, settings: str, label: str, code: str) -> None:
    """The body and its meta tag have the charset; the header says what it is told to."""
    made = get(make_site(tmp_path, settings), "/p1.html")
    assert made.headers["Content-Type"] == label
    assert "中文" in made.bodies[""].decode(code) and f'charset="{code}"' in made.bodies[""].decode(code)


def test_pages_change_by_their_clock_only(tmp_path: Path) -> None:
    """With churn, a page's ETag and date change exactly at its times; half of the pages never change."""
    site = make_site(tmp_path, "churn_per_hour = 4.0\nchurn_share = 0.5")
    moving = [path for path in site.pages if site.clock(path).changes(24 * HOUR_S)]
    assert 8 <= len(moving) <= 32
    for path in moving:
        at = site.clock(path).changes(24 * HOUR_S)[0]
        before, after = get(site, path, at - 0.01), get(site, path, at)
        assert before.headers["ETag"] == get(site, path, 0).headers["ETag"] != after.headers["ETag"]
        assert after.mtime == int(1000 + at / 10)
    again = make_site(tmp_path, "churn_per_hour = 4.0\nchurn_share = 0.5")
    assert [again.clock(p).changes(HOUR_S) for p in moving] == [site.clock(p).changes(HOUR_S) for p in moving]


def test_pages_vanish(tmp_path: Path) -> None:
    """Some pages are gone after their time, with the status that is set; the front page stays."""
    site = make_site(tmp_path, "vanish_per_hour = 1.0\nvanish_share = 0.5\nvanish_status = 410")
    statuses = [get(site, path, 100 * HOUR_S).status for path in site.pages]
    assert set(statuses) == {200, 410} and all(get(site, path).status == 200 for path in site.pages)
    assert get(site, "/", 100 * HOUR_S).status == 200


def test_errors_rates_and_sessions(tmp_path: Path) -> None:
    """A share of requests fails; a client that is too fast gets 429; links carry a session id."""
    failing = make_site(tmp_path, "error_rate = 0.5\nerror_status = [503]\nretry_after = 7")
    replies = [get(failing, "/p1.html") for _ in range(200)]
    assert 60 <= sum(made.status == 503 for made in replies) <= 140
    assert {made.headers["Retry-After"] for made in replies if made.status == 503} == {"7"}
    assert all(get(failing, "/robots.txt").status == 200 for _ in range(20))
    fast = make_site(tmp_path, "rate_limit = 5.0")
    assert [get(fast, "/p1.html").status for _ in range(8)].count(429) == 3
    sessions = make_site(tmp_path, "session_ids = true")
    assert re.search(r'href="p2\.html\?sid=[0-9a-f]{8}"', body(get(sessions, "/p1.html")))


def test_what_settings_add_to_pages(tmp_path: Path) -> None:
    """Canonical links, noindex, entrances to traps, dead links, feeds and sitemaps."""
    site = make_site(
        tmp_path,
        'canonical = "c.test:8800"\nnoindex_share = 0.5\ntraps = ["calendar", "login"]\ndead_links = 2\n'
        'feed = true\nsitemap = true\nnofollow_links = ["/x"]\nredirects = [["/old/*", "/*", 301]]',
    )
    raw = body(get(site, "/p1.html"))
    assert '<link rel="canonical" href="http://c.test:9999/p1.html">' in raw and '<a rel="nofollow" href="/x">' in raw
    assert raw.count('"/gone/') == 2 and 'href="/calendar/2026/11/"' in raw and 'href="/feed.xml"' in raw
    assert 8 <= sum("noindex" in body(get(site, path)) for path in site.pages) <= 32
    assert body(get(site, "/sitemap.xml")).count("<loc>http://a.test:9999/") == 40
    assert body(get(site, "/feed.xml")).count("<item>") == 20
    assert get(site, "/old/p1.html").headers["Location"] == "/p1.html"
    assert get(site, "/calendar/2026/11/").status == 200 and get(site, "/shop?page=1").status == 404
    assert get(site, "/account/").headers["Location"] == "/login?next=/account"


def test_settings_are_checked() -> None:
    """Unknown keys, wrong types and unknown traps are refused, with their place."""
    for text in ("tarps = []", 'rate_limit = "fast"', 'traps = ["tar pit"]', "= 3"):
        with pytest.raises(BadSite, match=r"^here/_site\.toml: "):
            parse_settings(text, "here/_site.toml")


def test_links_between_hosts_lead_to_the_port_that_serves_them(tmp_path: Path) -> None:
    for host in ("a.test", "b.example"):
        (tmp_path / host).mkdir()
    links = [b"http://b.example/x", b"https://b.example:443/", b"http://b.example:8800/?q", b"http://b.example.org/"]
    (tmp_path / "a.test" / "index.html").write_bytes(b"<body>" + b" ".join(b'<a href="%s">x</a>' % u for u in links))
    site = SampleSite("a.test", tmp_path, Times(1000.0, 10.0), "1", CacheBudget(1 << 20))
    site.port = 9999
    body = site.answer("/", {}, ("127.0.0.1", "test"), 0.0).bodies[""]
    for served in (b'"http://b.example:9999/x"', b'"http://b.example:9999/"', b'"http://b.example:9999/?q"'):
        assert served in body
    assert b'"http://b.example.org/"' in body, "another host's name is left alone"
