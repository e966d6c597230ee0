"""Documents, versions, replicas: what the network keeps and how it stays kept. Imports `dht` only.

Nouns: `Record`, `Document`, `RecordStore`, `Replicator`. Rooms, in the order in which to read them: `record` (what is
kept, and how it is signed: record, document, package), `disk` (how one node keeps it: record_store, then segments and
catalog), `replication` (how owners keep the same: replicator, then replica_writer, replica_reader, replica_repair).
"""

from store.config import StoreConfig
from store.disk.catalog_reader import RecordChange
from store.disk.file_system import MemoryDisk
from store.disk.record_store import RecordStore
from store.disk.store_check import StoreReport, check_store
from store.disk.store_copy import store_copy
from store.errors import BadReplica, StoreCorrupt, TooFewCopies
from store.record.denial import PROOF_PATH, REMOVED
from store.record.document import MAX_MEDIA_TYPE_CHARS, Document, decode_document, encode_document
from store.record.host_record import HostAlias, HostRecord, decode_host, encode_host, host_name, host_url
from store.record.package import open_package, pack, sign_package, url_of
from store.record.record import Draft, Kind, Record, Version
from store.record.record_check import RecordCheck
from store.record.standing_page import page_in
from store.replication.copies_by_need import CopyCounts
from store.replication.messages import SlotReport, SlotReportReply
from store.replication.possession_audit import PeerFigures
from store.replication.replicator import Replicator

__all__ = [
    "MAX_MEDIA_TYPE_CHARS", "PROOF_PATH", "REMOVED", "BadReplica", "CopyCounts", "Document", "Draft", "HostAlias",
    "HostRecord", "Kind", "MemoryDisk", "PeerFigures", "Record", "RecordChange", "RecordCheck", "RecordStore",
    "Replicator",
    "SlotReport", "SlotReportReply", "StoreConfig", "StoreCorrupt", "StoreReport", "TooFewCopies", "Version",
    "check_store", "decode_document", "decode_host", "encode_document", "encode_host", "host_name", "host_url",
    "open_package", "pack", "page_in", "sign_package", "store_copy", "url_of",
]  # fmt: skip
