"""Dates from sitemaps: believed when they have proved right, and used then."""

from random import Random

import pytest

from crawl.lists.sitemap import parse_sitemap, parse_w3c_date
from crawl.schedule.lastmod import PROVEN_TESTS, Lastmods

DAY_S = 86_400.0
SITE, NOW = "a.test", 1_700_000_000.0


def url(page: int) -> str:
    return f"http://{SITE}/{page}"


def looked(truthful: float, seed: int = 1) -> Lastmods:
    """Dates after 40 looks at pages of which half have changed; the site tells so in a share of the cases."""
    rng, lastmods = Random(seed), Lastmods(1_000)
    for page in range(40):
        changed = rng.random() < 0.5
        says = changed if rng.random() < truthful else not changed
        lastmods.learn(SITE, {url(page): NOW + 5 if says else NOW - 5}, NOW + 95)
        lastmods.check(SITE, url(page), NOW, NOW + 100, changed=changed)
    return lastmods


def test_a_site_is_believed_only_once_it_was_right_nearly_always() -> None:
    assert looked(1.0).is_trusted(SITE)
    assert not looked(0.6).is_trusted(SITE)
    assert not Lastmods(10).is_trusted(SITE)
    lastmods = looked(1.0)
    for page in range(PROVEN_TESTS):  # it stops telling the truth
        lastmods.learn(SITE, {url(page): NOW - 5}, NOW + 95)
        lastmods.check(SITE, url(page), NOW, NOW + 100, changed=True)
    assert not lastmods.is_trusted(SITE)


def test_what_a_trusted_site_says_is_used_as_far_as_it_goes() -> None:
    lastmods = looked(1.0)
    lastmods.learn(SITE, {url(100): NOW - 5, url(101): NOW + 50}, NOW + 1_000)
    assert lastmods.unchanged_until(SITE, url(100), NOW) == NOW + 1_000
    assert not lastmods.unchanged_until(SITE, url(100), NOW + 2_000)  # seen since the dates were read
    assert not lastmods.unchanged_until(SITE, url(101), NOW) and lastmods.changed(SITE, url(101), NOW)
    assert not lastmods.unchanged_until(SITE, url(999), NOW) and not lastmods.changed(SITE, url(999), NOW)
    liar = looked(0.0)
    assert not liar.unchanged_until(SITE, url(1), NOW) and not liar.changed(SITE, url(1), NOW - 100)


def test_a_change_after_the_dates_were_read_is_not_held_against_them() -> None:
    lastmods = Lastmods(10)
    lastmods.learn(SITE, {url(1): NOW - 5}, NOW + 10)
    for _ in range(20):
        lastmods.check(SITE, url(1), NOW, NOW + DAY_S, changed=True)
        lastmods.check(SITE, url(1), NOW, NOW + 10, changed=False)
    assert lastmods.is_trusted(SITE)


def test_memory_is_bounded_and_the_future_is_no_date() -> None:
    lastmods = looked(1.0)
    lastmods.learn(SITE, {url(5): NOW + 30 * DAY_S}, NOW)
    assert not lastmods.changed(SITE, url(5), NOW + 10)
    for site in range(100):
        lastmods.learn(f"{site}.test", {f"http://{site}.test/{n}": NOW for n in range(100)}, NOW)
    assert not lastmods.is_trusted(SITE)
    assert lastmods._kept <= 1_000
    for site in range(50):
        lastmods.learn(f"future{site}.test", {f"http://future{site}.test/": NOW + 30 * DAY_S}, NOW)
    assert not [site for site in lastmods._sites if site.startswith("future")], "a site without dates takes no room"


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-21", 1795305599.999999),
        ("2026-11-21T10:00:00Z", 1795255200.0),
        ("2026-11-21T10:00:00.5+02:00", 1795248000.5),
        ("2026-11-21T10:00:00", None),
        ("2026", None),
        ("yesterday", None),
        ("9999-99-99", None),
    ],
)
def test_dates_are_read_so_that_no_change_is_missed(text: str, instant: float | None) -> None:
    assert parse_w3c_date(text) == instant


def test_a_sitemap_gives_its_dates_wherever_they_stand_in_an_entry() -> None:
    body = b"""<urlset><url><lastmod>2026-11-21T10:00:00Z</lastmod><loc>/1</loc></url>
    <url><loc>/2</loc></url><url><loc>/3</loc><lastmod> 2026-11-21T10:00:01Z </lastmod></url>
    <url><loc>http://b.test/4</loc><lastmod>2026-11-21T10:00:01Z</lastmod></url></urlset>"""
    found = parse_sitemap(body, f"http://{SITE}/sitemap.xml", 10)
    assert found.pages == (url(1), url(2), url(3))
    assert found.changed_at == {url(1): 1795255200.0, url(3): 1795255201.0}
