"""Asks all slots, or few, of networks of fifty nodes and more on virtual time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.figures import Row, row
from benchmarks.scale.light_network import LightNetwork, LightNode
from benchmarks.scale.strongest_terms import CELL_BITS, Corpus
from benchmarks.search.figure import figure
from benchmarks.search.known_rules import known_items
from benchmarks.search.web_pages import read_web
from dht import NodeId, Topic
from dht.audit.sampling import FIRST
from index import SearchRequest, Text
from index.query.parser import parse_query
from node.extras.simulation.loop import SimLoop
from node.extras.simulation.observations import REPLICAS

PAGES, QUICK_PAGES = 600, 100
KINDS = ("title", "anchor", "body")
QUERIES, QUICK_QUERIES = 10, 5  # of a kind
LEARNING = 0.4  # of the queries are asked while all peers are new: the asker learns how long they take
TERMS = 1_000  # of a cell in the table


@dataclass(frozen=True, slots=True)
class Trial:
    """One network.

    `copies`: nodes that answer for each slot.
    `slow_share`: of the peers.
    `cells`: of 64, that are asked; 0: all.
    `is_checked`: whether known peers are checked by lot before the asker answers."""

    nodes: int
    copies: int = REPLICAS
    slow_share: float = 0.0
    cells: int = 0
    is_checked: bool = True

    def __str__(self) -> str:
        copies = f", {self.copies} copies" * (self.copies != REPLICAS)
        slow = f", {self.slow_share:.0%} slow" * bool(self.slow_share)
        cells = f", {self.cells} of 64 cells" * bool(self.cells)
        return f"{self.nodes:,} nodes{copies}{slow}{cells}" + ", no checks" * (not self.is_checked)


SLOW, LARGE, LARGEST = 0.02, 300, 1_000
QUICK_TRIALS = (Trial(20), Trial(20, slow_share=0.1), Trial(20, is_checked=False), Trial(20, cells=4))
TRIALS = (
    *(Trial(nodes, slow_share=share) for nodes in (50, LARGE) for share in (0.0, SLOW)),
    *(Trial(LARGE, copies, share, is_checked=False) for copies in (REPLICAS, 6, 12) for share in (0.0, SLOW)),
    *(Trial(LARGE, cells=cells, is_checked=False) for cells in (4, 16)),
    *(Trial(LARGEST), Trial(LARGEST, is_checked=False), Trial(LARGEST, 12, is_checked=False)),
)


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of one query. `took_ms`: virtual; `peers`: of the first round; `cpu_ms`: of all nodes."""

    took_ms: float
    peers: int
    messages: int
    cpu_ms: float
    is_one_round: bool
    is_exact: bool
    urls: tuple[str, ...]


def rows(web: Path, *, is_quick: bool) -> list[Row]:
    """Return the figures of networks of some sizes."""
    pages, chance = read_web(web), Random(1)
    words = [each.words for each in known_items(pages, chance, QUICK_QUERIES if is_quick else QUERIES, KINDS)]
    chance.shuffle(words)
    texts = [page.text for page in pages]
    some = chance.sample(texts, min(QUICK_PAGES if is_quick else PAGES, len(texts)))
    found = list[Row]()
    for trial in QUICK_TRIALS if is_quick else TRIALS:
        SimLoop().run(measure(trial, some, words, found))
    return found


async def measure(trial: Trial, texts: Sequence[Text], words: Sequence[str], out: list[Row]) -> None:
    """Have a network hold some documents and ask it: while all peers are new to the asker, for other new words, and for
    all of these words again. Append the figures. Only known words are asked of few cells."""
    copies, slow_share, is_checked = trial.copies, trial.slow_share, trial.is_checked
    network = LightNetwork(trial.nodes, 1, copies=copies, slow_share=slow_share, is_checked=is_checked)
    began = time.process_time()
    await network.put(texts)
    put_ms = 1e3 * (time.process_time() - began)
    asker, what = network.nodes[0], f"{trial}, {len(texts):,} pages"
    learning = int(len(words) * LEARNING)
    before = [await _ask(network, asker, query) for query in words[:learning]]
    _trust(asker, network.ids)
    new = [await _ask(network, asker, query) for query in words[learning:]]
    corpus, known = Corpus(texts if trial.cells else ()), list[Answered]()
    for query in words:
        if trial.cells:
            _ask_cells(network, corpus, query, trial.cells)
        known.append(await _ask(network, asker, query))
    for name, asked in (("new peers", before), ("new words", new), ("known words", known)):
        out += _rows(f"{what}: {name}", asked)
    if trial.cells:
        pairs = zip([*before, *new], known, strict=True)
        recall = [len({*few.urls} & {*every.urls}) / len(every.urls) for every, few in pairs if every.urls]
        out.append(figure(f"{what}: known words, of the results of all", recall))
    out.append(row(f"{what}: CPU of indexing a page, all copies", [put_ms / len(texts)], "ms"))


def _trust(asker: LightNode, peers: tuple[NodeId, ...]) -> None:
    """Have an asker check its peers by lot, as after a day: the first answers of each are all checked."""
    for topic in (Topic.STATISTICS, Topic.HITS):
        for peer in peers * FIRST[topic]:
            asker.searcher.audit.sampling.count(peer, topic)


def _rows(what: str, asked: Sequence[Answered]) -> list[Row]:
    quantiles = np.quantile([each.took_ms for each in asked], (0.5, 0.95))
    return [
        row(f"{what}, p50", [float(quantiles[0])], "ms"),
        row(f"{what}, p95", [float(quantiles[1])], "ms"),
        row(f"{what}, peers of a round", [fmean(each.peers for each in asked)], ""),
        row(f"{what}, messages", [fmean(each.messages for each in asked)], ""),
        row(f"{what}, CPU of all nodes", [fmean(each.cpu_ms for each in asked) / 1e3], "s"),
        figure(f"{what}, with one round", [each.is_one_round for each in asked]),
        figure(f"{what}, exact", [each.is_exact for each in asked]),
    ]


def _ask_cells(network: LightNetwork, corpus: Corpus, query: str, cells: int) -> None:
    """Have only those cells asked that a table of their strongest terms chooses."""
    table = [dict(strong[:TERMS]) for strong in corpus.strong]
    chosen = corpus.choose(parse_query(query), table)[:cells]
    to_cell = network.strategy.slot_bits - CELL_BITS
    network.ask_only({slot for slot in range(len(network.owners)) if slot >> to_cell in chosen})


async def _ask(network: LightNetwork, asker: LightNode, query: str) -> Answered:
    network.asked.clear()
    began = time.process_time()
    answer = await asker.searcher.search(SearchRequest(query))
    cpu_ms = 1e3 * (time.process_time() - began)
    start_at = network.asked[0][2] if network.asked else 0.0
    first = {peer for peer, _, at in network.asked if at == start_at}
    is_one_round = all(name != "AskStatistics" for _, name, _ in network.asked)
    urls = tuple(each["url"] for each in answer["results"])
    return Answered(answer["took_ms"], len(first), len(network.asked), cpu_ms, is_one_round, answer["exact"], urls)
