"""A page's terms as they travel: all that the analysis of one document makes, so that its other owners need not repeat
it.

Pure: bytes and values. What travels is the forward record, as it is kept and scored by, but for what says more of the
document than its terms; the lengths of its lines; and its words as they are written. The digest is of what these hold
before compression: the same for one document and one analyzer on every machine, whatever it compresses with.
What a stranger packed is opened only where its numbers fit each other: each place of each line holds one term, and no
other place does. Whether these are the document's terms, only its analysis tells.

Layout, little-endian: number of the analyzer (u16) · number of lines (u8) · number of terms that stand more than once
(u16) · number of their positions (u16) · sizes of the compressed table and rows (u32 each) · length of each line (u16
each) · low bytes, table and rows as in a forward record · compressed, the words, with spaces between them.
The digest is SHA-256 of the same with sizes and parts as they are before compression.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.change_feed import OfferedTerms, Text
from index.text.analyzer_rules import NEWEST_ANALYZER, AnalyzerRules
from index.text.field_terms import BOILERPLATE_LIMIT, LIMITS, MAX_HEADINGS, FieldTerms, analyse
from index.text.forward_index import (
    ROWS,
    TABLES,
    Counts,
    TermTables,
    encode_forward,
    join_forward,
    lengths_of,
    positions_of_lines,
    sums,
    tables_of,
)
from index.text.surfaces import MAX_CHARS, MAX_WORDS, MIN_CHARS, words_of

MOST_BYTES = 1 << 18  # of what travels; a page of more is analysed by each owner
MOST_TABLE_BYTES = 1 << 20  # of terms, and of words, before compression
FEWEST_LINES = 4  # title, address, main text, all else; headings stand after the title
_HEAD = struct.Struct("<HBHHII")
_ODD = bytes((*range(33), 127))  # of ASCII, in no term: spaces, and control characters, by which engines mark terms
_NUMBERS = np.arange(1 << 16, dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class PageTerms:
    """What an index makes of one document: its terms, its words as they are written, and its forward record."""

    fields: FieldTerms
    words: Sequence[str]
    forward: bytes


def terms_of(text: Text, rules: AnalyzerRules = NEWEST_ANALYZER) -> PageTerms:
    """Analyse a document."""
    fields = analyse(text, rules)
    return PageTerms(fields, words_of(text), encode_forward(text, fields))


def pack_terms(text: Text, rules: AnalyzerRules = NEWEST_ANALYZER) -> OfferedTerms | None:
    """Analyse a document, and pack what that gives; None where it is too much."""
    fields = analyse(text, rules)
    tables, lengths = tables_of(fields), tuple(map(len, fields.lines))
    words = " ".join(words_of(text)).encode()
    if max(len(tables.table), len(words)) > MOST_TABLE_BYTES:
        return None
    squeezed = TABLES.compress(tables.table), ROWS.compress(tables.rows), TABLES.compress(words)
    data = _joined(rules.number, lengths, tables, *squeezed)
    if len(data) > MOST_BYTES:
        return None
    return OfferedTerms(data, _digest(rules.number, lengths, tables, words), rules.number)


def digest_of_terms(text: Text, rules: AnalyzerRules) -> bytes:
    """Return the digest with which the terms of a document travel."""
    fields = analyse(text, rules)
    lengths = tuple(map(len, fields.lines))
    return _digest(rules.number, lengths, tables_of(fields), " ".join(words_of(text)).encode())


def open_terms(text: Text, packed: OfferedTerms, rules: AnalyzerRules) -> PageTerms:
    """Open what somebody packed of a document; raises ValueError where it is not what `pack_terms` makes."""
    data = packed.data
    if not _HEAD.size < len(data) <= MOST_BYTES:
        raise ValueError(f"{len(data)} bytes, {MOST_BYTES} allowed")
    number, lines, many, again, table_size, rows_size = _HEAD.unpack_from(data)
    if number != rules.number or not FEWEST_LINES <= lines <= FEWEST_LINES + MAX_HEADINGS:
        raise ValueError(f"analyzer {number} and {lines} lines")
    ends = list(accumulate((2 * lines, again, table_size, rows_size), initial=_HEAD.size))
    sizes, low, table, rows = (data[start:end] for start, end in pairwise(ends))
    lengths = np.frombuffer(sizes, "<u2").tolist()
    words = TABLES.expand(data[ends[-1] :], MOST_TABLE_BYTES)
    plain = TABLES.expand(table, MOST_TABLE_BYTES), ROWS.expand(rows, 1 << 17)
    tables = TermTables(many, low, *plain)
    if _digest(number, lengths, tables, words) != packed.digest:
        raise ValueError("another digest than it was signed with")
    fields, found = _fields_of(tables, lengths), _words_in(words)
    return PageTerms(fields, found, join_forward(text, lengths_of(fields), many, low, table, rows))


def _joined(number: int, lengths: Sequence[int], tables: TermTables, table: bytes, rows: bytes, words: bytes) -> bytes:
    head = _HEAD.pack(number, len(lengths), tables.many, len(tables.low), len(table), len(rows))
    return b"".join((head, np.array(lengths, "<u2").tobytes(), tables.low, table, rows, words))


def _digest(number: int, lengths: Sequence[int], tables: TermTables, words: bytes) -> bytes:
    return sha256(_joined(number, lengths, tables, tables.table, tables.rows, words)).digest()


def _fields_of(tables: TermTables, lengths: Sequence[int]) -> FieldTerms:
    """The terms of a document out of its tables, which must be such as `tables_of` makes."""
    many, low, table, rows = tables
    _check_lengths(lengths)
    if table and (len(table) < 3 or table[0] or table[-1]):
        raise ValueError("a table without its ends")
    vocabulary = _split(table[1:-1], "\0")
    count, half = len(vocabulary), (len(rows) - len(low)) // 2
    if len(rows) != 2 * (count + 1) + len(low) or not many <= count < 1 << 16:
        raise ValueError("a table that does not fit its rows")
    if len(set(vocabulary)) != count:
        raise ValueError("a term that comes twice")
    data = np.frombuffer(rows, np.uint8).astype(np.uint16)
    steps = data[:half] | data[half : 2 * half] << np.uint16(8)
    starts, once = sums(steps[: many + 1]).astype(np.int64), sums(steps[many + 1 :])
    again, each = np.frombuffer(low, np.uint8) | data[2 * half :] << np.uint16(8), starts[1:] - starts[:-1]
    if starts[0] or starts[-1] != len(low) or (starts[1:] < starts[:-1] + 2).any():
        raise ValueError("another number of terms than of places")
    numbers = np.concatenate((np.repeat(_NUMBERS[:many], each), _NUMBERS[many:count]))
    firsts, places = again[starts[:-1]], np.concatenate((again, once))
    ordered = numbers[: len(low)].astype(np.int32) << 16 | again
    if not (_ascend(once) and _ascend(firsts) and _ascend(ordered)):
        raise ValueError("places that do not ascend")
    order = places.argsort(kind="stable")
    if places[order].tobytes() != positions_of_lines(lengths):
        raise ValueError("places that are none, or have not one term each")
    found, ends = numbers[order], accumulate(lengths, initial=0)
    return FieldTerms(vocabulary, found, [found[start:end] for start, end in pairwise(ends)])


def _ascend(row: NDArray[np.integer[Any]]) -> bool:
    return bool((row[1:] > row[:-1]).all())


def _check_lengths(lengths: Sequence[int]) -> None:
    headings = lengths[1:-3]
    sums_up = lengths[0], sum(headings), lengths[-3], lengths[-2]
    within: Counts = LIMITS
    fits = all(length <= most for length, most in zip(sums_up, within, strict=True))
    if not fits or lengths[-1] > BOILERPLATE_LIMIT or not all(headings):
        raise ValueError("lines longer than the analyzer allows")


def _split(data: bytes, mark: str) -> list[str]:
    """The words of a text with a mark between each two: none is empty, or holds a space or a control character."""
    if not data:
        return []
    text, between = data.decode(), mark.encode()
    found = text.split(mark)
    is_plain = len(data.translate(None, _ODD)) == len(data) - (len(found) - 1) * (between in _ODD)
    if not is_plain or between * 2 in data or data[0] == between[0] or data[-1] == between[0]:
        raise ValueError("a term that is none")
    if not text.isascii() and text.replace(mark, " ").split() != found:
        raise ValueError("a term that holds a space")
    return found


def _words_in(data: bytes) -> list[str]:
    words = _split(data, " ")
    if len(words) > MAX_WORDS or (words and not MIN_CHARS <= min(map(len, words)) <= max(map(len, words)) <= MAX_CHARS):
        raise ValueError("words that nobody writes")
    return words
