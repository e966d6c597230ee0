"""The forward record: one document's terms, positions and exact lengths, compact enough to keep for every document.

Pure: bytes and values. Scores are computed from this record alone, whether it comes from disk or was just made from a
signed document, so both give the same numbers. A record never leaves the machine: it has the machine's byte order.

Layout, in this order:

- digest (16), digest of the host (8), signature (16, zeros where unknown)
- digest of the numbers in the title (u16, 0 without any), stem class (u8), whether it is a front page (u8)
- the scripts of its language (u8), the day that it is dated, and the one that it was first seen (u16 each, 0: unknown)
- the links to its site (i8, see `Text.site_links`), four field lengths (u16)
- number of terms that stand more than once (u16), number of their positions (u16), size of the compressed table (u32)
- the low bytes of these positions
- compressed: the table of terms, "\\0term\\0term\\0", those first that stand more than once
- compressed: the low bytes of two rows of numbers (u16), their high bytes, and those of the positions

The first row tells where the positions of each of these terms begin, and where the last's end; the second is the one
position of each other term. Each `RUN`th number of a row stands as it is, any other as what it is above the one before.

One space of positions holds all fields, each at its base. The gaps between fields are wider than any distance that
ranking looks at. Headings are one position apart, so nothing matches across a border. Boilerplate comes last: a
document matches by it, but it is no field, so no score and no length knows of it.
"""

from __future__ import annotations

import re
import struct
import threading
from bisect import bisect_left
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
import zstandard
from numpy.typing import NDArray

from index.change_feed import Text
from index.errors import IndexCorrupt
from index.text import text_leaf
from index.text.analyzer_rules import NEWEST_ANALYZER, AnalyzerRules
from index.text.field_terms import BODY, HEADINGS, MAX_LINE_CHARS, TITLE, URL, FieldTerms, Places, analyse
from index.text.site_host import digest_of_host, front_name, host_of
from index.text.stem_classes import class_of
from index.text.tags import day_of
from index.text.writing import scripts_of_language

LEVEL = 3  # of tables of terms, level 6 takes 45 µs more, and saves 9 %
FIELDS = ("title", "headings", "url", "body")
BASES = (0, 1024, 4096, 8192)  # the first position of each field
BOILERPLATE_BASE = 28_672  # after the last of the body
SIGNATURE_BYTES = 16

_HEAD = struct.Struct("=16s8s16sHB?BHHb4HHHI")
_HOST = slice(16, 24)
_LENGTHS = slice(10, 14)
RUN = 32  # numbers that are added up, at most
_NUMBER = re.compile(r"\d+")
_UNSIGNED = bytes(SIGNATURE_BYTES)
_POSITIONS = np.arange(1 << 16, dtype="<u2").tobytes()

Counts = tuple[int, int, int, int]  # one number for each of FIELDS


class _Frames(threading.local):
    """Compresses by a dictionary, which says what many records have in common; without it frames cannot be read.

    Contexts are kept per thread, because the library's are not to be shared."""

    def __init__(self, dictionary: zstandard.ZstdCompressionDict) -> None:
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, dict_data=dictionary)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=dictionary)

    def compress(self, data: bytes) -> bytes:
        """Compress to one frame that states its size."""
        return self._compressor.compress(data)

    def decompress(self, data: bytes) -> bytes:
        """Return what `compress` was given; raises IndexCorrupt for anything else."""
        try:
            return self._decompressor.decompress(data)
        except zstandard.ZstdError as error:
            raise IndexCorrupt("a record", str(error), "the index is built anew from the store") from error


def _frames_by(name: str) -> _Frames:
    """Return a compressor by the dictionary of this name; its file is beside this one."""
    dictionary = zstandard.ZstdCompressionDict(Path(__file__).with_name(f"{name}.dict").read_bytes())
    dictionary.precompute_compress(level=LEVEL)  # once for all threads
    return _Frames(dictionary)


_TABLES, _ROWS = _frames_by("forward_tables"), _frames_by("forward_rows")


