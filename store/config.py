"""The settings of storing.

Pure: values only. Sizes are bytes, times seconds unless the name says otherwise.
"""

from dataclasses import dataclass, fields
from math import inf

_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """The settings of `[store]`. Every field has a default that suits a home server; the demo shortens the periods."""

    quota_bytes: int = 20 * _GIB  # the most that all files of a node may take together: records, indexes, outbox
    reserve_bytes: int = 512 * _MIB  # free space on the disk that is left to everybody else
    segment_bytes: int = 64 * _MIB  # a segment is sealed at this size; compaction rewrites one at a time
    compression_level: int = 3  # zstd; 3 is where more effort stops paying on pages (4.1 times)
    dictionary_bytes: int = 112 * 1024  # by which segments are packed, trained on what is stored; 0: none
    compact_below: float = 0.5  # a sealed segment whose live share is lower is rewritten
    tombstone_days: int = 30  # how long the change log remembers a removal; an older cursor starts from zero
    tend_every_s: float = 300.0  # pause between looks for expired records and sparse segments
    flush_records: int = 256  # a package is signed and sent when it holds this many records,
    flush_bytes: int = _MIB  # or this many bytes of them,
    flush_after_s: float = 0.2  # or when this long has passed since the last one left, a peer it went to; 1 s at most
    max_flushes: int = 8  # packages in flight at once
    max_waiting_bytes: int = 32 * _MIB  # writers wait while more than this is queued or in flight
    stranger_records_s: float = 1000.0  # records a second taken from a peer in slots that are not its own
    import_bytes_day: int = 4 * _GIB  # of pages and contents that one member may import a day into this node's slots
    import_records_day: int = 200_000  # pages of the same; a file of Common Crawl has some 40,000
    put_timeout_s: float = 5.0  # one peer's time to store a package
    write_deadline_s: float = 20.0  # a write without enough durable copies by then fails
    retry_s: float = 0.5  # pause before a write that is short of copies looks for other owners
    read_timeout_s: float = 3.0  # one peer's time to answer a read
    hedge_after_s: float = 0.5  # a read asks a second replica when the first is silent for so long
    outbox_bytes: int = 64 * _MIB  # the most that owed copies may take; beyond it a slot is reconciled instead
    outbox_hours: float = 24.0  # how long a copy is owed; beyond it a slot is reconciled instead
    deliver_every_s: float = 1.0  # pause between looks for peers that returned and are owed copies
    step_s: float = 0.5  # pause between looks at the view for slots gained, lost or to be reconciled
    reconcile_every_s: float = 600.0  # each ready slot is compared with one random owner this often
    reconcile_slots: int = 64  # slots of one peer compared in one session
    reconcile_parallel: int = 4  # sessions in flight at once
    handover_bytes_s: float = 16 * _MIB  # bytes a second that slots changing hands may take, in and out together
    handover_slots: int = 256  # slots that change hands at once; doubled slots move in portions of this
    move_every_s: float = 10.0  # pause between looks for records of spread sites that lie in old places
    join_wait_s: float = 5.0  # a node that expects others waits this long to hear of one before it serves alone
    view_settle_s: float = 1.0  # the member list must have been quiet this long before a starting node trusts it
    start_window_s: float = 15.0  # a slot ready so soon after the start is doubted when another holder shows up
    handoff_settle_s: float = 2.0  # a slot handed over stays on disk this long after it is no longer announced

    def __post_init__(self) -> None:
        """Raise ValueError, the field's name first, for what cannot work."""
        for field in fields(self):
            value, (least, most) = getattr(self, field.name), _BOUNDS.get(field.name, (0, inf))
            if not (least <= value <= most and value < inf):
                limits = f"{least:g} or more" if most == inf else f"between {least:g} and {most:g}"
                raise ValueError(f"{field.name}: {value} is not {limits}")


_BOUNDS: dict[str, tuple[float, float]] = {
    "quota_bytes": (1, inf),
    "segment_bytes": (1024, 16 * _GIB),
    "compression_level": (1, 22),  # zstd's own
    "dictionary_bytes": (0, _MIB),
    "compact_below": (0, 0.9),  # near 1 every removal would rewrite a segment
    **dict.fromkeys(("flush_records", "max_flushes", "reconcile_slots", "reconcile_parallel"), (1, 100_000)),
    **dict.fromkeys(("flush_bytes", "max_waiting_bytes", "handover_bytes_s"), (1024, inf)),
    "handover_slots": (1, 65_536),
    **dict.fromkeys(("put_timeout_s", "write_deadline_s", "retry_s", "read_timeout_s", "step_s"), (0.01, inf)),
    **dict.fromkeys(("tend_every_s", "deliver_every_s", "reconcile_every_s", "move_every_s"), (0.01, inf)),
}
