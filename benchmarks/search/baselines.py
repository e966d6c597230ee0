"""Ranks with other people's engines: tantivy, bm25s and Whoosh, all by BM25 over the terms that `plain_terms` cuts.

Every word of a query is wished, a word said twice counts twice. Parameters are each library's own defaults: tantivy and
Whoosh k1 = 1.2, b = 0.75; bm25s k1 = 1.5, b = 0.75, Lucene's formula. A library that is not installed is left out.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from benchmarks.search.measures import DEPTH

Rank = Callable[[Sequence[str]], list[int]]  # terms of a query to the places of the best documents


def baselines(documents: Sequence[Sequence[str]]) -> dict[str, Rank]:
    """Return by name how each installed library ranks these documents, which are lists of terms."""
    makers = {"tantivy": _tantivy, "bm25s": _bm25s, "whoosh": _whoosh}
    return {name: make(documents) for name, make in makers.items() if find_spec(name)}


def missing() -> list[str]:
    """Return the libraries that are not installed here."""
    return [name for name in ("tantivy", "bm25s", "whoosh") if not find_spec(name)]


def _tantivy(documents: Sequence[Sequence[str]]) -> Rank:
    import tantivy

    build = tantivy.SchemaBuilder()
    build.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    build.add_unsigned_field("place", fast=True)
    schema = build.build()
    index = tantivy.Index(schema)
    writer = index.writer(64_000_000, 1)
    for place, terms in enumerate(documents):
        document = tantivy.Document()
        document.add_text("text", " ".join(terms))
        document.add_unsigned("place", place)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def rank(terms: Sequence[str]) -> list[int]:
        words = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term)) for term in terms]
        hits = searcher.search(tantivy.Query.boolean_query(words), DEPTH).hits if words else []
        return list(searcher.fast_field_values("place", [address for _, address in hits]))

    return rank


def _bm25s(documents: Sequence[Sequence[str]]) -> Rank:
    import bm25s

    index = bm25s.BM25()
    index.index([list(terms) for terms in documents], show_progress=False)

    def rank(terms: Sequence[str]) -> list[int]:
        known = [term for term in terms if term in index.vocab_dict]
        if not known:
            return []
        depth = min(DEPTH, len(documents))
        found, scores = index.retrieve([known], k=depth, show_progress=False)
        return [int(place) for place, score in zip(found[0], scores[0], strict=True) if score > 0]

    return rank


def _whoosh(documents: Sequence[Sequence[str]]) -> Rank:
    from whoosh.analysis import SpaceSeparatedTokenizer
    from whoosh.fields import STORED, TEXT, Schema
    from whoosh.filedb.filestore import RamStorage
    from whoosh.query import Or, Term

    schema = Schema(text=TEXT(analyzer=SpaceSeparatedTokenizer(), phrase=False), place=STORED)
    index = RamStorage().create_index(schema)
    writer = index.writer()
    for place, terms in enumerate(documents):
        writer.add_document(text=" ".join(terms), place=place)
    writer.commit()
    searcher = index.searcher()

    def rank(terms: Sequence[str]) -> list[int]:
        wished = Or([Term("text", term, boost=count) for term, count in Counter(terms).items()])
        return [hit["place"] for hit in searcher.search(wished, limit=DEPTH)] if terms else []

    return rank


def tantivy_fields(documents: Sequence[tuple[Sequence[str], Sequence[str]]], *, demand: bool) -> Rank:
    """Return how tantivy ranks documents of a title and all their text, each a field of its own; a word may stand in
    either. `demand`: all words must occur (AND)."""
    import tantivy

    build = tantivy.SchemaBuilder()
    for name in ("title", "text"):
        build.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    build.add_unsigned_field("place", fast=True)
    schema = build.build()
    index = tantivy.Index(schema)
    writer = index.writer(64_000_000, 1)
    for place, (title, text) in enumerate(documents):
        document = tantivy.Document()
        document.add_text("title", " ".join(title))
        document.add_text("text", " ".join(text))
        document.add_unsigned("place", place)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher, occur = index.searcher(), tantivy.Occur.Must if demand else tantivy.Occur.Should

    def anywhere(term: str) -> tantivy.Query:
        found = [tantivy.Query.term_query(schema, name, term) for name in ("title", "text")]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in found])

    def rank(terms: Sequence[str]) -> list[int]:
        if not terms:
            return []
        hits = searcher.search(tantivy.Query.boolean_query([(occur, anywhere(term)) for term in terms]), DEPTH).hits
        return list(searcher.fast_field_values("place", [address for _, address in hits]))

    return rank
