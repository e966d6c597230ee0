"""Works out which parts of the key space a reading needs, and which URLs in them.

Pure: values in, values out. A URL or a site has its own place in the key space. A domain is looked for in all of it,
since nothing lists the hosts below it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from crawl import canonical_url
from dht import Key, Slot, site_of, slot_of, slot_range, split_url
from node.errors import NoSuchSlot

MatchType = Literal["exact", "prefix", "host", "domain"]
MATCH_TYPES: tuple[MatchType, ...] = ("exact", "prefix", "host", "domain")
FIRST, LAST = Key(bytes(20)), Key(b"\xff" * 20)
KeyRange = tuple[Key, Key]  # first and last
Places = Callable[[str], Sequence[Key]]  # where the records of a URL may lie
Shards = Callable[[str], Sequence[bytes]]  # the first bytes of the keys of a site


@dataclass(frozen=True, slots=True)
class ArchiveScope:
    """Which pages are read: those in key ranges (disjoint, in order) whose URL is accepted.

    `is_sparse`: most that lies there may not be, so that contents are read only once URLs are known."""

    ranges: tuple[KeyRange, ...]
    accepts: Callable[[str], bool]
    is_sparse: bool = False

    def pieces(self, start: Key, slot_bits: int) -> Iterator[tuple[Slot, Key, Key]]:
        """Yield what is left from a key on, divided by slots."""
        for low, high in self.ranges:
            at = max(low, start)
            for slot in range(slot_of(at, slot_bits), slot_of(high, slot_bits) + 1) if at <= high else ():
                first, last = slot_range(Slot(slot), slot_bits)
                yield Slot(slot), max(at, first), min(high, last)


@dataclass(frozen=True, slots=True)
class Wish:
    """Says which pages a reader asks for: those whose URL matches one by a match type, or all, of one slot or any. Of
    each page the reader gets the shown version, or all, or the newest at an instant (else the oldest)."""

    url: str = ""
    match: MatchType = "exact"
    urls: tuple[str, ...] = ()  # these alone
    slot: Slot | None = None
    at: float | None = None  # Unix seconds
    all_versions: bool = False
    links: bool = False  # with what each page links to
    lifetimes: bool = False  # with when each page was there, and those that have gone


def wish_of(url: str, match: str) -> Wish:
    """Read a URL, or a host, as people write it: `*.host` is a domain, `url*` a prefix, and http where no scheme is
    given. Raises BadUrl, or ValueError for a match type that is none."""
    kind = next((known for known in MATCH_TYPES if known == (match or "exact")), None)
    if kind is None:
        raise ValueError(f"matchType is none of {', '.join(MATCH_TYPES)}")
    if url.startswith("*."):
        url, kind = url[2:], "domain"
    elif url.endswith("*"):
        url, kind = url[:-1], "prefix"
    return Wish(canonical_url(url if "://" in url else f"http://{url}"), kind)


def scope_of(wish: Wish, slot_bits: int, places: Places, shards: Shards) -> ArchiveScope:
    """Return where what is wished for lies, and what of that it is. Raises NoSuchSlot."""
    if wish.slot is not None:
        if wish.slot >= 1 << slot_bits:
            raise NoSuchSlot(wish.slot, 1 << slot_bits)
        return _within(slot_range(wish.slot, slot_bits), _site_scope(wish, places, shards))
    return _site_scope(wish, places, shards)


def following(key: Key) -> Key:
    """Return the key after another; after the last there is none, and it is returned itself."""
    return Key(min(int.from_bytes(key, "big") + 1, int.from_bytes(LAST, "big")).to_bytes(20, "big"))


def _site_scope(wish: Wish, places: Places, shards: Shards) -> ArchiveScope:
    if wish.urls:
        wanted = frozenset(wish.urls)
        return ArchiveScope(_points(key for url in wanted for key in places(url)), wanted.__contains__)
    if not wish.url:
        return ArchiveScope(((FIRST, LAST),), lambda url: True)
    site, host, bare = site_of(wish.url), split_url(wish.url).host, _bare(wish.url)
    if wish.match == "exact":
        return ArchiveScope(_points(places(wish.url)), lambda url: _bare(url) == bare)
    if wish.match == "domain":
        below = f".{host}"
        return ArchiveScope(((FIRST, LAST),), lambda url: f".{split_url(url).host}".endswith(below), is_sparse=True)
    parts = tuple(sorted((Key(s.ljust(20, b"\0")), Key(s.ljust(20, b"\xff"))) for s in shards(site)))
    if wish.match == "prefix":
        return ArchiveScope(parts, lambda url: _bare(url).startswith(bare), is_sparse=True)
    return ArchiveScope(parts, lambda url: site_of(url) == site)


def _bare(url: str) -> str:
    """A URL without its scheme, which CDX servers do not tell apart either."""
    return url.partition("://")[2]


def _points(keys: Iterable[Key]) -> tuple[KeyRange, ...]:
    return tuple((key, key) for key in sorted(set(keys)))


def _within(bounds: KeyRange, scope: ArchiveScope) -> ArchiveScope:
    cut = ((max(low, bounds[0]), min(high, bounds[1])) for low, high in scope.ranges)
    return ArchiveScope(tuple(part for part in cut if part[0] <= part[1]), scope.accepts, scope.is_sparse)
