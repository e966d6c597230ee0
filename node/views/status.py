"""Shows a node's status as people read it: the figures of /api/v1/status, tolerant of missing and new fields.

Pure: values only. The status page, the front page, /metrics and `dse-node status` all read it through here.
"""

from dataclasses import dataclass

from dht import counted
from node.views.balance import balance_line
from node.views.evidence import evidence_line, looks_line
from node.views.lenient_json import Json, count, number, table, tables, texts
from node.views.safe_text import day, plain

MAX_LIARS = 3  # named among the warnings
MAX_INDEXES = 4
MAX_TOPICS = 32
COPY_COUNTS = {str(copies) for copies in range(32)}

LEAST_PER_S = 0.1  # pages; whoever looks for a while sees some

Phrases = tuple[tuple[str, dict[str, object]], ...]  # a line in any language: keys of texts, and their values


@dataclass(frozen=True, slots=True)
class StatusView:
    """Holds the figures of one node at one moment.

    `nodes` counts this node too, `away` those of them that are silent, `under_replicated` slots; instants are Unix
    seconds; `network_documents` is 0 where nothing tells, and an estimate unless `is_network_counted`."""

    node_id: str
    version: str
    network: str
    nodes: int
    away: int
    ipv4: int
    ipv6: int
    refused_packets: int
    owned: int
    ready: int
    leased: int
    documents: int
    network_documents: int
    is_network_counted: bool
    is_settled: bool  # nothing is due, and all copies are alike
    are_alike: bool
    under_replicated: int
    crawl_state: str
    is_paused: bool  # by the owner
    crawl_reason: str
    refuse_entries: int
    refuse_told: int
    balance: str  # how work is shared, in one line
    frontier: int
    due: int  # addresses that are due at all live nodes, as far as this one has heard
    unheld: int  # slots of its own that nobody crawls just now
    fetched: int
    per_s: float
    strategy_version: int
    strategy_expires: str
    strategy_expires_at: float
    warnings: tuple[str, ...]
    disk_used: int
    disk_quota: int
    is_client: bool = False
    reachable: str = ""  # "IPv4: reachable; IPv6: behind a firewall, 3 peers tried"
    has_faults: bool = False  # of its machine; the warnings name them
    copies: str = ""  # the live copies of its slots, in one line
    scrub: Phrases = ()  # how far the check of its disk is
    slots_by_copies: tuple[tuple[int, int], ...] = ()  # live copies, and how many slots have so many
    copies_mean: float = 0.0
    too_few_s: float = 0.0  # for how long the slot that has waited longest has too few
    rules: str = ""  # of search, in one line
    text_leaf: str = ""  # whether texts are judged and cut by what was compiled at install, or why not
    second_looks: str = ""  # how many pages it looked at again, in one line
    evidence: str = ""  # the authors against which it keeps evidence
    not_taken: str = ""  # "812 scope, 2 address": links and URLs that the crawler refused, the commonest reasons
    needs_javascript: int = 0  # pages since the start whose text comes by script
    needs: tuple[tuple[str, bool], ...] = ()  # topics, and whether each needs the node's owner
    called_for: tuple[str, ...] = ()  # the sentences of those that do
    leaving_slots: int | None = None  # that a node still has to hand over which leaves for good; None where it stays
    full_in_days: float = 0.0  # of the last day's growth, the disk; 0.0 where that is not known, or a year away
    carried: int = 0  # pages that this node fetched by order, and that clients fetched for it

    @property
    def is_crawling(self) -> bool:
        """Tell whether the crawler is at work. Between two pages it waits for its sites' rests, however many it
        fetches."""
        is_between = self.crawl_state == "waiting" and self.per_s >= LEAST_PER_S
        return is_between or self.crawl_state in ("crawling", "running", "busy")

    @property
    def leaving(self) -> str:
        """Say how far a node is that leaves its network for good; "" where it stays."""
        if self.leaving_slots is None:
            return ""
        return f"{counted(self.leaving_slots, 'slot')} left to hand over"

    @property
    def disk_share(self) -> float:
        """Return the part of the quota in use, 0…1; 0 where there is no quota."""
        return min(1.0, self.disk_used / self.disk_quota) if self.disk_quota else 0.0

    @property
    def knows_network(self) -> bool:
        """Tell whether anything says how many pages the network has."""
        return self.network_documents > 0 or self.is_network_counted


MAX_REASONS, SHOWN_REASONS = 100, 4  # read; shown

