"""Where terms that came beside pages lie until the index has read them: in memory, and the oldest give way.

Nothing depends on them: a page whose terms are gone is analysed.
"""

from collections import OrderedDict

from dht import DocumentId
from store.record.page_terms import terms_body
from store.record.record import Record

MOST_BYTES = 16 << 20  # some 4,000 pages: what an index follows within seconds


class TermsShelf:
    """Keeps the terms of pages that were stored lately."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._found: OrderedDict[tuple[DocumentId, bytes], Record] = OrderedDict()

    def put(self, terms: Record) -> None:
        """Keep terms until others need their room."""
        name = terms.id, terms_body(terms).version
        self._drop(self._found.pop(name, None))
        self._found[name] = terms
        self._bytes += len(terms.content or b"")
        while self._bytes > self._most_bytes:
            self._drop(self._found.popitem(last=False)[1])

    def find(self, id: DocumentId, version: bytes) -> Record | None:
        """Return the terms of a version of a page, given its digest, None where there are none."""
        return self._found.get((id, version))

    def clear(self) -> None:
        """Forget all."""
        self._found.clear()
        self._bytes = 0

    def _drop(self, terms: Record | None) -> None:
        if terms is not None:
            self._bytes -= len(terms.content or b"")
