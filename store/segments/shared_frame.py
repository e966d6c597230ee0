"""Frames that hold several records: small ones without contents (`record_group.py`), or a part of a package as it came.

Pure: values only.
"""

from dataclasses import dataclass

from store.record.package import decode_head, split_records
from store.record.record import Record
from store.segments.frame import Frame, FrameType
from store.segments.record_group import RecordGroup, decode_group


@dataclass(frozen=True, slots=True)
class PackedRecords:
    """The records of a part of a package, decoded one by one when they are asked for."""

    _encoded: list[bytes]

    def __len__(self) -> int:
        return len(self._encoded)

    def records(self, *, proven: bool) -> list[Record]:
        """Return all records of the frame, with their proofs."""
        return list(map(decode_head, self._encoded))

    def record(self, n: int, *, proven: bool = True) -> Record:
        """Return the n-th record, with its proof; raises ValueError where there is none."""
        try:
            return decode_head(self._encoded[n])
        except IndexError:
            raise ValueError(f"a package of {len(self)} has no number {n}") from None


SharedFrame = RecordGroup | PackedRecords


def open_shared(frame: Frame) -> SharedFrame:
    """Decode a frame that holds several records; raises ValueError."""
    return PackedRecords(split_records(frame.head)) if frame.type == FrameType.PACKAGE else decode_group(frame.head)
