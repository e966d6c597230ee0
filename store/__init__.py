"""Documents, versions, replicas: what the network keeps and how it stays kept. Imports `dht` only.

Nouns: `Record`, `Document`, `RecordStore`, `Replicator`. Rooms, in the order in which to read them:
- `record`: what is kept, and how it is signed (record, document, package)
- `segments` and `catalog`: how one node keeps it (record_store)
- `writing`, `repair` and `reading`: how owners keep the same, and how it is read
- `replication`: all of that built
"""

from typing import TYPE_CHECKING

from dht import lazily

if TYPE_CHECKING:
    from store.catalog.catalog_reader import RecordChange
    from store.catalog.record_store import RecordStore
    from store.catalog.scrub import ScrubStatus
    from store.catalog.store_check import StoreReport, check_store
    from store.catalog.store_copy import COPIED_NAME, check_copied_index, store_copy
    from store.config import StoreConfig
    from store.errors import NoReadyOwner, NotGranted, StoreCorrupt, TooFewCopies
    from store.record.denial import PROOF_PATH, REMOVED, RecordDenial
    from store.record.document import (
        MAX_MEDIA_TYPE_CHARS,
        MAX_ORIGIN_CHARS,
        Document,
        ImageNote,
        RequestNote,
        decode_document,
        encode_document,
    )
    from store.record.former_page import KEPT_DAYS, VersionPolicy, erases, is_erasure, name_of, page_in
    from store.record.host_record import HostAlias, HostRecord, decode_host, encode_host, host_name, host_url
    from store.record.messages import SlotReport, SlotReportReply
    from store.record.package import sign_package, url_of
    from store.record.range_reconciliation import RangeEntry
    from store.record.record import Draft, Kind, Record, Version, digest_of
    from store.record.record_check import RecordCheck, SoundRecords
    from store.record.signed_head import SignedHead, encode_signed_head, open_signed_head
    from store.repair.copies_by_need import CopyCounts
    from store.repair.possession_audit import PeerFigures
    from store.replication.replicator import Replicator
    from store.segments.file_system import MemoryDisk
    from store.writing.author_budgets import Excess
else:
    __getattr__ = lazily(
        __name__,
        {
            "store.catalog.catalog_reader": "RecordChange",
            "store.catalog.record_store": "RecordStore",
            "store.catalog.scrub": "ScrubStatus",
            "store.catalog.store_check": "StoreReport check_store",
            "store.catalog.store_copy": "COPIED_NAME check_copied_index store_copy",
            "store.config": "StoreConfig",
            "store.errors": "NoReadyOwner NotGranted StoreCorrupt TooFewCopies",
            "store.record.denial": "PROOF_PATH REMOVED RecordDenial",
            "store.record.document": (
                "MAX_MEDIA_TYPE_CHARS MAX_ORIGIN_CHARS Document ImageNote RequestNote decode_document encode_document"
            ),
            "store.record.former_page": "KEPT_DAYS VersionPolicy erases is_erasure name_of page_in",
            "store.record.host_record": "HostAlias HostRecord decode_host encode_host host_name host_url",
            "store.record.messages": "SlotReport SlotReportReply",
            "store.record.package": "sign_package url_of",
            "store.record.range_reconciliation": "RangeEntry",
            "store.record.record": "Draft Kind Record Version digest_of",
            "store.record.record_check": "RecordCheck SoundRecords",
            "store.record.signed_head": "SignedHead encode_signed_head open_signed_head",
            "store.repair.copies_by_need": "CopyCounts",
            "store.repair.possession_audit": "PeerFigures",
            "store.replication.replicator": "Replicator",
            "store.segments.file_system": "MemoryDisk",
            "store.writing.author_budgets": "Excess",
        },
    )

__all__ = [
    "COPIED_NAME",
    "KEPT_DAYS",
    "MAX_MEDIA_TYPE_CHARS",
    "MAX_ORIGIN_CHARS",
    "PROOF_PATH",
    "REMOVED",
    "CopyCounts",
    "Document",
    "Draft",
    "Excess",
    "HostAlias",
    "HostRecord",
    "ImageNote",
    "Kind",
    "MemoryDisk",
    "NoReadyOwner",
    "NotGranted",
    "PeerFigures",
    "RangeEntry",
    "Record",
    "RecordChange",
    "RecordCheck",
    "RecordDenial",
    "RecordStore",
    "Replicator",
    "RequestNote",
    "ScrubStatus",
    "SignedHead",
    "SlotReport",
    "SlotReportReply",
    "SoundRecords",
    "StoreConfig",
    "StoreCorrupt",
    "StoreReport",
    "TooFewCopies",
    "Version",
    "VersionPolicy",
    "check_copied_index",
    "check_store",
    "decode_document",
    "decode_host",
    "digest_of",
    "encode_document",
    "encode_host",
    "encode_signed_head",
    "erases",
    "host_name",
    "host_url",
    "is_erasure",
    "name_of",
    "open_signed_head",
    "page_in",
    "sign_package",
    "store_copy",
    "url_of",
]  # fmt: skip
