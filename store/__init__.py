"""Documents, versions, replicas: what the network keeps and how it stays kept. Imports `dht` only.

Nouns: `Record`, `Document`, `RecordStore`, `Replicator`, `Disk`. Read record, document, package; then disk, segments,
rows, frames, sites, cells, catalog, ledger, records (one node's disk); then reconcile, readiness, writer,
reader, steward, replicator (the team).
"""

from store.catalog import Change
from store.cells import Summary
from store.config import StoreConfig
from store.disk import Disk, FolderDisk, MemoryDisk
from store.document import Document, decode_document, encode_document
from store.errors import BadDraft, BadReplica, DiskFull, StoreCorrupt, TooFewCopies
from store.hostrecord import HostAlias, HostRecord, decode_host, encode_host, host_name, host_url
from store.messages import SlotReport, SlotReportReply
from store.package import Signer, url_of, verify_record
from store.record import Draft, Kind, Proof, Record, Version, digest_of
from store.records import RecordStore
from store.replicator import Replicator, ReplicatorStatus
from store.rows import Row

__all__ = [
    "BadDraft",
    "BadReplica",
    "Change",
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
    "Record",
    "RecordStore",
    "Replicator",
    "ReplicatorStatus",
    "Row",
    "Signer",
    "SlotReport",
    "SlotReportReply",
    "StoreConfig",
    "StoreCorrupt",
    "Summary",
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
