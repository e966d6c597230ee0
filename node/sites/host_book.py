"""Remembers what host records say of sites: how deep they are spread, and which are other names of others.

Nobody looks a site up before placing a URL: nearly all are not spread, so a URL goes to its site's home slot, whose
owners have the record. These tell a writer whose URL lies elsewhere by now (`store.PutReply`). A node notices, too,
when it is brought a record that would lie elsewhere by its own knowledge. Both then doubt the site, and
`node/sites/host_records.py` reads its record. Records are read again after a while; a site's depth only grows.

Pure but for the clock that it is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from crawl import AliasEvidence, MirrorAlias
from dht import FRESH_S, SURE_S, Clock, site_of
from store import HostAlias, HostRecord, Version

FORMER_S = 86_400.0  # records may still lie where they did before; as long as for rules (`dht/strategy/history.py`)
MAX_DOUBTED = 4096  # sites waiting to be asked for
MAX_READ = 16_384  # sites of which it is remembered when they were read; older ones are read again when needed
MAX_ALIASES = 65_536  # sites of which it is known that they are others
MAX_SPREAD_SITES = 65_536  # at most four times the nodes of a network are spread; more is not to be believed


@dataclass(frozen=True, slots=True)
class _Spread:
    depth: int
    before: int
    since: float


class HostBook:
    """The `dht.ShardDepths` of one node, and the sites whose move the frontier has yet to follow."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spread: dict[str, _Spread] = {}
        self._versions: dict[str, Version] = {}  # of the records that say, or said, that a site is an alias
        self._read: dict[str, float] = {}  # steady; the one read last is last
        self._doubted: dict[str, None] = {}
        self._moved: set[str] = set()

    @property
    def spreads(self) -> bool:
        return bool(self._spread)

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that are known to be spread."""
        return tuple(self._spread)

    def depths(self, site: str) -> tuple[int, ...]:
        known = self._spread.get(site)
        if known is None:
            return (0,)
        is_lately = self._clock().wall < known.since + FORMER_S
        return (known.depth, known.before) if is_lately else (known.depth,)

    def doubt(self, site: str) -> None:
        if len(self._doubted) < MAX_DOUBTED:
            self._doubted[site] = None

    def take_doubted(self, limit: int) -> list[str]:
        """Return up to `limit` sites in doubt, the longest doubted first, and doubt them no more. Sites that were read
        just now wait, because the reason to doubt them may have come after that."""
        batch = list(islice((site for site in self._doubted if not self.is_fresh(site, SURE_S)), limit))
        for site in batch:
            del self._doubted[site]
        return batch

    def is_fresh(self, site: str, within_s: float = FRESH_S) -> bool:
        """Tell whether the site's record was read within so many seconds."""
        read_at = self._read.get(site)
        return read_at is not None and self._clock().steady <= read_at + within_s

    def note_read(self, site: str) -> None:
        """Remember that the network has just said what it knows of a site."""
        self._read.pop(site, None)
        self._read[site] = self._clock().steady
        if len(self._read) > MAX_READ:
            del self._read[next(iter(self._read))]

    def note_depth(self, host: HostRecord) -> bool:
        """Take over the depth that a host record says; return whether its site lies elsewhere now than it did."""
        site = site_of(host.url)
        known = self._spread.get(site)
        is_full = known is None and len(self._spread) >= MAX_SPREAD_SITES
        if host.depth <= (known.depth if known else 0) or is_full:
            return False
        self._spread[site] = _Spread(host.depth, known.depth if known else host.before, host.since)
        self._moved.add(site)
        return True

    def note_aliases(self, host: HostRecord, version: Version) -> bool:
        """Tell whether a host record has news of aliases; an older one has none: replicas may differ for a while."""
        site = site_of(host.url)
        before = self._versions.get(site)
        is_full = before is None and len(self._versions) >= MAX_ALIASES
        if is_full or (before is None and not host.aliases) or (before is not None and version <= before):
            return False
        self._versions[site] = version
        return True

    @property
    def has_moved(self) -> bool:
        """Whether any site came to lie elsewhere since `take_moved`."""
        return bool(self._moved)

    def take_moved(self) -> frozenset[str]:
        """Return the sites that came to lie elsewhere since this was last asked."""
        moved = frozenset(self._moved)
        self._moved.clear()
        return moved


def said_of(alias: MirrorAlias) -> HostAlias:
    """Return an alias as a host record says it."""
    return HostAlias(alias.origin.startswith("https:"), alias.target, alias.since, int(alias.how))


def aliases_of(site: str, said: Sequence[HostAlias]) -> list[MirrorAlias]:
    """Return what a site's host record says of aliases as the crawler takes it."""
    return [
        MirrorAlias(f"{'https' if a.is_secure else 'http'}://{site}/", a.target, a.since, AliasEvidence(a.how))
        for a in said
    ]
