"""Documents as tantivy indexes them: its schema, and which terms of a document go where.

A segment pays for each indexed field, however little it holds: so there are five. `text` is what scores: a title stands
there as many times as its weight says (and each heading, and the address). `reward` has titles, addresses and front
pages' names once more. Each class of length puts its own letter before its terms. The field is filled up to one length,
so that a term scores the same in all documents. `boilerplate` has what matches and scores nothing, with positions: the
boilerplate, and pairs of numbers that follow each other. `mark` has what matches as a whole, a letter for each kind.
`facet` is there to be counted. Terms of other stem classes than English are marked with theirs: a class is asked for
its own terms alone, without a filter.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import tantivy

from index.engine.protocol import FACETS, IndexEntry
from index.engine.tantivy_columns import add_columns, fill_columns
from index.query.collection_statistics import CELL_BITS
from index.query.ranking_rules import FRONT_FIELD, FRONT_MOST, INDEXED_CLASSES, RANKINGS
from index.query.scoring import WEIGHTS
from index.text import text_leaf
from index.text.field_terms import BODY, HEADINGS, TITLE, URL, FieldTerms, Places
from index.text.stem_classes import CLASSES, ENGLISH, class_of

TEXT, BOILERPLATE, REWARD, MARK, FACET = "text", "boilerplate", "reward", "mark", "facet"
LEAST_BITS = 4  # no strategy has fewer slots; where fewer are asked for, they are put together
FACET_COLUMNS = tuple(f"{FACET}.{name}" for name in FACETS)  # a document's names of each facet
FILLER = "-"  # where no term stands; it is none itself
PAIRS_OF = {TEXT: chr(2), BOILERPLATE: chr(3)}  # before a pair of numbers of this field; no term holds such
CLASS_OF_REWARD = {name: chr(ord("a") + place) for place, name in enumerate((*INDEXED_CLASSES, FRONT_FIELD))}
REWARD_TERMS = FRONT_MOST + sum(
    max(each.most for each in rules.classes if each.field == field)
    for rules in RANKINGS.values()
    for field in (TITLE, URL)
)
# Of each stem class, after its terms; no term holds a control character.
_MARKS = tuple("" if number == ENGLISH else chr(1) + chr(64 + number) for number in range(len(CLASSES)))
_HIDDEN = chr(2)  # a space in a mark
_SPACE = re.compile(r"\s")


# What stands before a document's marks of each kind.
EVERY = "e"  # each document has it, without a value
LANGUAGE = "l"
NUMBER = "n"
SITE = "s"
SLOT = "b"  # of every slot_bits, see `slot_mark`
STEM_CLASS = "c"
TAG = "t"
TITLE_LINE = "h"  # a title as suggestions offer it
WORD = "w"  # a word as it is written


def schema_of_documents() -> tantivy.Schema:
    """Return the schema of an index."""
    build = tantivy.SchemaBuilder()
    build.add_unsigned_field("number", fast=True)
    build.add_unsigned_field("cell", fast=True)
    for name in (TEXT, BOILERPLATE, REWARD):
        build.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    build.add_text_field(MARK, tokenizer_name="whitespace", index_option="basic")
    build.add_json_field(FACET, tokenizer_name="raw", index_option="basic", fast=True)
    add_columns(build)
    return build.build()


def document_of(entry: IndexEntry) -> tantivy.Document:
    """Return an entry as a document of tantivy's."""
    document = tantivy.Document()
    document.add_unsigned("number", entry.number)
    document.add_unsigned("cell", entry.cell)
    lengths = list(map(len, entry.fields.lines))
    lines, pairs = _written(entry.fields, lengths, _MARKS[class_of(entry.language)])
    title, url = _Line(lengths[0], lines[0]), _Line(lengths[-3], lines[-3])
    weights = WEIGHTS[TITLE], *[WEIGHTS[HEADINGS]] * (len(lines) - 4), WEIGHTS[URL], WEIGHTS[BODY]
    for line, weight in zip(lines, weights, strict=False):
        for _ in range(weight if line else 0):
            document.add_text(TEXT, line)
    for each in filter(None, (*pairs[:-1], lines[-1], pairs[-1])):
        document.add_text(BOILERPLATE, each)
    if earning := list(_rewarded(entry, title, url)):
        missing = REWARD_TERMS - sum(line.length for line, _ in earning)
        marked = (f"{mark}{line.text.replace(' ', f' {mark}')}" for line, mark in earning)
        document.add_text(REWARD, " ".join((*marked, *FILLER * missing)))
    document.add_text(MARK, " ".join(_marks_of(entry)))
    document.add_json(FACET, {name: value for name, value in zip(FACETS, entry.facets, strict=True) if value})
    fill_columns(document, entry)
    return document


