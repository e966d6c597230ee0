"""Works out what a change of strategy moves: shares of the key space, copies, documents, bytes, URLs by rule.

Pure: moves and counts in, plain data out. This node's own counts, peers' reports and estimates from both are kept
apart, because they deserve different trust.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from dht import CrawlRules, NodeId, Slot, SlotMove, Strategy, difference
from node.api.body import Json
from node.delegation.fetch_route import fetch_route

SHOWN = 20  # hosts named; the rest is counted


class SlotContents(NamedTuple):
    """How much lies in one part of the key space. `bytes` 0: not known."""

    documents: int
    visits: int
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class KnownContents:
    """Holds how much lies in each part, as far as it is known: counted here, or reported by peers."""

    own: Mapping[Slot, SlotContents]
    reported: Mapping[Slot, SlotContents]
    usual_bytes: float = 0.0  # of a record, where none of these parts was weighed

    @property
    def mean(self) -> tuple[float, float]:
        """Return documents and visits in a part on average, over all that is known."""
        known = [*self.own.values(), *(k for slot, k in self.reported.items() if slot not in self.own)]
        many = max(1, len(known))
        return sum(k.documents for k in known) / many, sum(k.visits for k in known) / many

    @property
    def record_bytes(self) -> float:
        """Return the bytes of one record on average, over what was weighed here."""
        weighed = [kept for kept in self.own.values() if kept.bytes]
        if not weighed:
            return self.usual_bytes
        return sum(k.bytes for k in weighed) / max(1, sum(k.documents + k.visits for k in weighed))


def moved(parts: Iterable[SlotMove], counts: KnownContents) -> Json:
    """Return how many copies must be made: as a share of all, in documents and in bytes, by how well they are known."""
    whole = changed = copies = gained = 0
    documents, sizes, ways = Counter[str](), Counter[str](), Counter[str]()
    mean_documents, mean_visits = counts.mean
    record_bytes = counts.record_bytes
    for part in parts:
        whole, copies = whole + 1, copies + len(part.after)
        if not (times := len(part.gained)):
            continue
        changed, gained = changed + 1, gained + times
        way, kept = _look_up(part.slot, counts)
        held = kept.documents if kept else mean_documents
        visits = kept.visits if kept else mean_visits
        ways[way] += 1
        documents[way] += round(times * held)
        sizes[way] += round(times * (kept.bytes if kept and kept.bytes else record_bytes * (held + visits)))
    return {
        "parts": {"all": whole, "changed": changed, **_by_way(ways)},
        "key_space": {"changed": round(changed / max(1, whole), 4)},
        "copies": {"all": copies, "moved": gained, "share": round(gained / max(1, copies), 4)},
        "documents": {"moved": sum(documents.values()), **_by_way(documents)},
        "bytes": {"moved": sum(sizes.values()), **_by_way(sizes)},
    }


@dataclass(slots=True)
class HostEffect:
    """Counts URL by URL what the rules of two strategies say of it, and who fetches it."""

    before: Strategy
    after: Strategy
    owners_after: Mapping[Slot, Sequence[NodeId]]  # by slot of the strategy after
    live: Set[NodeId] = frozenset()  # the live members now
    urls: int = 0
    denied: Counter[tuple[int, str]] = field(default_factory=Counter)  # (rule after, host): URLs
    denied_documents: Counter[tuple[int, str]] = field(default_factory=Counter)
    allowed: int = 0
    hosts: set[str] = field(default_factory=set)
    fetched: dict[str, tuple[str, str]] = field(default_factory=dict)  # host: who fetched, who will
    _old: CrawlRules = field(init=False)
    _new: CrawlRules = field(init=False)
    _live_after: Set[NodeId] = field(init=False)

    def __post_init__(self) -> None:
        self._old, self._new = CrawlRules(self.before), CrawlRules(self.after)
        self._live_after = {peer for peer in self.live if peer.hex() not in left_out(self.after)}

    def add(
        self,
        url: str,
        slot_after: Slot,
        holder: NodeId | None,
        *,
        has_document: bool,
        owners: Sequence[NodeId] = (),
        refuses: Callable[[NodeId], bool] = lambda _: False,
    ) -> None:
        """Count one known URL. `holder` is the node that holds the lease of its slot now, if any is known; `owners` are
        the slot's live owners now. `refuses` tells whether a node's operator refuses the URL, as far as is known.
        """
        host = urlsplit(url).hostname or ""
        self.urls += 1
        self.hosts.add(host)
        old, new = self._old.decide(url), self._new.decide(url)
        if new.action == "deny":
            if old.action != "deny":
                self.denied[new.rule, host] += 1
                self.denied_documents[new.rule, host] += has_document
            return
        if old.action == "deny":  # nobody fetched it
            self.allowed += 1
            return
        later = self.owners_after.get(slot_after, ())
        was = _fetcher(holder, owners, old.peer if old.peer in self.live else None, refuses)
        named = new.peer if new.peer in self._live_after else None
        will = _fetcher(holder if holder in later else None, later, named, refuses)
        if was != will:
            self.fetched[host] = (was.hex() if was else "", will.hex() if will else "")

    def json(self) -> Json:
        """Return the figures, and the first hosts by name."""
        denied = [
            {"rule": rule, "host": host, "urls": count, "documents": self.denied_documents[rule, host]}
            for (rule, host), count in self.denied.most_common()
        ]
        fetched = [{"host": host, "before": was, "after": will} for host, (was, will) in sorted(self.fetched.items())]
        return {
            "known": len(self.hosts),
            "urls": self.urls,
            "denied": denied[:SHOWN],
            "denied_hosts": len({host for _, host in self.denied}),
            "denied_urls": sum(self.denied.values()),
            "denied_documents": sum(self.denied_documents.values()),
            "allowed_urls": self.allowed,
            "fetched_by_others": fetched[:SHOWN],
            "fetched_by_others_hosts": len(fetched),
        }


def _fetcher(
    holder: NodeId | None, owners: Sequence[NodeId], named: NodeId | None, refuses: Callable[[NodeId], bool]
) -> NodeId | None:
    """Return the node that makes the fetch where this one holds the lease, by the rule of fetching itself; None where
    that is not known. `named`: the live member that a rule names."""
    if holder is None:
        return named if named is not None and not refuses(named) else None
    route = fetch_route(holder, owners, named, "refused" if refuses(holder) else "", refuses)
    return next(iter(route.peers), None if route.refused else holder)


def left_out(strategy: Strategy) -> frozenset[str]:
    """Return the ids of the nodes that a strategy blocks or calls gone."""
    return frozenset(strategy.blocked) | {gone.id for gone in strategy.gone}


def changes_json(before: Strategy, after: Strategy) -> Json:
    """Return what differs: {fields: [{field, before, after}], rules: [{change, number, rule}]}."""
    found = difference(before, after)
    return {
        "fields": [{"field": c.field, "before": c.before, "after": c.after} for c in found.fields],
        "rules": [{"change": c.kind, "number": c.number, "rule": msgspec.to_builtins(c.rule)} for c in found.rules],
    }


def _look_up(slot: Slot, counts: KnownContents) -> tuple[str, SlotContents | None]:
    if slot in counts.own:
        return "counted", counts.own[slot]
    if slot in counts.reported:
        return "reported", counts.reported[slot]
    return "estimated", None


def _by_way(values: Counter[str]) -> Json:
    return {way: values[way] for way in ("counted", "reported", "estimated")}
