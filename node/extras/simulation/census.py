"""Takes stock of a world from outside: what lies on whose disk, what the sites saw, what a right answer is.

Looks at stores and logs alone and believes no node's figures.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from crawl import Visit, VisitState, decode_visit, signature
from dht import Key, Slot, placement_key, site_of, slot_of
from index import SearchOracle, Text
from node.crawling.store_change_feed import shown_text
from node.extras.simulation.scripted_fetch import Visited
from node.extras.simulation.sim_node import SimNode
from store import HostRecord, Kind, Record, RecordDenial, decode_document, decode_host, host_url, url_of

FIRST, LAST = bytes(20), b"\xff" * 20


@dataclass(slots=True)
class Census:
    """Holds for each URL the newest record of each kind, and the names of the nodes that hold that version."""

    visits: dict[str, Visit] = field(default_factory=dict)
    texts: dict[str, Text] = field(default_factory=dict)
    hosts: dict[str, HostRecord] = field(default_factory=dict)
    holders: dict[tuple[Kind, str], set[str]] = field(default_factory=dict)

    def states(self) -> dict[str, VisitState]:
        """Return what became of each URL."""
        return {url: visit.state for url, visit in sorted(self.visits.items())}

    def brute_force(self) -> SearchOracle:
        """Return the oracle over all documents."""
        return SearchOracle([text for _, text in sorted(self.texts.items())], signature)


def take_census(nodes: Iterable[SimNode]) -> Census:
    """Read the disks of running nodes."""
    census, pages = Census(), dict[str, Record]()
    for kind in Kind:
        newest: dict[bytes, Record] = {}
        held: dict[bytes, set[str]] = {}
        for node in nodes:
            for record in node.node_core.store.records.scan(kind, FIRST, LAST):
                best = newest.get(record.id)
                if best is None or record.version > best.version:
                    newest[record.id], held[record.id] = record, {node.name}
                elif record.version == best.version:
                    held[record.id].add(node.name)
        for record in newest.values():
            census.holders[kind, _enter(census, record)] = held[record.id]
            if kind == Kind.DOCUMENT:
                pages[url_of(record)] = record
    for url, page in pages.items():
        if text := shown_text(page, census.visits.get(url), RecordDenial()):
            census.texts[url] = text
    return census


def _enter(census: Census, record: Record) -> str:
    """Note a newest record; return its URL, "" where it is a document that is gone."""
    if record.kind == Kind.VISIT:
        visit = decode_visit(record.body)
        census.visits[visit.url] = visit
        return visit.url
    if record.kind == Kind.HOST:
        host = decode_host(record.body)
        census.hosts[host.url] = host
        return host.url
    if record.kind == Kind.FORMER:
        return f"{url_of(record)} {record.version.at_ms}"  # no URL has a space in it
    document = decode_document(record.body)
    return "" if document.gone else document.url


def thin_records(census: Census, nodes: Sequence[SimNode]) -> dict[tuple[Kind, str], set[str]]:
    """Map each record that an owner lacks, as the first node's view names owners, to the names of those owners."""
    names, view = {node.overlay.node_id: node.name for node in nodes}, nodes[0].overlay.view
    lacking = {}
    for (kind, url), holders in census.holders.items():
        slot = slot_of(_place(census, nodes[0], kind, url), view.strategy.slot_bits)
        owners = {names[peer] for peer in view.owners(slot) if peer in names}
        if url and (missing := owners - holders):
            lacking[kind, url] = missing
    return lacking


def _place(census: Census, node: SimNode, kind: Kind, url: str) -> Key:
    """Return where a record of a URL belongs, by the rules that a node knows and by the site's record, wherever that
    lies: not every node needs to know it."""
    url = url.partition(" ")[0]
    host = census.hosts.get(host_url(site_of(url))) if kind != Kind.HOST else None
    by_rules = node.node_core.store.shards.depth(url) if kind != Kind.HOST else 0
    return placement_key(url, max(by_rules, host.depth if host is not None else 0))


def repeated(log: Iterable[Visited]) -> dict[str, list[Visited]]:
    """Return the requests of each URL that was asked for more than once, robots.txt and second looks apart."""
    asked: dict[str, list[Visited]] = {}
    for visited in log:
        if not (visited.is_second_look or visited.url.endswith("/robots.txt")):
            asked.setdefault(visited.url, []).append(visited)
    return {url: visits for url, visits in asked.items() if len(visits) > 1}


def hurried(log: Iterable[Visited], rest_s: float) -> list[tuple[Visited, Visited]]:
    """Return the pairs of requests to a site whose second began sooner than `rest_s` after the first had ended."""
    pairs, last = [], dict[str, Visited]()
    for visited in log:
        site = urlsplit(visited.url).netloc
        before = last.get(site)
        if before is not None and visited.began_at < before.ended_at + rest_s - 1e-6:
            pairs.append((before, visited))
        last[site] = visited
    return pairs


def holders_of(nodes: Iterable[SimNode]) -> Mapping[Slot, list[str]]:
    """Return the names of those who may crawl each leased slot at this moment."""
    found: dict[Slot, list[str]] = {}
    for node in nodes:
        for slot in node.overlay.view.leases():
            found.setdefault(slot, []).append(node.name)
    return found


def is_idle(nodes: Sequence[SimNode]) -> bool:
    """Tell whether every slot is leased, and no crawler has anything due or open."""
    slots = 1 << nodes[0].overlay.view.strategy.slot_bits
    if len(holders_of(nodes)) < slots:
        return False
    return all(not (status := node.node_core.crawl.crawler.status()).open and not status.waiting for node in nodes)


def is_settled(nodes: Sequence[SimNode]) -> bool:
    """Tell whether every node says that its teams hold and have indexed the same."""
    return all(node.node_core.levels.are_alike() for node in nodes)
