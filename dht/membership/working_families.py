"""Which families of address work on this machine now: by its routes, and by who answered.

Pure: `now` is steady seconds; the system's routes are asked through a callable. Peers and sites are reached from the
same machine, so both ask here, and both tell what they met. A family that could be bound may still lead nowhere.
Without a route the system reports so at once. With a route, a family counts as broken when nobody answers in it while
somebody answers in the other family. The first answer makes it a working one again."""

from collections.abc import Callable, Iterable, Mapping

from dht.wire.contact import Address, Family

SILENT_HOSTS = 3  # so many of one family without an answer: not they but the way is gone
SILENT_S = 20.0  # since the family's last answer
PROBE_S = 10.0  # without an answer, until live peers are asked over a family for its own sake
FORGET_S = 120.0  # a silence says nothing of the family after that
HOSTS_LIMIT = 16  # silent ones remembered in a family
ANYWHERE: Mapping[Family, str] = {4: "8.8.8.8", 6: "2001:4860:4860::8888"}  # whose route is asked for; nothing is sent

SourceTowards = Callable[[str], str]
"""(host) → the address from which the system sends there, "" where it has no route."""


class WorkingFamilies:
    """Knows the families of one machine; none is left out before something speaks against it. `bound`: those in which
    this node listens, and may ask at all; `fixed`: those in which it listens at one address alone, which is there.
    Without `source_towards` no route is asked for."""

    def __init__(
        self, bound: Iterable[Family], source_towards: SourceTowards | None = None, fixed: Iterable[Family] = ()
    ) -> None:
        self.bound: frozenset[Family] = frozenset(bound)
        self.working = self.bound
        self._source_towards = source_towards or str
        self._knows_routes = source_towards is not None
        self._fixed = frozenset(fixed) if self._knows_routes else self.bound
        self._sources: dict[Family, str] = {}
        self._answered_at = dict.fromkeys(self.bound, float("-inf"))
        self._probed_at = dict.fromkeys(self.bound, float("-inf"))
        self._silent: dict[Family, dict[str, float]] = {family: {} for family in self.bound}

    @property
    def towards_peers(self) -> frozenset[Family]:
        """Those over which peers are asked: the working ones; where none is, all are tried."""
        return self.working or self.bound

    def refresh(self, hosts: Iterable[str], now: float) -> frozenset[Family]:
        """Ask for the routes of this machine anew; return the families whose source address is another one than before.
        `hosts`: peers and where to make first contact, since a network need not be part of the Internet."""
        before, towards = self._sources, [*ANYWHERE.values(), *hosts]
        self._sources = {
            family: next(filter(None, (self._source_towards(h) for h in towards if _family(h) == family)), "")
            for family in self.bound - self._fixed
        }
        self._judge(now)
        return frozenset(family for family in before if before[family] != self._sources[family])

    def answered(self, host: str, now: float) -> None:
        """Note that somebody answered from this host."""
        family = _family(host)
        if family not in self.bound:
            return
        self._answered_at[family] = now
        if self._silent[family]:
            self._silent[family] = {}
            self._judge(now)

    def silent(self, host: str, now: float) -> None:
        """Note that a host where somebody should be did not answer."""
        family = _family(host)
        if family not in self.bound:
            return
        silent = self._silent[family] = {h: at for h, at in self._silent[family].items() if now - at <= FORGET_S}
        if host in silent or len(silent) < HOSTS_LIMIT:
            silent[host] = now
        self._judge(now)

    def to_probe(self, now: float) -> list[Family]:
        """Return the families over which live peers should be asked now, since nobody answered in them lately."""
        due = [f for f in sorted(self.bound) if now - max(self._answered_at[f], self._probed_at[f]) >= PROBE_S]
        self._probed_at.update(dict.fromkeys(due, now))
        return due

    def reaches(self, host: str) -> bool:
        """Tell whether there is a way from here to an address, as far as this machine knows."""
        family = _family(host)
        if family in self.working or family not in self.bound:
            return family in self.working
        return self._has_no_route(family) and bool(self._source_towards(host))  # a neighbour, where nothing leads on

    def is_here(self, host: str) -> bool:
        """Tell whether an address is one of this machine, by its routes."""
        return self._knows_routes and self._source_towards(host) == host

    def is_proven(self, family: Family, now: float) -> bool:
        """Tell whether somebody answered in a family just now."""
        return family in self.bound and now - self._answered_at[family] <= SILENT_S

    def source(self, family: Family) -> str:
        """Return the address from which this machine sends in a family, "" where that is not known."""
        return self._sources.get(family, "")

    def reason(self, family: Family) -> str:
        """Say why a family does not work, "" where it does."""
        if family in self.working:
            return ""
        if family not in self.bound:
            return "not used here"
        if self._has_no_route(family):
            return "this machine has no route"
        return "leads nowhere: nobody answers"

    def outage(self) -> str:
        """Say that this machine has no network at all, "" where it has one."""
        return "" if self.working else "this machine has no network: no family of address has a route"

    def _judge(self, now: float) -> None:
        routed = {family for family in self.bound if not self._has_no_route(family)}
        self.working = frozenset(family for family in routed if not self._leads_nowhere(family, routed, now))

    def _has_no_route(self, family: Family) -> bool:
        return self._sources.get(family) == ""

    def _leads_nowhere(self, family: Family, routed: set[Family], now: float) -> bool:
        recent = sum(now - at <= FORGET_S for at in self._silent[family].values())
        if recent < SILENT_HOSTS or self.is_proven(family, now):
            return False
        return any(self.is_proven(other, now) for other in routed - {family})


def _family(host: str) -> Family:
    return Address(host, 0).family