def _rewarded(entry: IndexEntry, title: "_Line", url: "_Line") -> Iterator[tuple["_Line", str]]:
    """The lines whose words earn more, each with the letter of its class."""
    for field, line in ((TITLE, title), (URL, url)):
        for name, each in INDEXED_CLASSES.items():
            if each.holds(field, line.length):
                yield line, CLASS_OF_REWARD[name]
    if entry.is_front and 0 < url.length <= FRONT_MOST:
        yield url, CLASS_OF_REWARD[FRONT_FIELD]


def _marks_of(entry: IndexEntry) -> Iterator[str]:
    yield EVERY
    yield f"{NUMBER}{entry.number}"
    for slot_bits in range(LEAST_BITS, CELL_BITS + 1):
        yield slot_mark(entry.cell >> (CELL_BITS - slot_bits), slot_bits)
    for host in entry.hosts:
        yield mark_of(SITE, host)
    yield mark_of(LANGUAGE, entry.language)
    yield f"{STEM_CLASS}{class_of(entry.language)}"
    if entry.title:
        yield mark_of(TITLE_LINE, entry.title)
    for kind, values in ((TAG, entry.tags), (WORD, entry.words)):  # hundreds, and none holds a space
        if values:
            yield kind + f" {kind}".join(values)


def mark_of(kind: str, value: str) -> str:
    """Return the mark of a value of some kind; spaces would cut it."""
    return kind + (value if value.isalnum() else _SPACE.sub(_hidden, value))  # of words a question needs hundreds


def value_of(mark: str) -> str:
    """Return the value of a mark, in which no spaces but plain ones were."""
    return mark[1:].replace(_HIDDEN, " ")


def _hidden(space: re.Match[str]) -> str:
    return _HIDDEN if space[0] == " " else f"{_HIDDEN}{ord(space[0]):x}"


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
    """Return what stands in the index for two numbers that follow each other, after a mark of PAIRS_OF."""
    return f"{first}.{second}"


def numbers_of(pairs: Sequence[str]) -> Iterator[str]:
    """Yield the numbers of some marked pairs."""
    for pair in pairs:
        yield from pair[1:].split(".")


class _Line(NamedTuple):
    """A line of a document's terms as the index is given it."""

    length: int  # in terms
    text: str  # its terms, of their stem class


def _written(fields: FieldTerms, lengths: list[int], mark: str) -> tuple[list[str], list[str]]:
    write = text_leaf.leaf.written_lines if text_leaf.leaf else written_lines
    return write(fields.vocabulary, fields.places, lengths, mark, PAIRS_OF[TEXT], PAIRS_OF[BOILERPLATE])


def written_lines(
    names: list[str], places: Places, lengths: list[int], mark: str, pair: str, last_pair: str
) -> tuple[list[str], list[str]]:
    """Write the lines of a document, all at once: most are short, and few have numbers side by side. Each line's terms
    have the mark of their stem class. Each also has its pairs, one for each two numbers that follow each other, a dash
    between those that do not; "" for none. `pair` stands before a pair, in the last line `last_pair`."""
    words, found = [name + mark for name in names] if mark else names, places.tolist()
    paired, lines, pairs = _starts_of_pairs(names, places), list[str](), list[str]()
    for number, (start, end) in enumerate(pairwise(accumulate(lengths, initial=0)), 1):
        inside = paired[bisect_left(paired, start) : bisect_left(paired, end - 1)] if paired else ()
        pairs.append(" ".join(_pairs(inside, names, found, last_pair if number == len(lengths) else pair)))
        lines.append(" ".join(map(words.__getitem__, found[start:end])))
    return lines, pairs


def _pairs(starts: Sequence[int], terms: Sequence[str], places: Sequence[int], mark: str) -> Iterator[str]:
    """The pairs that begin at some places; so those of three numbers in a row are neighbours, and no others."""
    for before, start in zip((*starts[:1], *starts), starts, strict=False):
        if start > before + 1:
            yield FILLER
        yield mark + pair_of(terms[places[start]], terms[places[start + 1]])


def _starts_of_pairs(names: list[str], places: Places) -> list[int]:
    """Where a number stands before another one, be that in the same line or not; ascending."""
    numbers = [place for place, term in enumerate(names) if term.isdigit() and is_number(term)]
    if not numbers:
        return []
    are_numbers = np.zeros(len(names), np.bool_)
    are_numbers[numbers] = True
    here = are_numbers[places]
    starts: list[int] = (here[:-1] & here[1:]).nonzero()[0].tolist()
    return starts


def slot_mark(slot: int, slot_bits: int) -> str:
    """Return the term of a slot of 2**slot_bits and of no other. A document has one for each slot_bits, 13 small terms,
    so that a change of slot_bits indexes nothing anew."""
    return f"{SLOT}{(1 << slot_bits) + slot:x}"


def slot_marks(slots: Collection[int], slot_bits: int) -> list[str]:
    """The marks of which each document of these slots has one."""
    parts = range(1 << max(0, LEAST_BITS - slot_bits))
    bits = max(slot_bits, LEAST_BITS)
    return [slot_mark((slot << (bits - slot_bits)) + part, bits) for slot in sorted(slots) for part in parts]
