"""No candidate scores above its ceiling, and ceilings are lower than what the engine alone tells."""

import random

import index_corpus as corpus
import pytest
import tantivy

from dht import Slot
from index import IndexConfig
from index.change_feed import DocumentChange
from index.engine.index_files import IndexFiles
from index.engine.protocol import Scale
from index.errors import IndexCorrupt
from index.query.collection_statistics import Statistics
from index.query.parser import parse_query
from index.query.scoring import Scorer, max_proximity, measure
from index.shard.ceilings import Ceilings
from index.text.forward_index import decode_forward

BITS = 4
SLOTS = frozenset(map(Slot, range(1 << BITS)))
PHRASES = ['"running dogs" python', 'x-ray "search engine" peer', "datenbank databases", "python python-search index"]


@pytest.mark.parametrize("seed", range(2))
def test_no_candidate_scores_above_its_ceiling(seed: int) -> None:
    files = IndexFiles(IndexConfig(), None)
    texts = corpus.web(random.Random(seed), 300)
    files.apply([DocumentChange(text.id, text) for text in texts], b"")
    looked_at, loosely, closely = 0, 0.0, 0.0
    for words in [*corpus.QUERIES, *PHRASES]:
        query = parse_query(words)
        df = tuple(files.engine.counts(leaf, BITS).total for leaf in query.leaves)
        totals = [files.totals.at(BITS)[slot] for slot in files.totals.at(BITS)]
        lengths = [sum(each.lengths[field] for each in totals) for field in range(4)]
        scorer = Scorer(query, Statistics(files.documents, (lengths[0], lengths[1], lengths[2], lengths[3]), df))
        scale = Scale(scorer.weights, scorer.average, is_loose=True)
        found = files.engine.candidates(query, SLOTS, BITS, scale, 1000)
        ceilings = Ceilings(query, scorer)
        parts = [slice(start, start + 50) for start in range(0, len(found.numbers), 50)]
        most = [each for part in parts for each in ceilings.of(found, found.bounds, part)]
        records = {row.number: row.record for row in files.table.rows(found.numbers)}
        for number, bound, ceiling in zip(found.numbers, found.bounds, most, strict=True):
            assert scorer.score(measure(decode_forward(records[number]), query)) <= ceiling, (words, number)
            looked_at, loosely, closely = looked_at + 1, loosely + bound * max_proximity(query), closely + ceiling
    assert looked_at > 1000
    assert closely < 0.95 * loosely


def test_columns_that_cannot_be_read_say_that_the_index_is_damaged() -> None:
    files = IndexFiles(IndexConfig(), None)
    texts = corpus.web(random.Random(1), 20)
    files.apply([DocumentChange(text.id, text) for text in texts], b"")
    query = parse_query("python")
    scorer = Scorer(query, Statistics(20, (100, 100, 100, 100), (5,)))
    found = files.engine.candidates(query, SLOTS, BITS, Scale(scorer.weights, scorer.average), 10)
    assert found.columns and found.columns.traits(slice(0, 1))
    found.columns._places[0] = tantivy.DocAddress(99, 0)  # type: ignore[attr-defined]
    with pytest.raises(IndexCorrupt):
        found.columns.traits(slice(0, 1))
