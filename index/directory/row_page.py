"""A page of the directory: the rows of some terms as they are kept and sent.

Pure: rows in, bytes out, and back with every number checked, because strangers send them. Numbers are LEB128 varints
unless said; layout, version 1: "TD" · version (u8) · epoch, analyzer, ranking, bits of slots, documents of the network,
their lengths (4) · how many bytes all hashes begin with · these · how many rows · the rows, by ascending hash.
A row: the other bytes of its hash · how many entries · where these are as many as `MOST_SLOTS`: how many slots follow
as the rest, and if any: level (u8), twice the df, plus 1 where it may name a front page · the entries: slot (its
distance from the one before, less 1), level (u8), twice the df plus that 1 · how many stem classes, and where it is
more than one, for each: class (u8), df. Of a single class: the class.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dht import BadMessage, Slot
from index.directory.impact import DirectoryEpoch
from index.directory.term_row import HASH_BYTES, MOST_SLOTS, NOWHERE, RestOfSlots, SlotEntry, TermRow
from index.text.stem_classes import CLASSES

MOST_ROWS = 256  # of a page
MOST_PAGE_BYTES = 1 << 17  # 256 rows of 64 slots, 5 bytes each, have 90 kB
MOST_NUMBER = 1 << 48
MAX_SLOT_BITS = 16
_MAGIC = b"TD\x01"
_GROUPS = 7  # bytes of the greatest number


@dataclass(frozen=True, slots=True)
class RowPage:
    """Holds rows by the hashes of their terms, all of one epoch."""

    epoch: DirectoryEpoch
    rows: Mapping[bytes, TermRow]


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
    if len(row.entries) == MOST_SLOTS:
        rest = row.rest
        _put(out, rest.slots if rest else 0)
        if rest:
            out.append(rest.level)
            _put(out, 2 * rest.df + rest.is_name)
    before = -1
    for entry in row.entries:
        _put(out, entry.slot - before - 1)
        out.append(entry.level)
        _put(out, 2 * entry.df + entry.is_name)
        before = entry.slot
    _put(out, len(row.by_class))
    for number, df in row.by_class:
        out.append(number)
        if len(row.by_class) > 1:
            _put(out, df)


class _Refused(Exception):
    """The bytes break a bound."""


class _PageReader:
    def __init__(self, data: bytes) -> None:
        _demand(len(data) <= MOST_PAGE_BYTES, f"{len(data)} bytes")
        _demand(data[: len(_MAGIC)] == _MAGIC, "of a kind or version that is not known")
        self._data, self._at = data, len(_MAGIC)
        self._slots = self._documents = 0

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
        _demand(count <= MOST_SLOTS, f"{count} slots in a row")
        rest = self._rest(self._slots - count) if count == MOST_SLOTS else None
        entries, before = list[SlotEntry](), -1
        for _ in range(count):
            before += 1 + self._number()
            _demand(before < self._slots, f"slot {before} of {self._slots}")
            entries.append(SlotEntry(Slot(before), self._byte(), *self._df()))
        df = sum(each.df for each in entries) + (rest.df if rest else 0)
        _demand(df <= self._documents, f"a term in {df} of {self._documents} documents")
        by_class = self._by_class(df)
        return TermRow(tuple(entries), rest, by_class) if entries else NOWHERE

    def _rest(self, most: int) -> RestOfSlots | None:
        slots = self._number()
        _demand(slots <= most, f"{slots} slots more than a row names")
        if not slots:
            return None
        level, (df, is_name) = self._byte(), self._df()
        return RestOfSlots(slots, level, df, is_name)

    def _by_class(self, df: int) -> tuple[tuple[int, int], ...]:
        count = self._number()
        _demand(count <= len(CLASSES) and (count > 0) == (df > 0), f"{count} stem classes")
        found = [(self._byte(), self._number() if count > 1 else df) for _ in range(count)]
        numbers = [number for number, _ in found]
        _demand(numbers == sorted(set(numbers)), "its stem classes do not ascend")
        _demand(all(number < len(CLASSES) for number in numbers), "a stem class that is not known")
        _demand(sum(each for _, each in found) == df, "its stem classes do not add up to its slots")
        return tuple(found)

    def _df(self) -> tuple[int, bool]:
        both = self._number()
        return both >> 1, bool(both & 1)  # no document, where fewer than half of the slot's owners know of one

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