_COUNTS = {  # field of the view → where the answer has it
    "ipv4": "peers.ipv4",
    "ipv6": "peers.ipv6",
    "owned": "slots.owned",
    "ready": "slots.ready",
    "leased": "slots.leased",
    "documents": "documents",
    "network_documents": "network.documents",
    "under_replicated": "under_replicated",
    "refuse_entries": "crawl.refuse.entries",
    "refuse_told": "crawl.refuse.told",
    "frontier": "crawl.frontier",
    "due": "crawl.due",
    "unheld": "crawl.unheld",
    "fetched": "crawl.fetched",
    "strategy_version": "strategy.version",
    "disk_used": "disk.used",
    "disk_quota": "disk.quota",
}


_NUMBERS = {
    "per_s": "crawl.per_s",
    "strategy_expires_at": "strategy.expires_at",
    "copies_mean": "copies.mean",
    "too_few_s": "copies.oldest_s",
    "full_in_days": "disk.full_in_days",
}
_FLAGS = {
    "is_network_counted": "network.exact",
    "is_settled": "settled",
    "are_alike": "alike",
    "is_paused": "crawl.paused_by_owner",
}
_TEXTS = {"node_id": "node_id", "version": "version", "crawl_state": "crawl.state", "crawl_reason": "crawl.reason"}


def view_of(status: Json) -> StatusView:
    """Read the answer of /api/v1/status. Besides the contract's fields it uses, where present: `network` (a name, or
    an object with name and documents), `members` (this node among them) and `warnings`."""
    read: Json = {field: count(*_place(status, path)) for field, path in _COUNTS.items()}
    read |= {field: number(*_place(status, path)) for field, path in _NUMBERS.items()}
    read |= {field: _value(status, path) is True for field, path in _FLAGS.items()}
    read |= {field: plain(_value(status, path) or "") for field, path in _TEXTS.items()}
    clients, refused, network = table(status, "clients"), table(status, "refused_packets"), table(status, "network")
    live = count(table(status, "peers"), "live") or max(read["ipv4"], read["ipv6"])
    nodes, is_client = count(status, "members") or max(live, 1), status.get("role") == "client"
    name = network.get("name", "") if network else status.get("network", "")
    called_for = (each.get("text", "") for each in tables(status, "needs") if each.get("state") == "trouble")
    return StatusView(
        network=plain(name) if isinstance(name, str) else "",
        nodes=nodes,
        away=max(0, nodes - (0 if is_client else 1) - live),
        refused_packets=sum(count(refused, reason) for reason in refused),
        balance=balance_line(status.get("balance")),
        strategy_expires=day(read["strategy_expires_at"]),
        warnings=(*_told(table(status, "strategy")), *_told(status), *_refuted(status), *_doubted(status)),
        has_faults=bool(status.get("faults")),
        is_client=is_client,
        reachable=_reachable(table(status, "reachable")),
        copies=_copies(table(status, "copies")),
        slots_by_copies=_histogram(table(status, "copies")),
        scrub=_scrub(table(status, "scrub")),
        rules=_rules(table(status, "search")),
        text_leaf=plain(status.get("text_leaf", "")),
        second_looks=looks_line(status),
        evidence=evidence_line(status),
        needs_javascript=count(table(status, "crawl"), "needs_javascript"),
        not_taken=_not_taken(table(table(status, "crawl"), "refused")),
        needs=_needs(status),
        called_for=tuple(plain(text, 500) for text in called_for),
        leaving_slots=leaving_slots(status),
        carried=count(clients, "carried") + count(clients, "carried_here"),
        **read,
    )


def _told(part: Json) -> list[str]:
    return texts(part, "warnings", 2000, 20)


def leaving_slots(status: Json) -> int | None:
    """Return in how many slots anything lies of a node that leaves its network for good; None where it stays."""
    return count(table(status, "leaving"), "slots") if isinstance(status.get("leaving"), dict) else None


def _needs(status: Json) -> tuple[tuple[str, bool], ...]:
    told = {plain(each.get("topic", ""), 32): each.get("state") == "trouble" for each in tables(status, "needs")}
    return tuple(list(told.items())[:MAX_TOPICS])


