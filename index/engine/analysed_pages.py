"""Remembers the analysed records of shown pages: other answers of peers are checked without analysing them again.

Pure: values only. The version of a document is the digest of all that is analysed of it, so a record stays right.
"""

from index.change_feed import Text
from index.text.analyzer_rules import AnalyzerRules
from index.text.forward_index import ForwardRecord, forward_of

MOST_BYTES = 4 << 20  # some 700 pages
_OVERHEAD_BYTES = 600  # of a record beside its tables


class AnalysedPages:
    """The records that were made last, up to so many bytes of them."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._kept: dict[tuple[bytes, bytes, int], ForwardRecord] = {}  # the one that was wanted last is the last

    def forward_of(self, text: Text, rules: AnalyzerRules) -> ForwardRecord:
        """Return the forward record of a document whose version was verified."""
        name = text.id, text.version, rules.number
        forward = self._kept.pop(name, None)
        if forward is None:
            forward = forward_of(text, rules)
            self._bytes += _size(forward)
        self._kept[name] = forward
        while self._bytes > self._most_bytes:
            self._bytes -= _size(self._kept.pop(next(iter(self._kept))))
        return forward

    def spare(self) -> None:
        """Forget all records; they are made again."""
        self._kept, self._bytes = {}, 0


def _size(forward: ForwardRecord) -> int:
    return len(forward.table) + len(forward.rows) + len(forward.low) + _OVERHEAD_BYTES
