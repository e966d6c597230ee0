"""Documents, versions, replicas: what the network keeps and how it stays kept. Imports `dht` only.

Nouns: `Record`, `Document`, `RecordStore`, `Replicator`, `Disk`. Read record, document, package; then disk, segments,
rows, frames, sites, cells, catalog, ledger, records (one node's disk); then reconcile, readiness, writer,
reader, steward, replicator (the team).
"""

from store.config import StoreConfig
from store.disk.catalog_reader import RecordChange
from store.disk.cell_sums import RangeSummary
from store.disk.file_system import Disk, FolderDisk, MemoryDisk
from store.disk.record_store import RecordStore
from store.disk.row_table import CatalogRow
from store.errors import BadDraft, BadReplica, DiskFull, StoreCorrupt, TooFewCopies
from store.record.document import Document, decode_document, encode_document
from store.record.host_record import HostAlias, HostRecord, decode_host, encode_host, host_name, host_url
from store.record.package import Signer, url_of, verify_record
from store.record.record import Draft, Kind, Proof, Record, Version, digest_of
from store.replication.messages import SlotReport, SlotReportReply
from store.replication.replicator import Replicator, ReplicatorStatus

__all__ = [
    "BadDraft",
    "BadReplica",
    "CatalogRow",
    "Disk",
    "DiskFull",
    "Document",
    "Draft",
    "FolderDisk",
    "HostAlias",
    "HostRecord",
    "Kind",
    "MemoryDisk",
    "Proof",
    "RangeSummary",
    "Record",
    "RecordChange",
    "RecordStore",
    "Replicator",
    "ReplicatorStatus",
    "Signer",
    "SlotReport",
    "SlotReportReply",
    "StoreConfig",
    "StoreCorrupt",
    "TooFewCopies",
    "Version",
    "decode_document",
    "decode_host",
    "digest_of",
    "encode_document",
    "encode_host",
    "host_name",
    "host_url",
    "url_of",
    "verify_record",
]
