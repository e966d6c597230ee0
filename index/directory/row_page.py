"""A page of the directory: the rows of some terms as they are kept and sent.

Pure: rows in, bytes out, and back with every number checked, because strangers send them. Numbers are LEB128 varints
unless said; layout, version 2: "TD" · version (u8) · epoch, analyzer, ranking, bits of slots, documents of the network,
their lengths (4) · how many bytes all hashes begin with · these · how many rows · the rows, by ascending hash.
A row: the other bytes of its hash · how many entries · twice the number of slots that follow as the rest, plus 1 where
one may name a front page · if there are any, their level (u8) · of all entries the slots (u16, little-endian), the
levels (u8), and the documents that hold the term, 127 at most, plus 128 where it may name a front page (u8) · how many
stem classes, and for each: class (u8), df.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dht import BadMessage
from index.directory.impact import DirectoryEpoch
from index.directory.term_row import ENTRY, FEW_NAMED, HASH_BYTES, MOST_NAMED, NOWHERE, RestOfSlots, TermRow
from index.text.stem_classes import CLASSES

MOST_ROWS = 256  # of a page
MOST_PAGE_ENTRIES = 1 << 14  # of all rows
MOST_PAGE_BYTES = 1 << 17  # so many entries, 4 bytes each, have 66 kB
MOST_NUMBER = 1 << 48
MAX_SLOT_BITS = 16
_MAGIC = b"TD\x02"
_GROUPS = 7  # bytes of the greatest number


@dataclass(frozen=True, slots=True)
class RowPage:
    """Holds rows by the hashes of their terms, all of one epoch."""

    epoch: DirectoryEpoch
    rows: Mapping[bytes, TermRow]


def most_named(rows: int) -> int:
    """Return how many slots each of so many rows of a page may name."""
    return max(FEW_NAMED, min(MOST_NAMED, MOST_PAGE_ENTRIES // max(rows, 1)))


def pack_page(page: RowPage) -> bytes:
    """Write a page of at most MOST_ROWS rows."""
    epoch, hashes = page.epoch, sorted(page.rows)
    common = _common_start(hashes)
    out = bytearray(_MAGIC)
    for number in (epoch.number, epoch.analyzer, epoch.ranking, epoch.slot_bits, epoch.documents, *epoch.lengths):
        _put(out, number)
    _put(out, len(common))
    out += common
    _put(out, len(hashes))
    for each in hashes:
        out += each[len(common) :]
        _put_row(out, page.rows[each])
    return bytes(out)


def unpack_page(data: bytes, peer: str = "") -> RowPage:
    """Read a page of a peer; raises BadMessage where it is none."""
    try:
        return _PageReader(data).page()
    except (_Refused, IndexError) as error:
        raise BadMessage(peer, f"page of the directory: {str(error) if error.args else 'cut off'}") from None


def _common_start(hashes: list[bytes]) -> bytes:
    """What all of some ascending hashes begin with: what the first and the last do."""
    if len(hashes) < 2:
        return b""
    pairs = zip(hashes[0], hashes[-1], strict=True)
    return hashes[0][: next(place for place, (one, other) in enumerate(pairs) if one != other)]


def _put(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _put_row(out: bytearray, row: TermRow) -> None:
    _put(out, len(row.entries))
    _put(out, 2 * row.rest.slots + row.rest.is_name if row.rest else 0)
    if row.rest:
        out.append(row.rest.level)
    for column in ENTRY.names or ():
        out += row.entries[column].tobytes()
    _put(out, len(row.by_class))
    for number, df in row.by_class:
        out.append(number)
        _put(out, df)


class _Refused(Exception):
    """The bytes break a bound."""


class _PageReader:
    def __init__(self, data: bytes) -> None:
        _demand(len(data) <= MOST_PAGE_BYTES, f"{len(data)} bytes")
        _demand(data[: len(_MAGIC)] == _MAGIC, "of a kind or version that is not known")
        self._data, self._at = data, len(_MAGIC)
        self._slots = self._documents = self._named = 0

    def page(self) -> RowPage:
        number, analyzer, ranking, bits, documents = (self._number() for _ in range(5))
        lengths = self._number(), self._number(), self._number(), self._number()
        _demand(bits <= MAX_SLOT_BITS, f"{bits} bits of slots")
        self._slots, self._documents = 1 << bits, documents
        size = self._number()
        _demand(size <= HASH_BYTES, f"{size} bytes that all hashes begin with")
        common, rows, before = self._bytes(size), dict[bytes, TermRow](), b""
        count = self._number()
        _demand(count <= MOST_ROWS, f"{count} rows")
        for _ in range(count):
            each = common + self._bytes(HASH_BYTES - size)
            _demand(each > before, "its hashes do not ascend")
            rows[each], before = self._row(), each
        _demand(self._at == len(self._data), "bytes follow its last row")
        return RowPage(DirectoryEpoch(number, analyzer, ranking, bits, documents, lengths), rows)

    def _row(self) -> TermRow:
        count = self._number()
        self._named += count
        _demand(count <= MOST_NAMED and self._named <= MOST_PAGE_ENTRIES, f"{count} slots in a row")
        rest, entries = self._rest(self._slots - count), np.zeros(count, ENTRY)
        for column in ENTRY.names or ():
            kind = ENTRY[column]
            entries[column] = np.frombuffer(self._bytes(count * kind.itemsize), kind)
        slots = entries["slot"]
        _demand(not count or int(slots[-1]) < self._slots, f"slots beyond {self._slots}")
        _demand(bool(np.all(slots[1:] > slots[:-1])), "its slots do not ascend")
        _demand(count > 0 or rest is None, "no slot is named")
        return TermRow(entries, rest, self._by_class()) if count else self._nowhere()

    def _nowhere(self) -> TermRow:
        _demand(not self._by_class(), "documents in no slot")
        return NOWHERE

    def _rest(self, most: int) -> RestOfSlots | None:
        slots, is_name = divmod(self._number(), 2)
        _demand(slots <= most, f"{slots} slots more than a row names")
        return RestOfSlots(slots, self._byte(), bool(is_name)) if slots else None

    def _by_class(self) -> tuple[tuple[int, int], ...]:
        count = self._number()
        _demand(count <= len(CLASSES), f"{count} stem classes")
        found = [(self._byte(), self._number()) for _ in range(count)]
        numbers = [number for number, _ in found]
        _demand(numbers == sorted(set(numbers)), "its stem classes do not ascend")
        _demand(all(number < len(CLASSES) for number in numbers), "a stem class that is not known")
        df = sum(each for _, each in found)
        _demand(df <= self._documents, f"a term in {df} of {self._documents} documents")
        return tuple(found)

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        self._at += count
        _demand(self._at <= len(self._data), "cut off")
        return self._data[self._at - count : self._at]

    def _number(self) -> int:
        number = 0
        for place in range(_GROUPS):
            byte = self._byte()
            number |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                _demand(number <= MOST_NUMBER, f"the number {number}")
                return number
        raise _Refused("an overlong number")


def _demand(is_so: bool, else_say: str) -> None:
    if not is_so:
        raise _Refused(else_say)
