"""Documents as tantivy indexes them: its schema, and which terms of a document go where.

All text is one field in which a title stands as many times as its weight says (and each heading, and the address).
Titles and addresses of each class of length, and front pages' addresses, have fields of their own, for what they earn a
document by one ranking or another; these are filled up to one length, so that a term scores the same in all of them.
Terms of other stem classes than English are marked with theirs: a class is asked for its own terms alone, without a
filter. Beside the text lies a field of as many terms in which numbers that follow each other stand as pairs, and any
other term as a dash: so pairs score there as phrases do in the text.
"""

from bisect import bisect_left
from collections.abc import Collection
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import tantivy

from index.engine.protocol import FACETS, IndexEntry
from index.engine.tantivy_columns import add_columns, fill_columns
from index.query.collection_statistics import CELL_BITS
from index.query.ranking_rules import FRONT_FIELD, FRONT_MOST, INDEXED_CLASSES
from index.query.scoring import WEIGHTS
from index.text.field_terms import TITLE, URL, FieldTerms
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
    title, *headings, url, body, boilerplate = _written(entry.fields, class_of(entry.language))
    for lines, weight in zip(([title], headings, [url], [body]), WEIGHTS, strict=True):
        for line in filter(_length, lines):
            for _ in range(weight):
                document.add_text("text", line.text)
                document.add_text(PAIRS_OF["text"], line.pairs)
    for field, line in ((TITLE, title), (URL, url)):
        for name, each in INDEXED_CLASSES.items():
            if each.holds(field, line.length):
                document.add_text(name, _filled(line, each.most))
    if entry.is_front and 0 < url.length <= FRONT_MOST:
        document.add_text(FRONT_FIELD, _filled(url, FRONT_MOST))
    if boilerplate.length:
        document.add_text("boilerplate", boilerplate.text)
        document.add_text(PAIRS_OF["boilerplate"], boilerplate.pairs)
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


class _Line(NamedTuple):
    """A line of a document's terms as the index is given it."""

    length: int  # in terms
    text: str  # its terms, of their stem class
    pairs: str  # a pair for each two numbers of it that follow each other, and a dash for any other term


_length = attrgetter("length")


def _written(fields: FieldTerms, stem_class: int) -> list[_Line]:
    """Write the lines of a document, all at once: most are short, and few have numbers side by side."""
    mark, terms, places = _MARKS[stem_class], fields.vocabulary, fields.places.tolist()
    words = [term + mark for term in terms] if mark else terms
    paired, found = _starts_of_pairs(fields), list[_Line]()
    end = 0
    for line in fields.lines:
        start, end = end, end + len(line)
        inside = paired[bisect_left(paired, start) : bisect_left(paired, end - 1)] if paired else ()
        pairs = _fillers(len(line))
        if inside:
            each = [FILLER] * len(line)
            for place in inside:
                each[place - start] = pair_of(terms[places[place]], terms[places[place + 1]])
            pairs = " ".join(each)
        found.append(_Line(len(line), " ".join(map(words.__getitem__, places[start:end])), pairs))
    return found


def _starts_of_pairs(fields: FieldTerms) -> list[int]:
    """Where a number stands before another one, be that in the same line or not; ascending."""
    numbers = [place for place, term in enumerate(fields.vocabulary) if term.isdigit() and is_number(term)]
    if not numbers:
        return []
    are_numbers = np.zeros(len(fields.vocabulary), np.bool_)
    are_numbers[numbers] = True
    here = are_numbers[fields.places]
    starts: list[int] = (here[:-1] & here[1:]).nonzero()[0].tolist()
    return starts


def _filled(line: _Line, length: int) -> str:
    """Return the terms of a line and as many dashes as make them so many in all: a term in such a field scores the same
    everywhere."""
    return " ".join((line.text, *FILLER * (length - line.length)))


def _fillers(count: int) -> str:
    return f"{FILLER} " * (count - 1) + FILLER if count > 0 else ""


def slot_term(slot: int, slot_bits: int) -> int:
    """A number that stands for a slot of 2**slot_bits and for no other: a document has one for each slot_bits, 13 small
    terms, so that a change of slot_bits indexes nothing anew."""
    return (1 << slot_bits) + slot


def slot_terms(slots: Collection[int], slot_bits: int) -> list[int]:
    """The terms of which each document of these slots has one."""
    parts = range(1 << max(0, LEAST_BITS - slot_bits))
    bits = max(slot_bits, LEAST_BITS)
    return [slot_term((slot << (bits - slot_bits)) + part, bits) for slot in sorted(slots) for part in parts]
