"""The errors of the index.

Pure: values only. A query that does not parse is the asker's to fix. A damaged index is this machine's failure, and
costs only time: it is rebuilt from the store.
"""

import re
from dataclasses import dataclass

from dht import BrokenFile, InputError, MachineRefuses, refusal_of

_CODE = re.compile(r"(?:os error|code:) (\d+)")


@dataclass(eq=False)
class QueryError(InputError):
    """A query that means nothing; `position` counts characters from 0 and points at the trouble, None: at no word."""

    position: int | None
    reason: str

    def __str__(self) -> str:
        return self.reason if self.position is None else f"at character {self.position + 1}: {self.reason}"


class IndexCorrupt(BrokenFile):
    """Index files that are damaged: the index begins again, from what the store has."""


def failure_of(path: object, error: BaseException) -> MachineRefuses | IndexCorrupt:
    """Say what an engine's or the table's error is: the machine refused, or the files are damaged."""
    code = _CODE.search(str(error))  # tantivy tells the operating system's errors by text alone
    if code and not isinstance(error, OSError):
        error = OSError(int(code[1]), "")
    return refusal_of(path, error) or IndexCorrupt(str(path), str(error), "it is built anew from the store")