def _scrub(scrub: Json) -> Phrases:
    """Say how far the check of the disk is, in phrases; none where no check has begun."""
    if not (begun := day(number(scrub, "begun_at"))):
        return ()
    share = f"{min(1.0, max(0.0, number(scrub, 'share'))):.0%}"
    phrases: list[tuple[str, dict[str, object]]] = [("scrub.read", {"share": share, "day": begun})]
    if day(number(scrub, "asked_at")):
        phrases.append(("scrub.asked" if day(number(scrub, "read_at")) else "scrub.at_once", {}))
    if ended := day(number(scrub, "ended_at")):
        phrases.append(("scrub.ended", {"day": ended}))
    if lost := count(scrub, "lost"):
        key = "scrub.lost.one" if lost == 1 else "scrub.lost"
        phrases.append((key, {"count": lost, "healed": count(scrub, "healed")}))
    return tuple(phrases)


def _not_taken(refused: Json) -> str:
    found = sorted(((count(refused, reason), plain(reason)) for reason in list(refused)[:MAX_REASONS]), reverse=True)
    return ", ".join(f"{times:,} {reason}" for times, reason in found[:SHOWN_REASONS] if times > 0)


def _place(status: Json, path: str) -> tuple[Json, str]:
    """Return the object that holds a field, and the field's own name."""
    *above, key = path.split(".")
    for name in above:
        status = table(status, name)
    return status, key


def _value(status: Json, path: str) -> object:
    parent, key = _place(status, path)
    return parent.get(key)


def _refuted(status: Json) -> tuple[str, ...]:
    """Name the peers that are avoided for their answers or pages; a copy that is only behind is no news."""
    told = [each for each in tables(status, "refuted_peers") if each.get("avoided") is True and not each.get("behind")]
    lines = {plain(each.get("peer", ""))[:12]: _penalty(each) for each in told}
    return tuple(list(lines.values())[-MAX_LIARS:])


def _penalty(refuted: Json) -> str:
    peer, why = plain(refuted.get("peer", ""))[:12], plain(refuted.get("reason", ""))
    if refuted.get("topic") == "client pages":
        return f"client {peer} gets no orders for a while: it {why}"
    return f"peer {peer} is avoided: it said {why}"


def _doubted(status: Json) -> tuple[str, ...]:
    """Say whose copies do not count, because records that should lie there were not shown."""
    told = table(status, "possession").get("doubted")
    peers = [plain(peer)[:12] for peer in told] if isinstance(told, list) else []
    return tuple(
        f"peer {peer} does not show records that it should have: they are copied elsewhere"
        for peer in peers[:MAX_LIARS]
    )


def size(amount: float) -> str:
    """Write a number of bytes for reading: 12.3 MB (decimal units, as disks are sold)."""
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def _copies(copies: Json) -> str:
    """Write how many live copies slots have, for how long some have waited for more, and what is kept for others."""
    found = _histogram(copies)
    parts = [", ".join(f"{held} of {counted(many, 'slot')}" for held, many in found)] if found else []
    if found and "mean" in copies:
        parts[0] += f", average {number(copies, 'mean'):.1f}"
    if oldest_s := number(copies, "oldest_s"):
        slot = f", slot {count(copies, 'oldest_slot')} for longest" if copies.get("oldest_slot") is not None else ""
        parts.append(f"some too few for {oldest_s / 60:,.0f} min{slot}")
    kept, copying = count(copies, "kept"), count(copies, "copying")
    if kept or copying:
        parts.append(f"{counted(kept, 'slot')} kept for silent owners, {copying:,} being copied")
    return "; ".join(parts)


def _histogram(copies: Json) -> tuple[tuple[int, int], ...]:
    """Read how many slots have how many live copies, the fewest copies first."""
    slots = table(copies, "slots")
    return tuple(sorted((int(held), count(slots, held)) for held in slots if held in COPY_COUNTS))


def _rules(search: Json) -> str:
    """Write by which rules a node answers, and how far the indexes beside are built."""
    if "analyzer" not in search:
        return ""
    line = f"analyzer {count(search, 'analyzer')}, ranking {count(search, 'ranking')}"
    for each in tables(search, "beside")[:MAX_INDEXES]:
        state = "answers, too" if each.get("answers") is True else f"is built, {number(each, 'share'):.0%}"
        line += f"; analyzer {count(each, 'analyzer')} {state}"
    return line


def _reachable(found: Json) -> str:
    """Write what peers say of each family; nothing where nobody was asked."""
    names = {"ipv4": "IPv4", "ipv6": "IPv6"}
    told = {names[key]: table(found, key) for key in names if key in found}
    if all(not each.get("tried") for each in told.values()):
        return ""
    return "; ".join(f"{name}: {plain(each.get('text', ''))}" for name, each in told.items())
