"""Reads the records of a WARC, compressed or not, each within bounds: one that is broken or too large costs itself.

Pure, but for the stream that it reads from. Source: ISO 28500:2017 (WARC 1.1).
"""

from collections.abc import Callable, Iterator
from typing import IO

import msgspec

from node.extras.archive.read_limits import DEFAULT_LIMITS, ArchiveFlaw, ReadLimits
from node.extras.archive.unpacked_input import RECORD, UnpackedInput, Unreadable

Fields = dict[str, str]


class WarcRecord(msgspec.Struct, frozen=True):
    """A record as it stands in the file."""

    place: int  # bytes before it, unpacked
    fields: Fields  # by their names in small letters
    block: bytes  # b"" where nobody wanted it

    @property
    def type(self) -> str:
        """The kind of the record."""
        return self.fields.get("warc-type", "")

    @property
    def url(self) -> str:
        """The address that it is about."""
        return target(self.fields)


def read_records(
    file: IO[bytes], limits: ReadLimits, wanted: Callable[[Fields], bool]
) -> Iterator[WarcRecord | ArchiveFlaw]:
    """Yield the records of a WARC in order, with the blocks of those that are `wanted`, and what cannot be read."""
    source = UnpackedInput(file, limits)
    may_go_on = True
    while may_go_on:
        place, fields = source.place, Fields()
        try:
            fields = _head(source, limits)
            if not fields:
                return
            block = _block(source, fields, limits, wanted)
        except Unreadable as error:
            yield ArchiveFlaw(place, str(error), target(fields))
            try:
                may_go_on = source.next_member()
            except Unreadable as worse:
                yield ArchiveFlaw(source.place, str(worse))
                return
        else:
            if block is None:
                yield ArchiveFlaw(place, f"a record is larger than {limits.record_bytes} bytes", target(fields))
            else:
                yield WarcRecord(place, fields, block)


def response_targets(file: IO[bytes]) -> Iterator[str]:
    """Yield the addresses of the responses in a WARC, in order; raises ValueError where it is none, or ends within."""
    is_empty = True
    for record in read_records(file, DEFAULT_LIMITS, lambda fields: False):
        if isinstance(record, ArchiveFlaw):
            raise Unreadable(record.reason)
        is_empty = False
        if record.type == "response" and is_web(record.url):
            yield record.url
    if is_empty:
        raise Unreadable("it holds no record")


def is_web(url: str) -> bool:
    """Tell whether an address is one of the web."""
    return url.startswith(("http://", "https://"))


def target(fields: Fields) -> str:
    """Return the address that a record is about."""
    return fields.get("warc-target-uri", "").strip("<>")  # some writers put it in angle brackets


def _head(source: UnpackedInput, limits: ReadLimits) -> Fields:
    """Read a record's head; empty at the end of the file."""
    fields, room = Fields(), limits.head_bytes
    while not (line := source.line(room)).strip():
        if not line:
            return fields
        room -= len(line)
    if not line.startswith(RECORD):
        raise Unreadable("a record does not begin with WARC/")
    fields[""] = line.decode(errors="replace").strip()
    while (line := source.line(room)).strip():
        room -= len(line)
        name, _, value = line.decode(errors="replace").partition(":")
        fields[name.strip().lower()] = value.strip()
    return fields


def _block(source: UnpackedInput, fields: Fields, limits: ReadLimits, wanted: Callable[[Fields], bool]) -> bytes | None:
    """Read a record's block, or pass over it where it is not wanted, or (None) too large."""
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdecimal() and len(length) < 16):
        raise Unreadable("a record does not say how long it is")
    if not wanted(fields):
        source.skip(int(length))
        return b""
    if int(length) > limits.record_bytes:
        source.skip(int(length))
        return None
    return source.read(int(length))
