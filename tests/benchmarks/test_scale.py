"""The model of large networks agrees with what is simulated of small ones, and the directory's figures are what they
say."""

import random
import xml.etree.ElementTree as ET

from benchmarks.overlay.lookups import looked_up
from benchmarks.scale.cells import HOST_BITS, Cells, Corpus, by_host, by_slot
from benchmarks.scale.checks import peers_planned
from benchmarks.scale.drawing import draw
from benchmarks.scale.fan_out import covered_share, peers_of
from benchmarks.scale.goals import MODEL_ERROR, NODE_MB
from benchmarks.scale.lookup_model import ModelNetwork
from benchmarks.scale.node_cost import idle_share, known_owner_share
from benchmarks.scale.query_model import by_directory, today
from benchmarks.scale.row_sizes import made_up_bytes, node_mb
from benchmarks.scale.selection import ask_all
from benchmarks.search.known_rules import KnownItem
from tests.index.index_corpus import web


def test_the_model_of_lookups_and_of_the_cover_agrees_with_the_simulator() -> None:
    modelled, simulated = ModelNetwork(80, 1).look_up(60), looked_up(1, 60, nodes=80)
    assert abs(modelled.quantile(0.5) / simulated.p50 - 1) < MODEL_ERROR
    assert abs(modelled.quantile(0.95) / simulated.p95 - 1) < MODEL_ERROR
    assert abs(covered_share(60, 1) * 60 / peers_planned(60) - 1) < MODEL_ERROR


def test_a_larger_network_needs_more_steps_and_no_more_peers_by_the_directory() -> None:
    small, large = (ModelNetwork(nodes, 1).look_up(10) for nodes in (200, 100_000))
    assert small.hops < large.hops < 2 * small.hops + 2
    assert peers_of(200, 32, 1) <= peers_of(100_000, 32, 1) <= 32
    assert by_directory(32, 1).p95_ms < today(300, 1).p95_ms < today(3_000, 1).p95_ms
    assert known_owner_share(4_000) == 1 > known_owner_share(100_000) > known_owner_share(1_000_000)
    assert idle_share(1_000) < 0.01 < idle_share(1_000_000)


def test_asking_more_cells_finds_more_until_it_is_proven() -> None:
    corpus = Corpus(web(random.Random(1), 90))
    items = [KnownItem("title", words, frozenset(), "h") for words in ("run dogs", "search engine peer", "naïve index")]
    for bits, place in ((HOST_BITS, by_host), (6, by_slot(corpus.texts, 6))):
        cells = Cells(corpus, bits, place)
        few, all_ = ask_all(corpus, cells, items, 2, 2), ask_all(corpus, cells, items, 2, 1 << bits)
        assert all(each.recall == 1 and each.is_proven for each in all_)
        assert all(few[n].slots <= 2 and few[n].recall <= 1 for n in range(3))
        assert sum(each.recall for each in few) < 3 and cells.used > 2


def test_rows_of_a_large_network_fit_a_node() -> None:
    assert 15 < (row_bytes := made_up_bytes()) < 40
    assert node_mb(row_bytes) < NODE_MB


def test_a_drawing_has_a_line_for_each_series() -> None:
    drawn = draw({"a < b": {"one": [(1e3, 2.0), (1e6, 300.0)], "two": [(1e3, 0.01), (1e6, 0.5)]}}, "a title")
    lines = [each for each in ET.fromstring(drawn).iter() if each.tag.endswith("polyline")]
    assert len(lines) == 2
