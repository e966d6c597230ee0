"""Asks all slots of networks of a hundred nodes and more on virtual time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.figures import Row, row
from benchmarks.scale.light_network import LightNetwork, LightNode
from benchmarks.search.figure import figure
from benchmarks.search.known_rules import known_items
from benchmarks.search.web_pages import read_web
from index import SearchRequest, Text
from node.extras.simulation.loop import SimLoop

SIZES, QUICK_SIZES = (100, 300), (20,)
PAGES, QUICK_PAGES = 600, 100
KINDS = ("title", "anchor", "body")
QUERIES, QUICK_QUERIES = 25, 5  # of a kind
LEARNING = 0.4  # of the queries come before anything is counted: the asker learns how long its peers take
DEADLINE_MS = 1_500


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of one query. `took_ms`: virtual; `first`: peers of the first round; `cpu_ms`: of all nodes."""

    took_ms: float
    first: int
    cpu_ms: float
    is_exact: bool


def rows(web: Path, *, is_quick: bool) -> list[Row]:
    """Return the figures of networks of some sizes."""
    pages, chance = read_web(web), Random(1)
    words = [each.words for each in known_items(pages, chance, QUICK_QUERIES if is_quick else QUERIES, KINDS)]
    chance.shuffle(words)
    texts = [page.text for page in pages]
    some = chance.sample(texts, min(QUICK_PAGES if is_quick else PAGES, len(texts)))
    found = list[Row]()
    for nodes in QUICK_SIZES if is_quick else SIZES:
        SimLoop().run(measure(nodes, some, words, found))
    return found


async def measure(nodes: int, texts: Sequence[Text], words: Sequence[str], out: list[Row]) -> None:
    """Have a network hold some documents, ask it, and append its figures."""
    network = LightNetwork(nodes, 1)
    await network.put(texts)
    asked = [await _ask(network, network.nodes[0], query) for query in words]
    what, counted = f"{nodes:,} nodes, {len(texts):,} pages", asked[int(len(words) * LEARNING) :]
    for share in (0.5, 0.95):
        took_ms = float(np.quantile([each.took_ms for each in counted], share))
        out.append(row(f"{what}: a query, p{share * 100:.0f}", [took_ms], "ms"))
    out.append(row(f"{what}: peers of a round", [fmean(each.first for each in counted)], ""))
    out.append(row(f"{what}: CPU of a query, all nodes", [fmean(each.cpu_ms for each in counted) / 1e3], "s"))
    out.append(figure(f"{what}: exact", [each.is_exact for each in counted]))


async def _ask(network: LightNetwork, asker: LightNode, query: str) -> Answered:
    network.asked.clear()
    began = time.process_time()
    answer = await asker.searcher.search(SearchRequest(query, deadline_ms=DEADLINE_MS))
    cpu_ms = 1e3 * (time.process_time() - began)
    start_at = network.asked[0][2] if network.asked else 0.0
    first = {peer for peer, _, at in network.asked if at == start_at}
    return Answered(answer["took_ms"], len(first), cpu_ms, answer["exact"])
