"""Says which URLs are due though their last outcome says otherwise: their page was taken back, is allowed again, or its
author is in doubt.

Visits in, visits out. The crawler's frontier goes by these; the next outcome is written as always.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from crawl import Visit, VisitState, forgotten
from dht import Clock, document_id
from node.crawling.address_rules import AddressRules
from node.crawling.denial_sweep import DenialSweep
from node.crawling.fetch_rules import RULE
from store import REMOVED, Kind, Record, RecordStore

SETTLED_S = 60.0  # a page that was fetched later may still be on its way to this owner


def as_due(visit: Visit, *, has_page: bool, is_allowed: Callable[[str], bool]) -> Visit:
    """Return a visit, due at once and in full where it says that a page is stored and none is (`has_page`). It is due
    at once, too, where a rule refused it and the rules allow it now."""
    if visit.state == VisitState.REFUSED and visit.reason.startswith((RULE, REMOVED)) and is_allowed(visit.url):
        return replace(visit, due_at=0.0)
    if has_page or not visit.history.fingerprint or visit.is_sitemap:
        return visit
    if visit.state == VisitState.FETCHED:
        return replace(forgotten(visit), state=VisitState.WAITING, due_at=0.0)
    return forgotten(visit)


def as_doubted(visit: Visit) -> Visit:
    """Return an outcome, due at once and in full, of which nothing is believed but that its URL was found."""
    return replace(forgotten(visit), state=VisitState.WAITING, due_at=0.0)


def is_other(visit: Visit, *, is_allowed: Callable[[str], bool]) -> bool:
    """Tell whether a site's owner removed the page that a visit says is stored, or lets the URL be fetched again."""
    if visit.reason.startswith(REMOVED):
        return is_allowed(visit.url)
    return bool(visit.history.fingerprint) and not is_allowed(visit.url)


class DoubtedOutcomes(Protocol):
    """Tells which outcomes are doubted, because second looks contradict their author's pages."""

    @property
    def mark(self) -> object:
        """Another value whenever other outcomes are doubted."""

    @property
    def is_any(self) -> bool:
        """Whether any outcome is doubted at all."""

    def is_doubted(self, record: Record) -> bool:
        """Tell whether a record is one of them; it has its proof."""


class DueAgain:
    """Judges the outcomes in one node's store, by what was swept off its disk and by doubts."""

    def __init__(
        self,
        store: RecordStore,
        is_allowed: Callable[[str], bool],
        by_address: AddressRules,
        sweep: DenialSweep,
        doubts: DoubtedOutcomes,
        clock: Clock,
    ) -> None:
        """`is_allowed`: by the strategy's rules and the sites' owners."""
        self._store, self._is_allowed, self._clock = store, is_allowed, clock
        self._sweep, self._swept = sweep, sweep.count
        self._doubts, self._doubted = doubts, doubts.mark
        self._by_address, self._judged = by_address, by_address.mark
        self._swept_at = self._sure_until = 0.0

    @property
    def has_more(self) -> bool:
        """Whether more outcomes may be due again than at `begin`."""
        is_swept = self._sweep.count != self._swept
        return is_swept or self._doubts.mark != self._doubted or self._by_address.mark != self._judged

    def begin(self) -> None:
        """Judge from now on by what was swept and is doubted now.

        A page that was fetched shortly before may be on its way here, unless a sweep took it."""
        now = self._clock().wall
        self._swept_at = now if self._sweep.count != self._swept else self._swept_at
        self._sure_until = max(self._swept_at, now - SETTLED_S)
        self._swept, self._doubted = self._sweep.count, self._doubts.mark
        self._judged = self._by_address.mark

    def recalled(self, visit: Visit) -> Visit:
        """Return a stored visit as the frontier takes it up: due at once where its outcome does not hold any more."""
        if self._is_doubted(visit):
            return as_doubted(visit)
        if visit.state == VisitState.REFUSED and self._by_address.is_outdated(visit.reason):
            return replace(visit, due_at=0.0)
        is_sure = visit.history.fingerprint and visit.visited_at <= self._sure_until
        has_page = not is_sure or self._store.find_version(Kind.DOCUMENT, document_id(visit.url)) is not None
        return as_due(visit, has_page=has_page, is_allowed=self._is_allowed)

    @property
    def has_sites(self) -> bool:
        """Whether `take_sites` returns any."""
        return self._sweep.has_sites

    def take_sites(self) -> list[str]:
        """Return the sites whose visits are to be judged by `is_other`, each once."""
        return sorted(self._sweep.take_sites())

    def is_other(self, visit: Visit) -> bool:
        """Tell whether a site's owner changed what holds of a visit."""
        return is_other(visit, is_allowed=self._is_allowed)

    def _is_doubted(self, visit: Visit) -> bool:
        if not self._doubts.is_any or visit.state == VisitState.WAITING:
            return False
        outcome = self._store.find(Kind.VISIT, document_id(visit.url), content=False)
        return outcome is not None and self._doubts.is_doubted(outcome)
