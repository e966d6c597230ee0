"""A node's status as people read it: the figures of /api/v1/status, tolerant of fields that are missing or new.

Pure: values only. The status page, the front page, /metrics and `dse-node status` all read it through here.
"""

from dataclasses import dataclass
from typing import Any

from node.views.balance import balance_line
from node.views.safe_text import day, plain

Json = dict[str, Any]

MAX_LIARS = 3  # named among the warnings


@dataclass(frozen=True, slots=True)
class StatusView:
    """One reading. Counts are whole numbers; `nodes` counts this node too, `away` those of them that are silent,
    `under_replicated` slots; instants are Unix seconds.

    `network_documents` is 0 where nobody has counted them."""

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
    is_settled: bool
    under_replicated: int
    crawl_state: str
    crawl_reason: str
    refuse_entries: int
    refuse_told: int
    balance: str  # how work is shared, in one line
    frontier: int
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
    carried: int = 0  # pages that this node fetched by order, and that clients fetched for it

    @property
    def is_crawling(self) -> bool:
        return self.crawl_state in ("crawling", "running", "busy")

    @property
    def disk_share(self) -> float:
        """The part of the quota in use, 0…1; 0 where there is no quota."""
        return min(1.0, self.disk_used / self.disk_quota) if self.disk_quota else 0.0


def view_of(status: Json) -> StatusView:
    """Read /api/v1/status. Besides the contract's fields it uses, where present: `network` (a name, or an object
    with name and documents), `members` (this node among them) and `warnings`."""
    peers, slots, crawl = _table(status, "peers"), _table(status, "slots"), _table(status, "crawl")
    strategy, disk, network = _table(status, "strategy"), _table(status, "disk"), _table(status, "network")
    ipv4, ipv6 = _count(peers, "ipv4"), _count(peers, "ipv6")
    live = _count(peers, "live") or max(ipv4, ipv6)
    nodes = _count(status, "members") or max(live, 1)
    refused = _table(status, "refused_packets")
    expires_at = _number(strategy, "expires_at")
    documents = _count(status, "documents")
    is_client, clients = status.get("role") == "client", _table(status, "clients")
    name = network.get("name", "") if network else status.get("network", "")
    return StatusView(
        node_id=plain(status.get("node_id", "")),
        version=plain(status.get("version", "")),
        network=plain(name) if isinstance(name, str) else "",
        nodes=nodes,
        away=max(0, nodes - (0 if is_client else 1) - live),
        ipv4=ipv4,
        ipv6=ipv6,
        refused_packets=sum(_count(refused, reason) for reason in refused),
        owned=_count(slots, "owned"),
        ready=_count(slots, "ready"),
        leased=_count(slots, "leased"),
        documents=documents,
        network_documents=_count(network, "documents"),
        is_settled=status.get("settled") is True,
        under_replicated=_count(status, "under_replicated"),
        crawl_state=plain(crawl.get("state", "")),
        crawl_reason=plain(crawl.get("reason", "") or ""),
        refuse_entries=_count(_table(crawl, "refuse"), "entries"),
        refuse_told=_count(_table(crawl, "refuse"), "told"),
        balance=balance_line(status.get("balance")),
        frontier=_count(crawl, "frontier"),
        fetched=_count(crawl, "fetched"),
        per_s=_number(crawl, "per_s"),
        strategy_version=_count(strategy, "version"),
        strategy_expires=day(expires_at),
        strategy_expires_at=expires_at,
        warnings=(*_texts(strategy.get("warnings")), *_texts(status.get("warnings")), *_distrusted(clients)),
        disk_used=_count(disk, "used"),
        disk_quota=_count(disk, "quota"),
        is_client=is_client,
        reachable=_reachable(_table(status, "reachable")),
        carried=_count(clients, "carried") + _count(clients, "carried_here"),
    )


def _distrusted(clients: Json) -> tuple[str, ...]:
    """Why clients get no more orders; the first few."""
    told = list(_table(clients, "distrusted").items())
    more = (f"{len(told) - MAX_LIARS} more clients get no more orders",) if len(told) > MAX_LIARS else ()
    return (*(f"client {plain(id)[:12]} gets no more orders: it {plain(why)}" for id, why in told[:MAX_LIARS]), *more)


def size(count: float) -> str:
    """Bytes for reading: 12.3 MB (decimal units, as disks are sold)."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _reachable(found: Json) -> str:
    """What peers say of each family; nothing where nobody was asked."""
    names = {"ipv4": "IPv4", "ipv6": "IPv6"}
    tables = {names[key]: _table(found, key) for key in names if key in found}
    if all(not table.get("tried") for table in tables.values()):
        return ""
    return "; ".join(f"{name}: {plain(table.get('text', ''))}" for name, table in tables.items())


def _table(parent: Json, key: str) -> Json:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _number(parent: Json, key: str) -> float:
    value = parent.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _count(parent: Json, key: str) -> int:
    value = _number(parent, key)
    return int(value) if abs(value) < 1e18 else 0


def _texts(value: object) -> tuple[str, ...]:
    return tuple(plain(item) for item in value[:20]) if isinstance(value, list | tuple) else ()