class ForwardRecord(NamedTuple):
    """Reads a forward record: decodes what a query asks for, nothing else."""

    digest: bytes  # 16 bytes, equal for documents with equal title, body and boilerplate
    host: bytes  # the digest of its host, 8 bytes
    signature: bytes  # the document's own, 16 bytes, b"" where it has none
    title_numbers: int  # see `digest_of_numbers`
    stem_class: int
    is_front: bool  # whether it is its host's front page
    scripts: int  # of its language, see `writing`; 0 unknown
    day: int  # that it is dated, see `tags.day_of`; 0 unknown
    first_seen: int  # the day that it was first seen, counted alike
    site_links: int  # see `Text.site_links`
    lengths: Counts
    many: int  # terms that stand more than once
    low: bytes  # of their positions
    table: bytes  # what is compressed, see the layout
    rows: bytes

    def find(self, needle: bytes) -> int:
        """Return where a term (see `needle_of`) stands in the table, below 0 where the document does not have it."""
        return self.table.find(needle)

    def positions(self, term: str) -> list[int]:
        """Return where a term stands, ascending, in the one space of positions; empty where it does not."""
        return self.positions_of([self.find(needle_of(term))])[0]

    def positions_of(self, found: Sequence[int]) -> list[list[int]]:
        """Return where each of some terms stands that `find` found there; the table is gone through once for all."""
        table, rows, half = self.table, self.rows, (len(self.rows) - len(self.low)) // 2  # the size of both rows
        many, number, counted = self.many, 0, 0
        known = dict[int, list[int]]()
        for place in sorted(found):
            if place < 0 or place in known:
                continue
            number += table.count(0, counted, place)
            counted = place
            if number >= many:
                known[place] = [_value(rows, half, number + 1, number - many)]
                continue
            first, after = _value(rows, half, number, number), number + 1
            step = rows[after] | rows[half + after] << 8
            last, high = first + step if after % RUN else step, 2 * half
            pairs = zip(self.low[first:last], rows[high + first : high + last], strict=True)
            known[place] = [a | b << 8 for a, b in pairs]
        return [known.get(place, []) for place in found]


def needle_of(term: str) -> bytes:
    """Return a term as it stands in a record's table."""
    return b"\0" + term.encode() + b"\0"


def encode_forward(text: Text, fields: FieldTerms) -> bytes:
    """Encode the forward record of a document."""
    many, low, table, rows = _tables_of(fields)
    table, rows, lengths = _TABLES.compress(table), _ROWS.compress(rows), lengths_of(fields)
    return b"".join((_HEAD.pack(*_marks_of(text), *lengths, many, len(low), len(table)), low, table, rows))


def decode_forward(record: bytes) -> ForwardRecord:
    """Return the reader of a record that `encode_forward` made."""
    digest, host, signature, *traits, title, headings, url, body, many, count, size = _HEAD.unpack_from(record)
    said, stem_class, is_front, scripts, day, first_seen, links = traits
    signed, begin = signature if signature != _UNSIGNED else b"", _HEAD.size + count
    table, rows = _TABLES.decompress(record[begin : begin + size]), _ROWS.decompress(record[begin + size :])
    lengths, low = (title, headings, url, body), record[_HEAD.size : begin]
    marks = said, stem_class, is_front, scripts, day, first_seen, links
    return ForwardRecord(digest, host, signed, *marks, lengths, many, low, table, rows)


def host_in(record: bytes) -> bytes:
    """Return the digest of the host of the document of a record."""
    return record[_HOST]


def lengths_in(record: bytes) -> Counts:
    """Return the lengths of the document of a record."""
    title, headings, url, body = _HEAD.unpack_from(record)[_LENGTHS]
    return title, headings, url, body


def forward_of(text: Text, rules: AnalyzerRules = NEWEST_ANALYZER) -> ForwardRecord:
    """Analyse a document and read its record: what a checker of someone else's numbers does."""
    return _measured(text, analyse(text, rules))


def lengths_of(fields: FieldTerms) -> Counts:
    """Count the terms of each field."""
    title, *headings, url, body, _ = map(len, fields.lines)
    return title, sum(headings), url, body


def within_fields(positions: list[int]) -> list[int]:
    """Return those of a term's (or phrase's) positions that count for a score: all but the boilerplate's."""
    if not positions or positions[-1] < BOILERPLATE_BASE:
        return positions
    return positions[: bisect_left(positions, BOILERPLATE_BASE)]


def by_field(positions: list[int]) -> Counts:
    """Count how many of a term's (or phrase's) positions lie in each field; they are `within_fields`."""
    total = len(positions)
    if not total or positions[0] >= BASES[BODY]:
        return 0, 0, 0, total
    a = bisect_left(positions, BASES[HEADINGS])
    b = bisect_left(positions, BASES[URL], a)
    c = bisect_left(positions, BASES[BODY], b)
    return a, b - a, c - b, total - c


