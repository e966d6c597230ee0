"""Asks a network of a hundred nodes and more on virtual time, by the directory and by both rounds."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.figures import Row, row
from benchmarks.scale import goals
from benchmarks.scale.extent import Extent
from benchmarks.scale.light_network import LightNetwork, LightNode
from benchmarks.scale.reading import read_pages
from benchmarks.scale.selection import KINDS, three_words
from benchmarks.search.figure import figure
from benchmarks.search.known_rules import known_items
from index import SearchRequest, Text
from index.directory.slot_choice import FIRST_SLOTS
from index.shard.impact_teller import TELL_S
from node.extras.simulation.loop import SimLoop

SIZES, QUICK_SIZES = (100, 300), (20,)
PAGES, QUICK_PAGES = 600, 100
QUERIES, QUICK_QUERIES = 25, 5  # of a kind
LEARNING = 0.4  # of the queries are asked before anything is counted: the asker learns how long its peers take
DEADLINE_MS = 1_500
QUIET_NODES = 3  # that tell again, though nothing changed


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one query. `took_ms`: virtual; `first`: peers asked at the start, `peers`: asked in all;
    `cpu_ms`: of all nodes."""

    took_ms: float
    first: int
    peers: int
    cpu_ms: float
    found: tuple[str, ...]
    is_proven: bool
    slots: int


def rows(extent: Extent) -> list[Row]:
    """Return the figures of networks of some sizes."""
    pages = read_pages(extent.web)
    most = QUICK_QUERIES if extent.quick else QUERIES
    words = [each.words for each in three_words(known_items(pages, Random(1), most, KINDS))]
    Random(1).shuffle(words)
    texts = [page.text for page in pages]
    count = QUICK_PAGES if extent.quick else PAGES
    some = Random(1).sample(texts, min(count, len(texts)))
    found = list[Row]()
    for nodes in QUICK_SIZES if extent.quick else SIZES:
        loop = SimLoop()
        loop.run(measure(nodes, some, words, found))
    return found


async def measure(nodes: int, texts: Sequence[Text], words: Sequence[str], out: list[Row]) -> None:
    """Have a network hold some documents, ask it, and append its figures."""
    network = LightNetwork(nodes, 1)
    await network.put(texts)
    began = time.process_time()
    await network.tell()
    tell_s, told = time.process_time() - began, sum(node.teller.sent_bytes for node in network.nodes)
    quiet = await _told_again(network)
    asker, cold, warm, full = network.nodes[0], list[Answered](), list[Answered](), list[Answered]()
    for query in words:
        cold.append(await _ask(network, asker, SearchRequest(query, deadline_ms=DEADLINE_MS)))
        warm.append(await _ask(network, asker, SearchRequest(query, deadline_ms=DEADLINE_MS)))
        full.append(await _ask(network, asker, SearchRequest(query, deadline_ms=DEADLINE_MS, every_slot=True)))
    what, begin = f"{nodes:,} nodes, {len(texts):,} pages", int(len(words) * LEARNING)
    out += _rows(what, cold[begin:], warm[begin:], full[begin:])
    out.append(row(f"{what}: told of all, a node", [told / nodes / 1e3], "kB"))
    out.append(row(f"{what}: telling all, CPU a node and keeper", [1e3 * tell_s / nodes / nodes], "ms"))
    out.append(row(f"{what}: told each {TELL_S:.0f} s where nothing changed, a node", [quiet / TELL_S], "B/s"))


async def _told_again(network: LightNetwork) -> float:
    """The bytes that a node sends in one telling of no news, mean of some."""
    await asyncio.sleep(TELL_S)
    some = network.nodes[:QUIET_NODES]
    before = [node.teller.sent_bytes for node in some]
    for node in some:
        while await node.teller.advance():
            pass
    return fmean(node.teller.sent_bytes - sent for node, sent in zip(some, before, strict=True))


async def _ask(network: LightNetwork, asker: LightNode, request: SearchRequest) -> Answered:
    network.asked.clear()
    began = time.process_time()
    answer = await asker.searcher.search(request)
    cpu_ms = 1e3 * (time.process_time() - began)
    start_at = {name: at for _, name, at in reversed(network.asked)}  # when each kind of question was asked first
    first = {peer for peer, name, at in network.asked if at == start_at[name]}
    course = answer["directory"] or {"proven": answer["exact"], "slots_asked": answer["coverage"]["slots"]}
    found = tuple(each["url"] for each in answer["results"])
    peers = len({peer for peer, _, _ in network.asked})
    return Answered(answer["took_ms"], len(first), peers, cpu_ms, found, course["proven"], course["slots_asked"])


def _rows(what: str, cold: Sequence[Answered], warm: Sequence[Answered], full: Sequence[Answered]) -> list[Row]:
    out = list[Row]()
    for name, some, goal in (("cold", cold, goals.COLD_MS), ("warm", warm, goals.WARM_MS)):
        for share, most in zip((0.5, 0.95), goal, strict=True):
            ours, theirs = (float(np.quantile([each.took_ms for each in one], share)) for one in (some, full))
            out.append(row(f"{what}: {name} rows, p{share * 100:.0f}", [ours], "ms", goal=most, peer=[theirs]))
        ours, theirs = (fmean(each.cpu_ms for each in one) / 1e3 for one in (some, full))
        out.append(row(f"{what}: {name} rows, CPU", [ours], "s", goal=goals.QUERY_CPU_S, peer=[theirs]))
        first, every = fmean(each.first for each in some), fmean(each.first for each in full)
        out.append(row(f"{what}: {name} rows, peers first", [first], "", goal=goals.PEERS_FIRST, peer=[every]))
    recalls = [_recall(each.found, exact.found) for each, exact in zip(warm, full, strict=True)]
    out.append(figure(f"{what}: recall of the ten by both rounds", recalls))
    out.append(figure(f"{what}: proven", [each.is_proven for each in warm]))
    out.append(figure(f"{what}: a second wave", [each.slots > FIRST_SLOTS for each in warm]))
    wrong = [each.is_proven and each.found != exact.found for each, exact in zip(warm, full, strict=True)]
    out.append(row(f"{what}: said to be proven, and another ten than by both rounds", [float(sum(wrong))], "queries"))
    return out


def _recall(found: Sequence[str], exact: Sequence[str]) -> float:
    return len({*found} & {*exact}) / len(exact) if exact else 1.0
