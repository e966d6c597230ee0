"""Documents, versions, replicas: what the network keeps and how it stays kept. Imports `dht` only.

Nouns: `Record`, `Document`, `RecordStore`, `Replicator`. Rooms, in the order in which to read them: `record` (what is
kept, and how it is signed: record, document, package), `disk` (how one node keeps it: record_store, then segments and
catalog), `replication` (how owners keep the same: replicator, then replica_writer, replica_reader, replica_repair).
"""

from typing import TYPE_CHECKING

from dht import lazily

if TYPE_CHECKING:
    from store.config import StoreConfig
    from store.disk.catalog_reader import CatalogReader, RecordChange
    from store.disk.file_system import MemoryDisk
    from store.disk.record_store import RecordStore
    from store.disk.scrub import ScrubStatus
    from store.disk.store_check import StoreReport, check_store
    from store.disk.store_copy import COPIED_NAME, check_copied_index, store_copy
    from store.errors import BadReplica, NoReadyOwner, NotGranted, StoreCorrupt, TooFewCopies
    from store.record.anchor import (
        MAX_TEXT_CHARS,
        Anchor,
        anchor_id,
        anchors_of,
        decode_anchor,
        encode_anchor,
        page_part,
        standing_anchors,
        stem_of,
    )
    from store.record.denial import PROOF_PATH, REMOVED
    from store.record.document import (
        MAX_MEDIA_TYPE_CHARS,
        MAX_ORIGIN_CHARS,
        Document,
        RequestNote,
        decode_document,
        encode_document,
    )
    from store.record.former_page import KEPT_DAYS, erases, former_id, is_erasure, name_of
    from store.record.host_record import HostAlias, HostRecord, decode_host, encode_host, host_name, host_url
    from store.record.package import decode_head, encode_head, open_package, pack, sign_package, url_of
    from store.record.page_terms import TermsBody, proven_terms, terms_body
    from store.record.range_reconciliation import RangeEntry
    from store.record.record import Draft, DraftTerms, Kind, Record, Version, digest_of
    from store.record.record_check import RecordCheck, SoundRecords
    from store.record.standing_page import page_in
    from store.record.version_policy import VersionPolicy
    from store.replication.copies_by_need import CopyCounts
    from store.replication.messages import SlotReport, SlotReportReply
    from store.replication.possession_audit import PeerFigures
    from store.replication.replicator import Replicator
else:
    __getattr__ = lazily(
        __name__,
        {
            "store.config": "StoreConfig",
            "store.disk.catalog_reader": "CatalogReader RecordChange",
            "store.disk.file_system": "MemoryDisk",
            "store.disk.record_store": "RecordStore",
            "store.disk.scrub": "ScrubStatus",
            "store.disk.store_check": "StoreReport check_store",
            "store.disk.store_copy": "COPIED_NAME check_copied_index store_copy",
            "store.errors": "BadReplica NoReadyOwner NotGranted StoreCorrupt TooFewCopies",
            "store.record.anchor": (
                "MAX_TEXT_CHARS Anchor anchor_id anchors_of decode_anchor encode_anchor page_part standing_anchors "
                "stem_of"
            ),
            "store.record.denial": "PROOF_PATH REMOVED",
            "store.record.document": (
                "MAX_MEDIA_TYPE_CHARS MAX_ORIGIN_CHARS Document RequestNote decode_document encode_document"
            ),
            "store.record.former_page": "KEPT_DAYS erases former_id is_erasure name_of",
            "store.record.host_record": "HostAlias HostRecord decode_host encode_host host_name host_url",
            "store.record.package": "decode_head encode_head open_package pack sign_package url_of",
            "store.record.page_terms": "TermsBody proven_terms terms_body",
            "store.record.range_reconciliation": "RangeEntry",
            "store.record.record": "Draft DraftTerms Kind Record Version digest_of",
            "store.record.record_check": "RecordCheck SoundRecords",
            "store.record.standing_page": "page_in",
            "store.record.version_policy": "VersionPolicy",
            "store.replication.copies_by_need": "CopyCounts",
            "store.replication.messages": "SlotReport SlotReportReply",
            "store.replication.possession_audit": "PeerFigures",
            "store.replication.replicator": "Replicator",
        },
    )

__all__ = [
    "COPIED_NAME", "KEPT_DAYS", "MAX_MEDIA_TYPE_CHARS", "MAX_ORIGIN_CHARS", "MAX_TEXT_CHARS", "PROOF_PATH", "REMOVED",
    "Anchor", "BadReplica", "CatalogReader", "CopyCounts", "Document", "Draft", "DraftTerms", "HostAlias", "HostRecord",
    "Kind", "MemoryDisk", "NoReadyOwner", "NotGranted", "PeerFigures", "RangeEntry", "Record", "RecordChange",
    "RecordCheck", "RecordStore", "Replicator", "RequestNote", "ScrubStatus", "SlotReport", "SlotReportReply",
    "SoundRecords", "StoreConfig", "StoreCorrupt", "StoreReport", "TermsBody", "TooFewCopies", "Version",
    "VersionPolicy", "anchor_id", "anchors_of", "check_copied_index", "check_store", "decode_anchor", "decode_document",
    "decode_head", "decode_host", "digest_of", "encode_anchor", "encode_document", "encode_head", "encode_host",
    "erases", "former_id", "host_name", "host_url", "is_erasure", "name_of", "open_package", "pack", "page_in",
    "page_part", "proven_terms", "sign_package", "standing_anchors", "stem_of", "store_copy", "terms_body", "url_of",
]  # fmt: skip
