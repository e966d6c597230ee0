"""Finds pages that lie here while the outcome of their fetch does not: stored, and not safe with all owners yet.

Copies may come minutes late. Meanwhile the lease may move to this node, or this node may start anew. Nobody fetches
such a page again: a page of this node's own is read from its disk, and one of another's waits for that node's outcome.
"""

from msgspec.structs import astuple, replace

from crawl import Fetched, SentRequest, Visit
from dht import Clock, NodeId, document_id, node_id_of
from store import Kind, Record, RecordStore, decode_document

OWN_S = 3_600.0  # the age up to which a page of this node's own is delivered from its disk
OTHERS_S = 300.0  # and up to which a page of another's is waited for: it may have died
LOOK_AGAIN_S = 60.0
READ_WITHIN_S = 300.0  # between the answer of a site and the instant of its page, which a busy node parses late


class UnfinishedFetches:
    """Looks for them in one node's store."""

    def __init__(self, store: RecordStore, me: NodeId, clock: Clock) -> None:
        self._store, self._me, self._clock = store, me, clock

    def postponed(self, visit: Visit) -> Visit | None:
        """Return a URL with a later due time where another node has stored its page here and may still deliver the
        outcome; None where none has."""
        record = self._find(visit)
        if record is None or self._is_own(record) or self._age_s(record) > OTHERS_S:
            return None
        return replace(visit, due_at=self._clock().wall + LOOK_AGAIN_S)

    def read(self, visit: Visit) -> Fetched | None:
        """Return the response that a page of this node's own was, None where there is no such page."""
        record = self._find(visit)
        if record is None or not self._is_own(record):
            return None
        record = self._store.find(Kind.DOCUMENT, record.id)
        document = decode_document(record.body) if record is not None else None
        if record is None or document is None or record.content is None or (document.gone and document.status < 400):
            return None
        sent = SentRequest(*astuple(document.request)) if document.request else None
        return Fetched(document.url, document.status, document.headers, record.content, False, 0.0, "", sent=sent)

    def _find(self, visit: Visit) -> Record | None:
        """Return a page that was written after the last known outcome, and lately; nearly always there is none."""
        id_ = document_id(visit.url)
        version = self._store.find_version(Kind.DOCUMENT, id_)
        if version is None or not version.epoch or version.at_ms / 1000 <= visit.visited_at + READ_WITHIN_S:
            return None
        if self._clock().wall > version.at_ms / 1000 + OWN_S:
            return None
        record = self._store.find(Kind.DOCUMENT, id_, content=False)
        return None if record is None or self._store.denial.reason(record) else record

    def _is_own(self, record: Record) -> bool:
        return node_id_of(record.proof.author) == self._me

    def _age_s(self, record: Record) -> float:
        return self._clock().wall - record.version.at_ms / 1000
