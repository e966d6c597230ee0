"""What is found in a record is what a plain reading of it finds, term by term and phrase by phrase."""

import random

import index_corpus as corpus

from index.query.leaf import Leaf, phrase_of, term_of
from index.query.scoring import occurrences
from index.shard.top_hits import LeafFinder
from index.text.forward_index import forward_of


def test_every_leaf_is_found_where_a_plain_reading_finds_it() -> None:
    chance = random.Random(3)
    texts = corpus.web(chance, 60)
    words = sorted({word for text in texts for word in text.body.split() if word.isalpha()})
    leaves: list[Leaf] = [term_of(word) for word in chance.sample(words, min(len(words), 12))]
    pairs = [text.body.split()[place : place + 2] for text in texts[:12] for place in (0, 3)]
    leaves += [phrase_of(*pair, joined="".join(pair)) for pair in pairs if len(pair) == 2]
    leaves += [phrase_of(*pair) for pair in pairs if len(pair) == 2] + [term_of("absent"), phrase_of("absent", "also")]
    finder, seen = LeafFinder(leaves), 0
    for forward in map(forward_of, texts):
        found, may_have = finder.find(forward)
        expected = [occurrences(forward, leaf) for leaf in leaves]
        assert finder.positions(forward, found) == expected
        assert not any(where for where, has in zip(expected, may_have, strict=True) if not has)
        seen += sum(map(bool, expected))
    assert seen > len(texts)
