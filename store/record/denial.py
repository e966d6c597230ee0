"""Says which records are taken back: pages that the strategy in force denies, records by authors that it blocks, and
pages that their site's owner removes.

Pure: strategies and records in, reasons out. The node hides such records from every read, refuses them at every door
and sweeps them off its disk at once (`node/crawling/denial_sweep.py`). So they count in no fingerprint either. Two
kinds of record hold no page's text, so no denial of a page takes them back. A visit reports the state of a URL, a
denial among others, and a host record names the places of a site. A block takes back the visits of its author, also
those of URLs that it only found: it may have made them up. Host records stay, or pages would be lost.

Pages that robots.txt bars are another matter: the node keeps them hidden on its disk for BARRED_PAGE_KEPT_S
(`crawl/politeness/barred_pages.py`).
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

import msgspec

from dht import CrawlRules, Strategy, node_id_of, split_url
from store.record.package import url_in
from store.record.record import Draft, Kind, Record

VANISHING_S = 300.0  # after a change of denials: by then the indexes of all nodes follow
PROOF_PATH = "/.well-known/dse-node-removal.txt"  # at a site: what its owner removes; never taken back itself
REMOVED = "removed by its site"
NO_PAGES = (Kind.VISIT, Kind.HOST)


class _InForce(NamedTuple):
    """The pages that one strategy denies. `mark`: "" where that is nothing, else a digest of all that decides it."""

    mark: str
    rules: CrawlRules | None
    blocked: frozenset[bytes]
    version: int


class RecordDenial:
    """Judges records by the strategy that it followed last; until then nothing is denied."""

    def __init__(self) -> None:
        self._strategy: Strategy | None = None
        self._now = _InForce("", None, frozenset(), 0)
        self._removed: Mapping[str, tuple[str, ...]] = {}
        self.changed_at = float("-inf")
        """When other pages than before were last denied or removed (steady time)."""

    def follow(self, strategy: Strategy, now: float) -> None:
        """Go by this strategy from now on (steady time)."""
        if strategy is self._strategy:
            return
        self._strategy = strategy
        denies = any(rule.action == "deny" for rule in strategy.rules)
        blocked = frozenset(map(bytes.fromhex, strategy.blocked))
        decides = msgspec.json.encode((sorted(strategy.blocked), strategy.rules if denies else (), strategy.slot_bits))
        mark = sha256(decides).hexdigest()[:16] if denies or blocked else ""
        self.changed_at = now if mark != self._now.mark else self.changed_at
        self._now = _InForce(mark, CrawlRules(strategy) if denies else None, blocked, strategy.version)

    def remove(self, removed: Mapping[str, tuple[str, ...]], now: float) -> None:
        """Take back, from now on (steady time), what begins so at these sites (path and query), and nothing else of any
        site's."""
        self.changed_at = now if removed != self._removed else self.changed_at
        self._removed = removed

    @property
    def removed(self) -> Mapping[str, tuple[str, ...]]:
        """The beginnings of what is removed, by site."""
        return self._removed

    @property
    def is_any(self) -> bool:
        """Whether anything at all is taken back."""
        return bool(self._now.mark or self._removed)

    @property
    def mark(self) -> str:
        """A digest of the strategy's rules, blocked authors and `slot_bits`: another digest needs another sweep. ""
        where the strategy denies and blocks nothing."""
        return self._now.mark

    def is_vanishing(self, now: float) -> bool:
        """Tell whether pages may be gone that an index somewhere still has (steady time)."""
        return now < self.changed_at + VANISHING_S

    @property
    def judges_authors(self) -> bool:
        """Whether it takes a record's proof to judge it."""
        return bool(self._now.blocked)

    def reason(self, record: Record) -> str:
        """Say why a record is taken back, "" where it is not. Raises nothing, whatever its body is."""
        now = self._now
        if now.blocked and record.kind != Kind.HOST and node_id_of(record.proof.author) in now.blocked:
            return f"strategy {now.version} blocks its author"
        return self.page_reason(record)

    def page_reason(self, record: Record | Draft) -> str:
        """Say why the page that a record is about is taken back, whoever wrote it; "" where it is not."""
        if record.kind in NO_PAGES or not (self._now.rules or self._removed):
            return ""
        try:
            return self.url_reason(url_in(record.body))
        except (ValueError, RecursionError):  # no URL: others say so
            return ""

    def url_reason(self, url: str) -> str:
        """Say why the page of a URL is taken back, whoever wrote it; "" where it is not. Raises ValueError where it is
        none."""
        if self._removed and self.is_removed(url):
            return REMOVED
        if self._now.rules is None:
            return ""
        said = self._now.rules.decide(url)
        return f"denied by rule {said.rule} of strategy {self._now.version}" if said.action == "deny" else ""

    def is_removed(self, url: str) -> bool:
        """Tell whether a site's owner removes a URL; raises ValueError where it is none."""
        parts = split_url(url)
        prefixes = self._removed.get(parts.site, ())
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        return path.startswith(prefixes) and parts.path != PROOF_PATH if prefixes else False
