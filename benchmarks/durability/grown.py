"""Grows a network of whole nodes in virtual time with documents on its disks, and counts copies and what is moved.

Pages have a filler that hardly shrinks, so that bytes on the wire are bytes of documents. All of it is crawled, and
nothing is fetched from the web any more, so whatever is moved is old.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from crawl import VisitState
from dht import DocumentId
from node.extras.simulation.census import FIRST, LAST, is_idle, is_settled
from node.extras.simulation.sim_node import STORE, SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Kind
from store.record.package import pack

CARRIERS = ("FetchRecords", "PutPackage")  # messages that carry records
FORMED_S, REST_S, SETTLED_S = 10.0, 60.0, 1800.0


def plan(
    seed: int, documents: int, filler_bytes: int, *, slot_bits: int = 4, bytes_s: float | None = None
) -> WorldPlan:
    """Plan a web of so many pages on sites of ten. `bytes_s`: what hand-overs may take; None: as by default."""
    store = STORE if bytes_s is None else replace(STORE, handover_bytes_s=bytes_s)
    hosts = max(1, documents // 10)
    return WorldPlan(seed, hosts, 10, slot_bits=slot_bits, filler_bytes=filler_bytes, store=store)


async def grow(world: World, count: int) -> list[SimNode]:
    """Start stable nodes, have them crawl all there is, and stop fetching; return them when their copies are alike."""
    nodes = await world.add(count)
    await world.pass_time(FORMED_S)
    await world.crawl()
    wanted = {url for url, state in world.web.outcomes().items() if state != VisitState.REFUSED}

    def is_crawled() -> bool:
        return is_idle(nodes) and is_settled(nodes) and wanted <= {visited.url for visited in world.log}

    await world.until(is_crawled, SETTLED_S, 5.0)
    for node in nodes:
        node.node_core.fetching.pause.pause()
    await world.pass_time(REST_S)
    return nodes


def documents_of(nodes: Iterable[SimNode]) -> dict[DocumentId, int]:
    """Return the bytes of each document, packed alone."""
    sizes = dict[DocumentId, int]()
    for node in nodes:
        for record in node.node_core.store.records.scan(Kind.DOCUMENT, FIRST, LAST, content=True):
            if record.id not in sizes:
                sizes[record.id] = len(pack([record]))
    return sizes


def copies(nodes: Collection[SimNode], documents: Iterable[DocumentId]) -> dict[DocumentId, int]:
    """Return at how many of the nodes each document lies."""
    stores = [node.node_core.store.records for node in nodes]
    return {each: sum(s.find_version(Kind.DOCUMENT, each) is not None for s in stores) for each in documents}


def stored_bytes(nodes: Collection[SimNode], sizes: Mapping[DocumentId, int]) -> int:
    """Return the bytes of all copies of all documents."""
    return sum(sizes[each] * count for each, count in copies(nodes, sizes).items())


def received(world: World) -> Counter[str]:
    """Return the bytes of messages with records that each node got so far, requests for records among them."""
    found = Counter[str]()
    for (name, message), size in world.wire.received.items():
        if message in CARRIERS:
            found[name] += size
    return found
