"""Bounds the cost of one record of an archive, and reports records that a reader could not read.

Pure: values only.
"""

import msgspec


class ArchiveFlaw(msgspec.Struct, frozen=True):
    """Says what of an archive could not be read."""

    place: int  # bytes before it, in the unpacked file
    reason: str
    url: str = ""


class ReadLimits(msgspec.Struct, frozen=True):
    """Bounds what one record of an archive may cost; a record beyond them is passed over and named."""

    record_bytes: int = 64 << 20  # unpacked; our crawler keeps pages of a few MB
    head_bytes: int = 1 << 16  # of a record's head, and of the HTTP head in it
    headers: int = 512
    ratio: int = 100  # of unpacked to packed bytes; pages are packed 3 to 20 times, zeros 1,032 times


DEFAULT_LIMITS = ReadLimits()
