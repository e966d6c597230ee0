"""Of the versions of a page that owners name, those are read that are wished for."""

import pytest

from dht import document_id, placement_key
from node.captures.listed_page import ListedPage, batches, listed_pages
from node.captures.scope import Wish
from store import Kind, RangeEntry

ALL = Wish(all_versions=True)


def entry(url: str, kind: Kind, at_ms: int, tail: bytes = b"") -> RangeEntry:
    id = document_id(url)
    id = id if kind != Kind.FORMER else id[:12] + (tail or at_ms.to_bytes(8, "big"))
    return RangeEntry(placement_key(url) + bytes([kind]) + id, 1, at_ms, bytes(8))


def page(url: str, *formers: int, shown: int = 0) -> list[RangeEntry]:
    found = [entry(url, Kind.FORMER, at) for at in formers]
    found += [entry(url, Kind.DOCUMENT, shown)] if shown else []
    return [*found, entry(url, Kind.VISIT, 5)]


def chosen(wish: Wish, entries: list[RangeEntry]) -> list[list[int]]:
    return [each.chosen(wish) for each in listed_pages(entries, wish)]


NEWS = page("http://a.test/", 1000, 2000, 3000, shown=4000)


@pytest.mark.parametrize(
    ("wish", "instants"),
    [
        (Wish(), [4000]),
        (ALL, [1000, 2000, 3000, 4000]),
        (Wish(at=2.5), [2000]),
        (Wish(at=3.0), [3000]),
        (Wish(at=99.0), [4000]),
        (Wish(at=0.5), [1000]),
    ],
)
def test_a_wish_chooses_among_versions(wish: Wish, instants: list[int]) -> None:
    assert chosen(wish, NEWS) == [instants]


def test_former_versions_alone_are_an_archive_and_an_erasure_is_none() -> None:
    left = page("http://a.test/", 1000)
    assert chosen(Wish(), left) == [] and chosen(ALL, left) == [[1000]] and chosen(Wish(at=9.0), left) == [[1000]]
    erased = entry("http://a.test/", Kind.FORMER, 7000, b"\xff" * 8)
    assert chosen(ALL, [erased]) == []


def test_parts_hold_so_many_versions_and_those_of_a_key_stay_together() -> None:
    found = [each for n in range(4) for each in page(f"http://{n}.test/", 1000, 2000, shown=3000)]
    pages = listed_pages(found, ALL)
    assert [each.key for each in pages] == sorted(each.key for each in pages)
    parts = list(batches(pages, ALL, 6))
    assert [len(part) for part in parts] == [2, 2] and [each for part in parts for each in part] == pages
    assert [len(part) for part in batches(pages, ALL, 1)] == [1, 1, 1, 1], "at least one page"
    twins = [ListedPage(pages[0].key, shown_at=1000) for _ in range(3)]
    assert [len(part) for part in batches(twins, Wish(), 1)] == [3]
