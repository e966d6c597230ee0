"""Says where the documents of a URL live: in one place, and for a while also where they lived before.

Pure but for the view and the host records that it is given. Nearly every site lies in one place. A `spread` rule of the
strategy with depth d puts a big one into 2**d places, by the top bits of each path's hash. Where no such rule matches,
the site's host record may do so. Document ids never change, so a site that is spread moves and is not fetched anew.
Depths only grow: of two nodes with different depths the deeper one is right. So a record moves one way only, and two
nodes never drop it in favour of each other.
"""

from collections.abc import Sequence
from typing import Protocol

from dht.keys import MAX_SPREAD, SITE_BYTES, Key, placement_key, shard_prefix, site_of
from dht.strategy.crawl_rules import CrawlRules
from dht.strategy.document import Rule, Strategy

FRESH_S = 600.0  # what a host record says is taken for true for so long
SURE_S = 30.0  # the same where something speaks against it


class StrategySource(Protocol):
    """The part of a view that says which strategies hold and held."""

    @property
    def strategy(self) -> Strategy: ...

    def former_strategies(self) -> Sequence[Strategy]: ...


class ShardDepths(Protocol):
    """How deeply sites are spread by their host records, as far as this node has read them."""

    @property
    def spreads(self) -> bool:
        """Whether any site is known to be spread by its record."""

    def depths(self, site: str) -> tuple[int, ...]:
        """Return the depth of a site, then one that it had until lately; (0,) where nothing else is known."""

    def doubt(self, site: str) -> None:
        """Have a site's record read soon, because something speaks against what is known. May be called in any
        thread."""


class NoShardDepths:
    """The depths where no host record says anything."""

    spreads = False

    def depths(self, site: str) -> tuple[int, ...]:
        return (0,)

    def doubt(self, site: str) -> None:
        return


class SiteShards:
    """Where URLs live by one node's view at this moment; rules are compiled only where any of them spreads."""

    def __init__(self, view: StrategySource, hosts: ShardDepths | None = None) -> None:
        self._view = view
        self.hosts: ShardDepths = hosts or NoShardDepths()
        self._strategy: Strategy | None = None
        self._formers: Sequence[Strategy] = ()
        self._depths: tuple[CrawlRules | None, ...] = ()  # of the strategy in force, then of those before it

    @property
    def spreads(self) -> bool:
        """Whether any site may lie elsewhere than all did at first."""
        self._refresh()
        return any(self._depths) or self.hosts.spreads

    @property
    def by_rules(self) -> bool:
        """Whether any site may lie elsewhere because of a rule."""
        self._refresh()
        return any(self._depths)

    @property
    def by_pattern(self) -> bool:
        """Whether the URLs of one site may differ in their depth."""
        return self.by_rules and any(rule.pattern is not None for rule in self._view.strategy.rules)

    @property
    def mark(self) -> tuple[Rule, ...]:
        """A value that is another one whenever places may differ because of rules; of host records one hears one by
        one."""
        self._refresh()
        assert self._strategy is not None
        return self._strategy.rules if self._depths[0] else ()

    def depth(self, url: str) -> int:
        """Return d where the site of a canonical URL lies in 2**d places: by a rule, or deeper where it came to be
        before."""
        self._refresh()
        if self._depths[0] is None and not self.hosts.spreads:  # so it is nearly always
            return 0
        return max(_depth(self._depths[0], url) or 0, self.hosts.depths(site_of(url))[0])

    def key_of(self, url: str) -> Key:
        """Return the key where the records of a canonical URL are written, and looked for first."""
        return placement_key(url, self.depth(url))

    def keys_of(self, url: str) -> tuple[Key, ...]:
        """Return the key of a canonical URL, then those where its records may still lie."""
        self._refresh()
        said = self.hosts.depths(site_of(url))
        depths = [max(_depth(rules, url) or 0, said[0]) for rules in self._depths]
        return tuple(dict.fromkeys(placement_key(url, depth) for depth in (*depths, *said[1:])))

    def doubt(self, url: str, key: bytes) -> None:
        """Have a site's record read soon if a record of this URL lies at a key that is not its place: it may be
        spread."""
        if key not in self.keys_of(url):
            self.hosts.doubt(site_of(url))

    def is_ruled(self, url: str) -> bool:
        """Tell whether a rule of the strategy says how deep the site of a URL is spread."""
        self._refresh()
        return _depth(self._depths[0], url) is not None

    def _refresh(self) -> None:
        strategy, formers = self._view.strategy, self._view.former_strategies()
        if strategy is not self._strategy or formers is not self._formers:
            self._strategy, self._formers = strategy, formers
            self._depths = tuple(CrawlRules(s) if _spreads(s) else None for s in (strategy, *formers))


def _spreads(strategy: Strategy) -> bool:
    return any(rule.action == "spread" for rule in strategy.rules)


def _depth(rules: CrawlRules | None, url: str) -> int | None:
    """The depth by a strategy's rules; None where they leave it to the host's record."""
    decision = rules.decide(url) if rules is not None else None
    return decision.depth if decision is not None and decision.action == "spread" else None


def shards(site: str) -> list[bytes]:
    """Return the first 10 bytes of the keys of a site's shards, by number, however deep it is spread."""
    return [shard_prefix(site, shard) for shard in range(1 << MAX_SPREAD)]


def stray_range(prefix: bytes, shard: int, depth: int) -> tuple[Key, Key] | None:
    """Return the first and last key of a shard that were made while its site was spread less deeply than `depth`.

    `prefix`: the first 10 bytes of the shard's keys. None where there is no such key; those made for a greater depth
    come before them. A shard's number is the top bits of the path's part of the key, as many as the site is deep."""
    end, size = 1 << 8 * SITE_BYTES, (1 << 8 * SITE_BYTES) >> depth
    first = (shard + 1) * size
    return (_joined(prefix, first), _joined(prefix, end - 1)) if first < end else None


def _joined(prefix: bytes, path: int) -> Key:
    return Key(prefix + path.to_bytes(SITE_BYTES, "big"))
