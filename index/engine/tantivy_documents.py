"""Documents as tantivy indexes them: its schema, and which terms of a document go where.

All text is one field in which a title stands as many times as its weight says (and each heading, and the address).
Titles and addresses of each class of length, and front pages' addresses, have fields of their own, for what they earn a
document by one ranking or another; these are filled up to one length, so that a term scores the same in all of them.
Terms of other stem classes than English are marked with theirs: a class is asked for its own terms alone, without a
filter. Beside the text lies a field of as many terms in which numbers that follow each other stand as pairs, and any
other term as a dash: so pairs score there as phrases do in the text.
"""

from collections.abc import Collection

import numpy as np
import tantivy

from index.engine.protocol import FACETS, IndexEntry
from index.engine.tantivy_columns import add_columns, fill_columns
from index.query.collection_statistics import CELL_BITS
from index.query.ranking_rules import FRONT_FIELD, FRONT_MOST, INDEXED_CLASSES
from index.query.scoring import WEIGHTS
from index.text.field_terms import TITLE, URL, FieldTerms, Places
from index.text.stem_classes import CLASSES, ENGLISH, class_of

LEAST_BITS = 4  # no strategy has fewer slots; where fewer are asked for, they are put together
FACET_COLUMNS = tuple(f"in_{name}" for name in FACETS)  # a document's names of each facet
PAIRS_OF = {"text": "pairs", "boilerplate": "boilerplate_pairs"}
FILLER = "-"  # where no term stands; it is none itself
EVERY = "d"  # the term that every document has
# Of each stem class, after its terms; no term holds a control character.
_MARKS = tuple("" if number == ENGLISH else chr(1) + chr(64 + number) for number in range(len(CLASSES)))


def schema_of_documents() -> tantivy.Schema:
    """Return the schema of an index."""
    build = tantivy.SchemaBuilder()
    build.add_unsigned_field("number", indexed=True, fast=True)
    build.add_unsigned_field("cell", fast=True)
    build.add_unsigned_field("slot", indexed=True)  # of every slot_bits, see `slot_term`
    for name in ("text", "boilerplate", *PAIRS_OF.values(), *INDEXED_CLASSES, FRONT_FIELD):
        build.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in ("word", "tag"):
        build.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    for name in ("site", "language", "title", "stem_class", "every"):
        build.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in FACET_COLUMNS:
        build.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    add_columns(build)
    return build.build()


def document_of(entry: IndexEntry) -> tantivy.Document:
    """Return an entry as a document of tantivy's."""
    document = tantivy.Document()
    document.add_unsigned("number", entry.number)
    document.add_unsigned("cell", entry.cell)
    for slot_bits in range(LEAST_BITS, CELL_BITS + 1):
        document.add_unsigned("slot", slot_term(entry.cell >> (CELL_BITS - slot_bits), slot_bits))
    written, fields = _WrittenLines(entry.fields, class_of(entry.language)), entry.fields
    title, *headings, url, body, boilerplate = fields.lines
    for lines, weight in zip(([title], headings, [url], [body]), WEIGHTS, strict=True):
        for line in filter(len, lines):
            text, pairs = written.text(line), written.pairs(line)
            for _ in range(weight):
                document.add_text("text", text)
                document.add_text(PAIRS_OF["text"], pairs)
    for field, line in ((TITLE, title), (URL, url)):
        for name, each in INDEXED_CLASSES.items():
            if each.holds(field, len(line)):
                document.add_text(name, written.filled(line, each.most))
    if entry.is_front and 0 < len(url) <= FRONT_MOST:
        document.add_text(FRONT_FIELD, written.filled(url, FRONT_MOST))
    if len(boilerplate):
        document.add_text("boilerplate", written.text(boilerplate))
        document.add_text(PAIRS_OF["boilerplate"], written.pairs(boilerplate))
    for host in entry.hosts:
        document.add_text("site", host)
    document.add_text("language", entry.language)
    document.add_text("stem_class", str(class_of(entry.language)))
    for column, name in zip(FACET_COLUMNS, entry.facets, strict=True):
        if name:
            document.add_text(column, name)
    if entry.tags:
        document.add_text("tag", " ".join(entry.tags))
    if entry.words:
        document.add_text("word", " ".join(entry.words))
    if entry.title:
        document.add_text("title", entry.title)
    document.add_text("every", EVERY)
    fill_columns(document, entry)
    return document


def term_in_class(term: str, stem_class: int) -> str:
    """Return what stands in the index for a term of a document of this stem class."""
    return term + _MARKS[stem_class]


def without_class(term: str) -> str:
    """Return the term of which this one stands in the index, of whatever stem class."""
    return term.partition(chr(1))[0]


def is_number(term: str) -> bool:
    """Tell whether a term is one of those of which pairs are indexed."""
    return term.isdigit() and term.isascii()


def pair_of(first: str, second: str) -> str:
    """Return what stands in the index for two numbers that follow each other."""
    return f"{first}.{second}"


class _WrittenLines:
    """Writes lines of a document's terms as the index is given them."""

    def __init__(self, fields: FieldTerms, stem_class: int) -> None:
        mark, self._terms = _MARKS[stem_class], fields.vocabulary
        self._words = [term + mark for term in fields.vocabulary] if mark else fields.vocabulary
        self._are_numbers = np.zeros(len(fields.vocabulary), np.bool_)
        self._are_numbers[[place for place, term in enumerate(fields.vocabulary) if is_number(term)]] = True

    def text(self, line: Places) -> str:
        """Return its terms, of their stem class."""
        return " ".join(map(self._words.__getitem__, line.tolist()))

    def pairs(self, line: Places) -> str:
        """Return a pair for each two numbers of it that follow each other, and a dash for any other term."""
        pairs, are_numbers = [FILLER] * len(line), self._are_numbers[line]
        for place in (are_numbers[:-1] & are_numbers[1:]).nonzero()[0].tolist():
            pairs[place] = pair_of(self._terms[line[place]], self._terms[line[place + 1]])
        return " ".join(pairs)

    def filled(self, line: Places, length: int) -> str:
        """Return its terms and as many dashes as make them so many in all: a term in such a field scores the same
        everywhere."""
        return " ".join((self.text(line), *FILLER * (length - len(line))))


def slot_term(slot: int, slot_bits: int) -> int:
    """A number that stands for a slot of 2**slot_bits and for no other: a document has one for each slot_bits, 13 small
    terms, so that a change of slot_bits indexes nothing anew."""
    return (1 << slot_bits) + slot


def slot_terms(slots: Collection[int], slot_bits: int) -> list[int]:
    """The terms of which each document of these slots has one."""
    parts = range(1 << max(0, LEAST_BITS - slot_bits))
    bits = max(slot_bits, LEAST_BITS)
    return [slot_term((slot << (bits - slot_bits)) + part, bits) for slot in sorted(slots) for part in parts]
