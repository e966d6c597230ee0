"""What this node knows of sites that lie in several places, by the host records it has read; their aliases it tells.

Nobody looks a site up before placing a URL: nearly all are not spread, so a URL goes to its site's home slot, whose
owners have the record. Whoever writes there what lies elsewhere by now is told so (`store.PutReply`), and whoever is
brought a record that would lie elsewhere by its own knowledge notices that; both then read the record. What was read is
asked for again after a while, and never taken back: a site's depth only grows.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from dht import FRESH_S, SURE_S, Clock, site_of
from store import HostAlias, HostRecord, Kind, Record, Replicator, Version, decode_host, host_name

FORMER_S = 86_400.0  # records may still lie where they did before; as long as for rules (`dht/strategy/history.py`)
ASK_EVERY_S = 1.0
ASKED_AT_ONCE = 64  # sites
MAX_WONDERED = 4096  # sites waiting to be asked for
MAX_READ = 16_384  # sites of which it is remembered when they were read; older ones are read again when needed
MAX_ALIASES = 65_536  # sites of which it is known that they are others
MAX_SPREAD_SITES = 65_536  # at most four times the nodes of a network are spread; more is not to be believed

Learned = Callable[[str, bool], None]
Aliased = Callable[[str, Sequence[HostAlias]], None]


@dataclass(frozen=True, slots=True)
class _Spread:
    depth: int
    before: int
    since: float


class HostBook:
    """The `dht.ShardDepths` of one node. `learned(site, is_other)` hears of each site that was read or heard of, and
    whether its depth is another now; `aliased(site, aliases)` of each change of a site's aliases."""

    def __init__(self, clock: Clock, learned: Learned, aliased: Aliased = lambda site, aliases: None) -> None:
        self._clock, self._learned, self._aliased = clock, learned, aliased
        self._versions: dict[str, Version] = {}  # of the records that say, or said, that a site is an alias
        self._replicator: Replicator | None = None
        self._spread: dict[str, _Spread] = {}
        self._read: dict[str, float] = {}  # steady; the one read last is last
        self._wondered: dict[str, None] = {}

    @property
    def spreads(self) -> bool:
        return bool(self._spread)

    @property
    def sites(self) -> tuple[str, ...]:
        """Those known to be spread."""
        return tuple(self._spread)

    def depths(self, site: str) -> tuple[int, ...]:
        """See `dht.ShardDepths`."""
        known = self._spread.get(site)
        if known is None:
            return (0,)
        is_lately = self._clock().wall < known.since + FORMER_S
        return (known.depth, known.before) if is_lately else (known.depth,)

    def wonder(self, site: str) -> None:
        """See `dht.ShardDepths`; what was read a moment ago is not in doubt."""
        if len(self._wondered) < MAX_WONDERED and not self._is_fresh(site, SURE_S):
            self._wondered[site] = None

    async def learn(self, sites: Iterable[str], within_s: float = FRESH_S) -> frozenset[str]:
        """See `dht.ShardDepths`."""
        sites = frozenset(sites)
        stale = sorted(site for site in sites if not self._is_fresh(site, within_s))
        for start in range(0, len(stale), ASKED_AT_ONCE):
            await self._ask(stale[start : start + ASKED_AT_ONCE])
        return frozenset(site for site in sites if self._is_fresh(site, within_s))

    def hear(self, record: Record) -> None:
        """A host's record that proves itself came in."""
        host = decode_host(record.body)
        self._tell_aliases(host, record.version)
        self.believe(host)

    def believe(self, host: HostRecord) -> None:
        """What a host's record says, at once."""
        self._note(site_of(host.url), host)

    def reads(self, replicator: Replicator) -> None:
        """By whom records are read from now on."""
        self._replicator = replicator

    async def run(self) -> None:
        """Ask for what is in doubt, until cancelled."""
        while True:
            await asyncio.sleep(ASK_EVERY_S)
            while batch := list(islice(list(self._wondered), ASKED_AT_ONCE)):
                for site in batch:
                    del self._wondered[site]
                await self._ask(batch)

    async def _ask(self, sites: list[str]) -> None:
        """Read the records of some sites; those of which nobody answers stay in doubt."""
        assert self._replicator is not None
        names = {site: host_name(site) for site in sites}
        wanted = [(Kind.HOST, *name) for name in names.values()]
        found, unsaid = await self._replicator.read_sure(wanted)
        for site, (id, _) in names.items():
            if (Kind.HOST, id) in unsaid:
                continue
            self._read.pop(site, None)
            self._read[site] = self._clock().steady
            if len(self._read) > MAX_READ:
                del self._read[next(iter(self._read))]
            record = found.get((Kind.HOST, id))
            host = decode_host(record.body) if record is not None else None
            if record is not None and host is not None:
                self._tell_aliases(host, record.version)
            if host is None or not self._note(site, host):
                self._learned(site, False)

    def _note(self, site: str, host: HostRecord) -> bool:
        """Whether the site lies elsewhere by this record than it did."""
        known = self._spread.get(site)
        is_full = known is None and len(self._spread) >= MAX_SPREAD_SITES
        if host.depth <= (known.depth if known else 0) or is_full:
            return False
        self._spread[site] = _Spread(host.depth, known.depth if known else host.before, host.since)
        self._learned(site, True)
        return True

    def _tell_aliases(self, host: HostRecord, version: Version) -> None:
        """An older record changes nothing: replicas may differ for a while."""
        site = site_of(host.url)
        before = self._versions.get(site)
        is_full = before is None and len(self._versions) >= MAX_ALIASES
        if is_full or (before is None and not host.aliases) or (before is not None and version <= before):
            return
        self._versions[site] = version
        self._aliased(site, host.aliases)

    def _is_fresh(self, site: str, within_s: float) -> bool:
        read_at = self._read.get(site)
        return read_at is not None and self._clock().steady <= read_at + within_s
