"""The file that says that this node ran before, so that it gives no vote twice after a start.

What it says is not looked at: clocks are set, and old images of disks put back, so no instant in it could be trusted. A
vote is given only once the file is there: where the machine refuses it, the node votes for nobody.
"""

from pathlib import Path

from dht.atomic_file import write_atomically
from dht.local_faults import FaultSite, LocalFaults, refused


class VoteNote:
    """The note of one node; `path` None keeps nothing. Its calls block and belong on a thread."""

    def __init__(self, path: Path | None, faults: LocalFaults) -> None:
        self._path, self._faults = path, faults

    def exists(self) -> bool:
        """Tell whether this node ran before, or may have."""
        try:
            return self._path is not None and self._path.stat() is not None
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def write(self) -> bool:
        """Note that this node runs, and tell whether it is noted, which it is not where the machine refuses."""
        if self._path is None:
            return True
        try:
            write_atomically(self._path, b"votes may be given\n")
        except OSError as error:
            self._faults.begin(FaultSite.VOTES, refused(self._path, error))
            return False
        self._faults.end(FaultSite.VOTES)
        return True
