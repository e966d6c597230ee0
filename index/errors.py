"""The errors of the index.

Pure: values only. A query that does not parse is the asker's to fix; a damaged index is this machine's failure, and
costs time only: it is rebuilt from the store.
"""

from dataclasses import dataclass

from dht import InputError, LocalError


@dataclass(eq=False)
class QueryError(InputError):
    """A query that means nothing; `position` counts characters from 0 and points at the trouble."""

    position: int
    reason: str

    def __str__(self) -> str:
        return f"at character {self.position + 1}: {self.reason}"


@dataclass(eq=False)
class IndexCorrupt(LocalError):
    """Index files that cannot be read or written, and could not be set right by beginning again."""

    path: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}; {self.remedy}"
