"""The settings of the index: one frozen branch of the node's configuration.

Pure: values only. Every field has a unit and a reason.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """The settings of `[index]`. None of them changes an answer's order, only how fast or how complete it is."""

    engine: Literal["tantivy", "whoosh", "memory"] = "tantivy"  # whoosh where tantivy has no wheel; memory: simulator
    commit_s: float = 0.5  # changes wait this long for company: a commit costs 70–100 ms whatever its size
    batch_count: int = 1024  # most documents in one commit, so that a stop never waits longer than a second or two
    writer_heap_bytes: int = 30_000_000  # tantivy's buffer before it cuts a segment; it refuses less than 15 MB
    first_depth: int = 4096  # candidates a peer scores before it is asked for more
    max_depth: int = 16384  # and at most: about 0.3 s of scoring; beyond it an answer says exact = false
    hedge_fraction: float = 0.2  # of a round's time; then a silent peer's slots are asked of another ready replica
    max_results: int = 1000  # how deep paging goes, in results before folding
    max_deadline_ms: int = 30_000  # longest deadline a caller may ask for
    snippet_chars: int = 240  # about three lines
