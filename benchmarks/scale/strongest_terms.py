"""Chooses which slots a query asks by a table of the strongest terms of each cell, and counts what that finds.

A cell is one of 64 equal ranges of slots. A host lies in one cell, unless it is so large that it is spread. A term's
impact on a document is what it adds to the score for each unit of idf. The table keeps of each cell the terms of
greatest impact: those of titles and addresses come first. Pure: documents and queries in, cells out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from benchmarks.figures import Row, row
from benchmarks.search.figure import figure
from benchmarks.search.judged_sets import read_set, set_folders
from benchmarks.search.known_rules import known_items
from benchmarks.search.web_pages import read_web
from crawl.content.language import guess_language
from dht import document_id, placement_key, slot_of
from index import Text
from index.engine.matcher import matches
from index.query.collection_statistics import Statistics, add
from index.query.leaf import Leaf, Phrase, Synonyms, forms_of
from index.query.parser import Query, parse_query
from index.query.scoring import K1, B, average_length, leaf_weights, score, weighted
from index.text.field_terms import analyse
from index.text.forward_index import by_field, forward_of, within_fields

CELL_BITS = 6
CELLS = 1 << CELL_BITS
BEST = 10
ASKED = (2, 4, 8, 16)  # of the 64 cells
KEPT = (100, 1_000, 1 << 30)  # terms of a cell; all
ENTRY_BYTES = 5  # four of a term's hash and one of its impact
OF_A_SET, OF_A_KIND, QUICK_QUERIES = 20, 100, 5  # queries
KINDS = ("title", "anchor", "body")
HOST_DOCUMENTS = 20  # that follow each other in a judged set: they stand for a host


class Corpus:
    """Documents in cells, and each cell's terms with their greatest impacts. `strong`: a cell's terms, the strongest
    first."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts, self._records = texts, list(map(forward_of, texts))
        self._cells = [slot_of(text.key, CELL_BITS) for text in texts]
        self._lengths = (0, 0, 0, 0)
        for record in self._records:
            self._lengths = add(self._lengths, record.lengths)
        self._holders = defaultdict[str, set[int]](set)
        impacts = [dict[str, float]() for _ in range(CELLS)]
        average = average_length(Statistics(len(texts), self._lengths, ()))
        for number, (text, record) in enumerate(zip(texts, self._records, strict=True)):
            norm, found = K1 * (1 - B + B * weighted(record.lengths) / average), impacts[self._cells[number]]
            for term in analyse(text).vocabulary:
                self._holders[term].add(number)
                tf = weighted(by_field(within_fields(record.positions(term))))
                found[term] = max(found.get(term, 0.0), tf / (tf + norm) if tf else 0.0)
        self.strong = [sorted(found.items(), key=_strength) for found in impacts]

    def choose(self, query: Query, tables: Sequence[dict[str, float]]) -> list[int]:
        """Return all cells, those first whose best document may have the greatest score by the tables."""
        weights = leaf_weights(query, self._statistics(query))
        pairs = list(zip(query.leaves, weights, strict=True))
        worth = [sum(weight * _impact(leaf, table) for leaf, weight in pairs) for table in tables]
        return sorted(range(CELLS), key=lambda cell: (-worth[cell], cell))

    def cells_of_best(self, query: Query) -> list[int]:
        """Return the cell of each of the best ten documents."""
        statistics, found = self._statistics(query), list[tuple[float, bytes, int]]()
        for number in self._holding(query.leaves):
            text, record = self._texts[number], self._records[number]
            if matches(query.root, text, record):
                found.append((-score(record, query, statistics).score, text.id, self._cells[number]))
        return [cell for _, _, cell in sorted(found)[:BEST]]

    def _statistics(self, query: Query) -> Statistics:
        """The sums of all documents, as an asker remembers them; those that have a phrase's words have it."""
        df = tuple([len(self._holding([leaf])) for leaf in query.leaves])
        return Statistics(len(self._texts), self._lengths, df)

    def _holding(self, leaves: Collection[Leaf]) -> set[int]:
        forms = [form.terms for leaf in leaves for form in forms_of(leaf)]
        return set().union(*(set.intersection(*(self._holders[term] for term in terms)) for terms in forms))


def _strength(entry: tuple[str, float]) -> tuple[float, str]:
    return -entry[1], entry[0]


def _impact(leaf: Leaf, table: dict[str, float]) -> float:
    """A leaf's greatest impact in a cell; that of a phrase is the least of its words'."""
    if isinstance(leaf, Synonyms):
        return max(_impact(way, table) for way in leaf.ways)
    if isinstance(leaf, Phrase):
        return min(_impact(word, table) for word in leaf.words)
    return max((table.get(term, 0.0) for form in forms_of(leaf) for term in form.terms), default=0.0)


def rows(web: Path, judged: Path | None, *, is_quick: bool) -> list[Row]:
    """Return the figures of a web, and of all judged sets together."""
    pages = read_web(web)
    items = known_items(pages, Random(1), QUICK_QUERIES if is_quick else OF_A_KIND, KINDS)
    found = found_by("pages", [page.text for page in pages], {each.words: each.kind for each in items})
    return [*found, *(found_by("judged sets", *read_judged(judged, is_quick=is_quick)) if judged else ())]


def found_by(what: str, texts: Sequence[Text], kinds: Mapping[str, str]) -> Iterator[Row]:
    """Yield the size of a table, and the recall of the best ten by so many cells and terms of a cell. `kinds`: by a
    query's words."""
    corpus, recall = Corpus(texts), defaultdict[tuple[int, str, int], list[float]](list)
    tables = {kept: [dict(strong[:kept]) for strong in corpus.strong] for kept in KEPT}
    for words, kind in kinds.items():
        query = parse_query(words)
        if best := corpus.cells_of_best(query):
            for kept, table in tables.items():
                order = corpus.choose(query, table)
                for asked in ASKED:
                    recall[kept, kind, asked].append(sum(cell in order[:asked] for cell in best) / len(best))
    for kept, table in tables.items():
        name = f"{what}: {'all' if kept == KEPT[-1] else f'{kept:,}'} terms of a cell"
        yield row(f"{name}, table", [sum(map(len, table)) * ENTRY_BYTES / 1e3], "kB")
        for kind in dict.fromkeys(kinds.values()):
            for asked in ASKED:
                shares = recall[kept, kind, asked]
                yield figure(f"{name}, {kind}: recall@{BEST} by {asked} of {CELLS} cells", shares)


def read_judged(folder: Path, *, is_quick: bool) -> tuple[list[Text], dict[str, str]]:
    """Return the documents of all judged sets as one web of small hosts, and some queries of each set."""
    texts, words = list[Text](), dict[str, str]()
    for each in set_folders(folder):
        found = read_set(each, QUICK_QUERIES if is_quick else OF_A_SET)
        words |= dict.fromkeys(found.queries.values(), "question")
        for number, body in enumerate(found.documents.values()):
            url = f"http://{each.name}{number // HOST_DOCUMENTS}.invalid/{number}"
            version = document_id(url).ljust(32)
            language = guess_language("", body)
            texts.append(Text(document_id(url), placement_key(url), version, url, "", (), body, language, 0.0))
    return texts, words
