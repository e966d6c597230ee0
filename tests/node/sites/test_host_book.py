"""A node's knowledge of sites is never taken back, bounded in memory and in staleness, and passed on once."""

from dataclasses import dataclass

from crawl import AliasEvidence, MirrorAlias
from dht import SURE_S, Now
from node.sites.host_book import MAX_READ, HostBook, aliases_of, said_of
from store import HostAlias, HostRecord, Version, host_url

SITE, PORTED = "big.example", "www.a.example:8080"


@dataclass
class Clock:
    """Both clocks, moved by the test."""

    time: float = 1e6

    def __call__(self) -> Now:
        return Now(self.time, self.time)


def test_depths_are_never_taken_back() -> None:
    clock = Clock()
    book = HostBook(clock)
    for depth, wanted in ((2, (2, 0)), (1, (2, 0)), (5, (5, 2)), (0, (5, 2))):
        moved = book.note_depth(HostRecord(host_url(SITE), depth, 0, clock.time))
        assert book.depths(SITE) == wanted
        assert book.take_moved() == ({SITE} if moved else set())
        assert not book.has_moved


def test_a_doubt_that_comes_just_after_a_reading_is_kept_for_the_next_and_memory_is_bounded() -> None:
    clock = Clock()
    book = HostBook(clock)
    book.note_read(SITE)
    book.doubt(SITE)
    assert not book.take_doubted(10)
    book.doubt("other.example")
    assert book.take_doubted(10) == ["other.example"]
    clock.time += SURE_S + 1
    assert book.take_doubted(10) == [SITE] and book.take_doubted(10) == []
    for n in range(MAX_READ + 50):
        book.note_read(f"s{n}.example")
    assert not book.is_fresh(SITE) and not book.is_fresh("s49.example") and book.is_fresh("s50.example")


def test_aliases_are_news_once_and_older_records_are_none() -> None:
    book = HostBook(Clock())
    mirror = HostRecord(host_url(SITE), aliases=(HostAlias(False, f"https://{SITE}/", 1e6, 1),))
    plain = HostRecord(host_url(SITE))

    def at(at_ms: int) -> Version:
        return Version(1, at_ms, bytes(32))

    assert not book.note_aliases(plain, at(1)), "most sites are no aliases"
    steps = [(mirror, 2, True), (mirror, 2, False), (plain, 1, False), (plain, 3, True), (mirror, 2, False)]
    for host, at_ms, is_news in steps:
        assert book.note_aliases(host, at(at_ms)) == is_news
    assert not book.spreads


def test_what_a_record_says_of_aliases_is_what_was_found() -> None:
    found = [
        MirrorAlias(f"https://{PORTED}/", "https://a.example/", 2.5),
        MirrorAlias(f"http://{PORTED}/", f"https://{PORTED}/", 1.5, AliasEvidence.REDIRECTS),
    ]
    said = [said_of(alias) for alias in found]
    assert [(alias.is_secure, alias.how) for alias in said] == [(True, 0), (False, 1)]
    assert aliases_of(PORTED, said) == found
