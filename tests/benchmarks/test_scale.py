"""The model of large networks agrees with what is simulated of small ones, and the directory's figures are what they
say."""

import random
import xml.etree.ElementTree as ET

import numpy as np

from benchmarks.figures import Row
from benchmarks.overlay.lookups import looked_up
from benchmarks.scale.cells import HOST_BITS, Cells, by_host, by_slot
from benchmarks.scale.checks import peers_planned
from benchmarks.scale.corpus import BEST, Corpus
from benchmarks.scale.drawing import draw
from benchmarks.scale.fan_out import ask_in_waves, covered_share
from benchmarks.scale.goals import MODEL_ERROR, NODE_MB
from benchmarks.scale.lookup_model import ModelNetwork
from benchmarks.scale.network import measure
from benchmarks.scale.node_cost import idle_share, known_owner_share
from benchmarks.scale.query_model import WAVES, by_directory, today
from benchmarks.scale.row_sizes import made_up_bytes, node_mb
from benchmarks.scale.selection import ask_all
from benchmarks.search.known_rules import KnownItem
from index import SearchOracle
from index.directory.slot_choice import WaveSizes
from index.engine.matcher import matches
from index.query.parser import parse_query
from index.query.scoring import score
from index.text.forward_index import forward_of
from node.extras.simulation.loop import SimLoop
from tests.index.index_corpus import web


def test_the_model_of_lookups_and_of_the_cover_agrees_with_the_simulator() -> None:
    modelled, simulated = ModelNetwork(80, 1).look_up(60), looked_up(1, 60, nodes=80)
    assert abs(modelled.quantile(0.5) / simulated.p50 - 1) < MODEL_ERROR
    assert abs(modelled.quantile(0.95) / simulated.p95 - 1) < MODEL_ERROR
    assert abs(covered_share(60, 1) * 60 / peers_planned(60) - 1) < MODEL_ERROR


def test_a_larger_network_needs_more_steps_and_no_more_peers_by_the_directory() -> None:
    small, large = (ModelNetwork(nodes, 1).look_up(10) for nodes in (200, 100_000))
    assert small.hops < large.hops < 2 * small.hops + 2
    near, far = (ask_in_waves(nodes, 32, 1, is_known=False, trials=20) for nodes in (200, 100_000))
    assert near.peers < far.peers < 40
    assert by_directory([far] * len(WAVES), 1).p95_ms < today(300, 1).p95_ms < today(3_000, 1).p95_ms
    assert known_owner_share(4_000) == 1 > known_owner_share(100_000) > known_owner_share(1_000_000)
    assert idle_share(1_000) < 0.01 < idle_share(1_000_000)


def test_a_wave_is_quicker_where_it_is_known_who_is_quick() -> None:
    known, unknown = (ask_in_waves(1_000, 32, 1, is_known=is_known, trials=40) for is_known in (True, False))
    assert known.took_ms.mean() < 0.8 * unknown.took_ms.mean()
    assert known.peers < 1.15 * unknown.peers


def test_documents_are_ranked_as_by_looking_at_all() -> None:
    texts = web(random.Random(1), 60)
    queries = [parse_query(words) for words in ("run dogs", "utf-8 x-ray", "search -engine", "北京大学", "nowhere")]
    corpus, forwards = Corpus(texts, queries, 0), list(map(forward_of, texts))
    for query in queries:
        ranked = corpus.ranked(query)
        assert ranked.statistics == SearchOracle(texts).search(query.text).statistics
        pairs = [each for each in zip(texts, forwards, strict=True) if matches(query.root, *each)]
        exact = sorted((-score(forward, query, ranked.statistics).score, text.id) for text, forward in pairs)
        found = ranked.best(np.ones(len(texts), np.bool_))
        assert [(-each.score, each.id) for each in found] == exact[:BEST], query.text


def test_asking_more_cells_finds_more_until_it_is_proven() -> None:
    words = ("run dogs", "search engine peer", "naïve index", "utf-8 search")
    items = [KnownItem("title", each, frozenset(), "h") for each in words]
    corpus = Corpus(web(random.Random(1), 90), list(map(parse_query, words)))
    for bits, place in ((HOST_BITS, by_host), (6, by_slot(corpus.texts, 6))):
        cells = Cells(corpus, bits, place)
        few, all_ = (ask_all(corpus, cells, items, WaveSizes(2, count, count)) for count in (2, 1 << bits))
        assert all(each.recall == 1 and each.is_proven for each in all_)
        assert all(few[n].slots <= 2 and few[n].recall <= 1 for n in range(len(words)))
        assert sum(each.recall for each in few) < 3 and cells.used > 2


def test_rows_of_a_large_network_fit_a_node() -> None:
    assert 15 < (row_bytes := made_up_bytes()) < 40
    assert node_mb(row_bytes) < NODE_MB


def test_a_drawing_has_a_line_for_each_series() -> None:
    drawn = draw({"a < b": {"one": [(1e3, 2.0), (1e6, 300.0)], "two": [(1e3, 0.01), (1e6, 0.5)]}}, "a title")
    lines = [each for each in ET.fromstring(drawn).iter() if each.tag.endswith("polyline")]
    assert len(lines) == 2


def test_a_network_is_asked_by_the_directory_and_by_both_rounds() -> None:
    found = list[Row]()
    SimLoop().run(measure(8, web(random.Random(1), 12), ["run", "dogs python", "peer", "naïve index"], found))
    figures = {each.what.partition(": ")[2]: each for each in found}
    assert figures["said to be proven, and another ten than by both rounds"].ours == 0
    assert figures["proven"].ours > 0.5
    assert figures["warm rows, p50"].ours < figures["warm rows, p50"].peer
    assert figures["warm rows, peers first"].ours < figures["warm rows, peers first"].peer
