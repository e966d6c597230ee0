"""Documents, versions, replicas: what the network keeps and how it stays kept. Imports `dht` only.

Nouns: `Record`, `Document`, `RecordStore`, `Replicator`, `Disk`. Read record, document, package; then disk, segments,
rows, frames, sites, cells, catalog, ledger, records (one node's disk); then reconcile, readiness, writer,
reader, steward, replicator (the team).
"""

from store.config import StoreConfig
from store.disk.file_system import MemoryDisk
from store.disk.record_store import RecordStore
from store.errors import TooFewCopies
from store.record.document import Document, decode_document, encode_document
from store.record.host_record import HostAlias, HostRecord, decode_host, encode_host, host_name, host_url
from store.record.package import url_of
from store.record.record import Draft, Kind, Record, Version
from store.replication.messages import SlotReport, SlotReportReply
from store.replication.replicator import Replicator

__all__ = [
    "Document",
    "Draft",
    "HostAlias",
    "HostRecord",
    "Kind",
    "MemoryDisk",
    "Record",
    "RecordStore",
    "Replicator",
    "SlotReport",
    "SlotReportReply",
    "StoreConfig",
    "TooFewCopies",
    "Version",
    "decode_document",
    "decode_host",
    "encode_document",
    "encode_host",
    "host_name",
    "host_url",
    "url_of",
]
