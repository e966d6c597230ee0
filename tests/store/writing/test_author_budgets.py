"""The limits of one author: what they allow, and what is counted towards them."""

from math import inf

import pytest
from msgspec.structs import replace

from dht import Identity, NodeId, Now
from store import Record
from store.writing.author_budgets import (
    SLACK,
    LeaseShares,
    SiteRates,
    found_limit,
    is_page,
    pages_an_hour,
    room_limit,
    site_found_limit,
)
from tests.store.support import WALL, draft, records

A, B = (Identity(bytes([n]) * 32).node_id for n in (1, 2))
NOW = Now(WALL, 1000.0)


@pytest.mark.parametrize(
    ("used", "share", "limit"),
    [(0.6, 0.2, 0.4), (0.6, 0.1, 0.2), (0.6, 0.9, 0.5), (0.6, 0.0, 0.0032), (0.3, 0.05, 0.4), (0.3, 0.3, 0.5)],
)
def test_room_follows_leases_and_is_two_fifths_at_least_while_half_is_free(
    used: float, share: float, limit: float
) -> None:
    quota = 20_000_000_000
    assert room_limit(quota, int(used * quota), share) == pytest.approx(limit * quota)


def test_found_urls_of_one_author_and_one_site() -> None:
    assert [found_limit(n) for n in (0, 3, 5, 1000)] == [2_000_000, 666_666, 400_000, 10_000]
    assert [site_found_limit(n) for n in (0, 50)] == [10_000, 10_500]


def test_any_hour_has_what_a_polite_crawler_may_have_twice_and_100() -> None:
    assert 2 * pages_an_hour(1.0) == 2 * 3600 + 100 and pages_an_hour(0.0) == inf


def test_leases_count_over_a_day_or_over_the_last_hours_where_that_is_more() -> None:
    shares = LeaseShares()
    assert shares.share(A, NOW) == 1.0, "nothing is known yet"
    for hour in range(20):
        shares.note([B] * 10, Now(WALL, 3600.0 * hour))
    shares.note([A] * 5 + [B] * 5, back := Now(WALL, 3600.0 * 21))
    assert shares.share(A, back) == 0.5 and shares.share(B, back) > 0.9, "a laptop is back"
    assert shares.share(A, Now(WALL, 3600.0 * 30)) < 0.1 and shares.share(NodeId(b"c" * 20), back) == 0.0
    shares.note([A], late := Now(WALL, 3600.0 * 60))
    assert shares.share(A, late) == 1.0, "a day later the rest is forgotten"


def pages(count: int, *, at: float = 0.0) -> list[Record]:
    return records(*(draft(n, hosts=1, at=at + n / 1000) for n in range(count)))


def taken(rates: SiteRates, made: list[Record], *, is_authors: bool = True) -> int:
    return sum(rates.take(record, NOW, is_authors=is_authors) for record in made)


def test_versions_count_in_the_hour_that_they_were_written_in_whoever_brings_them() -> None:
    rates, most = SiteRates(lambda url: 60.0, lambda record: False), 60 + SLACK
    assert taken(rates, pages(60)) + taken(rates, pages(60), is_authors=False) == most
    assert taken(rates, pages(200, at=-3600.0)) == most, "an hour before"
    assert taken(rates, pages(200, at=-9 * 3600.0), is_authors=False) == 200, "others repair what is old"
    assert taken(rates, pages(200, at=-9 * 3600.0)) == most
    assert taken(SiteRates(lambda url: 0.0, lambda record: False), pages(200)) == 200


def test_what_is_here_already_or_was_not_written_counts_no_more() -> None:
    here = set[bytes]()
    rates = SiteRates(lambda url: 60.0, lambda record: record.id in here)
    made = pages(60 + SLACK)
    for _ in range(3):  # from its author and two others
        assert taken(rates, made[:90]) == 90
        here |= {record.id for record in made[:90]}
    rates.give_back(made[0])
    assert taken(rates, pages(400)[110:]) == 21


def test_a_page_that_is_gone_is_none_that_was_fetched() -> None:
    page = pages(1)[0]
    assert is_page(page) and not is_page(replace(page, version=page.version._replace(epoch=0)))
