"""Whatever is typed gets an answer, soon, on every engine."""

import random
import time
from collections.abc import Callable
from typing import Any

import index_corpus as corpus
import pytest
from index_network import World

from index.config import IndexConfig
from index.query.search_request import SearchRequest

ODD = {
    "a megabyte": "python " * 150_000,
    "one word of a megabyte": "x" * 1_000_000,
    "parentheses": "(" * 2000 + "dogs" + ")" * 2000,
    "open parentheses": "(dogs OR " * 200,
    "wildcards": "dat* " * 10_000,
    "wildcards alone": "* " * 10_000,
    "fuzzy words": "".join(f"pyth{chr(97 + n)}n~ " for n in range(26)),
    "half characters": "dogs \ud800\udfff \udcff python",
    "marks from right to left": "\u202edogs\u200f \u2066python\u2069 \u061c",
    "nothing that is seen": "\u200b\u200d\ufeff\u2060",
    "the year 1000000": "before:1000000 after:999999-12-31 dogs",
    "odd dates": "before:0000 after:2024-13-45 before:-5 after:٢٠٢٤ dogs",
    "all signs": '+-|()"*~:' * 100,
    "filters": "site:a.b " * 200,
    "exclusions alone": "-dogs " * 100,
    "combining marks": "e" + "\u0301" * 5000,
    "null bytes": "do\0gs\0*",
}


@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
async def test_odd_queries_are_answered_soon(make_world: Callable[..., World], engine: Any) -> None:
    rng = random.Random(7)
    world = make_world(rng, 2, 1, IndexConfig(engine=engine, commit_s=0.0, writer_heap_bytes=15_000_000))
    await world.put(corpus.web(rng, 40))
    for name, text in ODD.items():
        for by_date in (False, True):
            began = time.process_time()
            asked = SearchRequest(text, deadline_ms=20_000, is_by_date=by_date)
            answer = await world.nodes[0].searcher.search(asked)
            assert not answer["partial"], name
            assert time.process_time() - began < 5.0, name
            answer["query"].encode()
