import pytest

from crawl.frontier.admission import refuse_url

NOW = 1_795_000_000.0  # November 2026


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/2026/11/21/news.html",
        "http://a.test/archive/1998/03/",
        "http://a.test/wiki/2001",
        "http://a.test/item/9999",
        "http://a.test/9999/",
        "http://a.test/a/b/c/d/e/f/g/h/i.html?x=1&y=2",
        "http://a.test/docs/docs/docs/x",
    ],
)
def test_pages_that_people_read_pass(url: str) -> None:
    assert refuse_url(url, NOW) == ""


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://a.test/calendar/2031/05/", "calendar"),
        ("http://a.test/calendar/1905-05/", "calendar"),
        ("http://a.test/cal?year=2099&m=3", "calendar"),
        ("http://a.test/cal?date=2099-03-01", "calendar"),
        ("http://a.test/a/b/a/b/a/b/a/b/", "repeats"),
        ("http://a.test/" + "/".join(f"d{n}" for n in range(30)), "deep"),
        ("http://a.test/shop?" + "&".join(f"f{n}=1" for n in range(20)), "parameters"),
        ("http://" + "a." * 20 + "test/", "host name"),
    ],
)
def test_traps_are_refused_with_a_reason(url: str, word: str) -> None:
    assert word in refuse_url(url, NOW)
