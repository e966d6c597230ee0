"""The errors of the index.

Pure: values only. A query that does not parse is the asker's to fix; a damaged index is this machine's failure, and
costs time only: it is rebuilt from the store.
"""

from dataclasses import dataclass

from dht import BrokenFile, InputError


@dataclass(eq=False)
class QueryError(InputError):
    """A query that means nothing; `position` counts characters from 0 and points at the trouble."""

    position: int
    reason: str

    def __str__(self) -> str:
        return f"at character {self.position + 1}: {self.reason}"


class IndexCorrupt(BrokenFile):
    """Index files that cannot be read or written, and could not be set right by beginning again."""