def content_digest(text: Text) -> bytes:
    """Hash what a page says: equal for pages that say the same under different addresses (mirrors)."""
    sizes = len(text.title).to_bytes(4, "big") + len(text.boilerplate).to_bytes(4, "big")
    return sha256(sizes + (text.title + text.boilerplate + text.body).encode()).digest()[:16]


def digest_of_numbers(title: str) -> int:
    """Hash the numbers in a title, in order, to 16 bits; 0 where it has none."""
    numbers = _NUMBER.findall(title[:MAX_LINE_CHARS])
    return 1 + crc32(" ".join(numbers).encode()) % 0xFFFF if numbers else 0


def signature_of(text: Text) -> bytes:
    """Return a document's signature where it has the size of one, else b""."""
    return text.signature if len(text.signature) == SIGNATURE_BYTES and any(text.signature) else b""


def positions_of_lines(lengths: Sequence[int]) -> bytes:
    """Return the positions (u16 each) of the lines of `FieldTerms`, given their lengths: all that must not run together
    are apart."""
    bases, position = [BASES[TITLE]], BASES[HEADINGS]
    for length in lengths[1:-3]:
        bases.append(position)
        position += length + 1
    bases += BASES[URL], BASES[BODY], BOILERPLATE_BASE
    return b"".join(_POSITIONS[2 * base : 2 * (base + n)] for n, base in zip(lengths, bases, strict=True))


def _tables_of(fields: FieldTerms) -> tuple[int, bytes, bytes, bytes]:
    """The last four fields of a document's `ForwardRecord`: for each term, where it stands."""
    make = text_leaf.leaf.tables_of if text_leaf.leaf else tables_of
    return make(fields.vocabulary, fields.places, positions_of_lines(list(map(len, fields.lines))), RUN)


def tables_of(names: list[str], found: Places, positions: bytes, run: int) -> tuple[int, bytes, bytes, bytes]:
    """Return how many terms stand more than once, and the tables of a record, given the position of each term (u16)."""
    counts = np.bincount(found, minlength=len(names))
    order = (counts == 1).argsort(kind="stable")  # those that stand more than once come first
    rank = np.empty(len(names), np.uint16)
    rank[order] = np.arange(len(names), dtype=np.uint16)
    places = np.frombuffer(positions, "<u2")[rank[found].argsort(kind="stable")]
    many = int(np.count_nonzero(counts > 1))
    table = ("\0" + "\0".join([names[number] for number in order.tolist()]) + "\0").encode() if names else b""
    starts = np.zeros(many + 1, np.uint16)
    counts[order[:many]].cumsum(out=starts[1:])
    again, once = places[: starts[-1]].tobytes(), places[starts[-1] :]
    rows = np.concatenate((_distances(starts, run), _distances(once, run))).astype("<u2", copy=False).tobytes()
    return many, again[::2], table, b"".join((rows[::2], rows[1::2], again[1::2]))


def _measured(text: Text, fields: FieldTerms) -> ForwardRecord:
    """The reader of the record of a document."""
    return ForwardRecord(*_marks_of(text), lengths_of(fields), *_tables_of(fields))


def _marks_of(text: Text) -> tuple[bytes, bytes, bytes, int, int, bool, int, int, int, int]:
    """The facts that a record holds of its document beside terms."""
    marks = content_digest(text), digest_of_host(host_of(text.url)), signature_of(text)
    traits = class_of(text.language), bool(front_name(text.url)), scripts_of_language(text.language)
    return *marks, digest_of_numbers(text.title), *traits, day_of(text), text.first_seen, text.site_links


def _distances(row: NDArray[np.uint16], run: int) -> NDArray[np.uint16]:
    """A row of ascending numbers as it is kept, see the layout."""
    out = row.copy()
    out[1:] -= row[:-1]
    out[::run] = row[::run]
    return out


def sums(row: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the ascending numbers of a row as it is kept."""
    out = np.zeros(-(-len(row) // RUN) * RUN, np.uint16)
    out[: len(row)] = row
    return out.reshape(-1, RUN).cumsum(axis=1, dtype=np.uint16).ravel()[: len(row)]


def _value(rows: bytes, half: int, place: int, number: int) -> int:
    """The number that stands there, where it is this one of its row."""
    low, end = place - number % RUN, place + 1
    return sum(rows[low:end]) + (sum(rows[half + low : half + end]) << 8)
