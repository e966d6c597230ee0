"""Lists what does not work on this machine just now, and what that stops: one list for status, pages and exit codes.

Code that reads or writes a file begins a fault where the machine refuses, and goes on with what it can. It ends the
fault when a later try succeeds. A fault is logged once when it begins and once when it ends.

Replaces a small file in one step.
"""

import errno
import logging
import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path, PurePath

from dht.clock import Clock
from dht.errors import BrokenFile, MachineRefuses

log = logging.getLogger(__name__)

CALM_S = 5.0  # a fault ends only when nothing was refused for so long: small writes may fit where large ones do not
CHECK_DISK = "the disk reports errors: check it, and replace it"
OTHERWISE = "check the disk, and the permissions of the data directory"
_REMEDIES = {
    errno.ENOSPC: "free some space on this disk",
    errno.EDQUOT: "free some space, or raise this user's disk quota",
    errno.EFBIG: "raise this process's limit of file sizes (ulimit -f)",
    errno.EROFS: "check the disk, and mount it for writing again",
    errno.EACCES: "give this user the right to read and write it",
    errno.EPERM: "give this user the right to read and write it",
    errno.EMFILE: "raise this process's limit of open files (ulimit -n)",
    errno.ENFILE: "too many files are open on this machine: raise its limit (fs.file-max)",
    errno.ENOMEM: "free some memory on this machine",
    errno.EIO: CHECK_DISK,
    errno.ENOENT: "put the data directory back where it was",
}
_SQLITE = {  # primary codes of SQLite that say nothing against the file itself
    3: OTHERWISE,  # SQLITE_PERM
    5: "stop the other program that uses this file",  # SQLITE_BUSY
    7: _REMEDIES[errno.ENOMEM],  # SQLITE_NOMEM
    8: _REMEDIES[errno.EROFS],  # SQLITE_READONLY
    10: CHECK_DISK,  # SQLITE_IOERR
    13: _REMEDIES[errno.ENOSPC],  # SQLITE_FULL
    14: "raise the limit of open files, or give this user access to it",  # SQLITE_CANTOPEN
}
_SQLITE_IOERR, _SQLITE_DAMAGED_DISK = 10, 10 | 33 << 8  # SQLITE_IOERR_CORRUPTFS
FULL_BYTES = 65_536  # a disk with less is full: SQLite's shared memory takes half of it


class FaultSite(Enum):
    """Where this machine may fail; the text says what stops meanwhile."""

    STORE = "this node takes no copies and fetches no pages; it answers from what it has"
    RECORDS = "records that cannot be read are fetched again from other owners; their slots are not ready meanwhile"
    INDEX = "new documents are not found through this node; slots that lack any are left to other owners"
    INDEX_BESIDE = "the index for rules of search that are not in force is not built further; answers go on"
    SEEN = "links that were handed over may be handed over again"
    VOTES = "this node votes for nobody's lease, so that no slot gets two holders"
    FAREWELLS = "this node stops without a farewell, and the others wait for it; or has no vote yet after one"
    PEERS = "peers met since then are not remembered when this node starts again"
    STRATEGY = "the newest strategy is asked for again when this node starts again"
    PUZZLE = "the identity's puzzle is solved again when this node starts again"
    JOBS = "crawl jobs that were added or changed since then are remembered only until this node stops"
    LOG = "lines of the log are lost"
    HANDLES = "new connections wait"
    BACKUP = "no backup is made; all else goes on"
    TASKS = "this part of the upkeep rests, and runs again within a minute; all else goes on"


@dataclass(frozen=True, slots=True)
class LocalFault:
    """One thing of this machine that fails: where, why, since when (Unix seconds), and what its operator can do."""

    site: FaultSite
    cause: str
    since: float
    remedy: str

    @property
    def what_stops(self) -> str:
        """Say what does not work meanwhile, and what goes on."""
        return self.site.value

    def __str__(self) -> str:
        return f"{self.cause}; {self.what_stops}; {self.remedy}"


class LocalFaults:
    """The faults of this machine at this moment. Its methods may be called by any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._present: dict[FaultSite, LocalFault] = {}
        self._refused_at: dict[FaultSite, float] = {}
        self._works_again: set[FaultSite] = set()

    def begin(self, site: FaultSite, error: BrokenFile) -> None:
        """Take note that something fails; the newest cause is shown, the first one is logged."""
        now, before = self._clock(), self._present.get(site)
        found = LocalFault(site, f"{_short(error.path)}: {error.reason}", now.wall, error.remedy)
        self._refused_at[site] = now.steady
        self._works_again.discard(site)
        self._present[site] = replace(found, since=before.since) if before else found
        if before is None:
            log.warning("fault begins site=%s reason=%s; until then %s", site.name.lower(), error, site.value)

    def end(self, site: FaultSite) -> None:
        """Take note that it works again; the fault is over when nothing was refused for CALM_S."""
        if site in self._present:
            self._works_again.add(site)

    def present(self) -> tuple[LocalFault, ...]:
        """Return the faults of this moment, the oldest first; it is called every few seconds, and logs what is over."""
        now = self._clock()
        for site in list(self._works_again):
            if now.steady - self._refused_at[site] >= CALM_S:
                self._works_again.discard(site)
                since = self._present.pop(site).since
                log.info("fault ends site=%s after_s=%.0f", site.name.lower(), now.wall - since)
        return tuple(sorted(self._present.values(), key=lambda fault: fault.since))


def refused(path: object, error: OSError) -> MachineRefuses:
    """Say what the operating system refused, and what helps."""
    reason = (error.strerror or (os.strerror(error.errno) if error.errno else str(error))).lower()
    return MachineRefuses(str(path), reason, _REMEDIES.get(error.errno or 0, OTHERWISE))


def refusal_of(path: object, error: BaseException) -> MachineRefuses | None:
    """Say that the machine refused a file, and what helps; None where an error means anything else, as damage does."""
    if isinstance(error, MachineRefuses):
        return error
    if isinstance(error, OSError):
        return refused(path, error)
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(code, int) or code & 0xFF not in _SQLITE or code == _SQLITE_DAMAGED_DISK:
        return None
    if code & 0xFF == _SQLITE_IOERR and _is_full(str(path)):  # what SQLite says where its shared memory finds no room
        return refused(path, OSError(errno.ENOSPC, "no space left"))
    return MachineRefuses(str(path), str(error), _SQLITE[code & 0xFF])


def _is_full(path: str) -> bool:
    try:
        return shutil.disk_usage(PurePath(path).parent).free < FULL_BYTES
    except OSError:
        return False


def _short(path: str) -> str:
    """The last two parts of a path: enough to find it, and nothing about the rest of this machine."""
    return "/".join(PurePath(path).parts[-2:]) or path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, whole and on the disk; raises OSError."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def keep_file(path: Path | None, data: bytes, site: FaultSite, faults: LocalFaults) -> bool:
    """Replace a small file, and tell whether that is done; `faults` learns what the machine refuses. Without a path
    nothing is to be kept."""
    try:
        if path is not None:
            write_atomically(path, data)
    except OSError as error:
        faults.begin(site, refused(path, error))
        return False
    faults.end(site)
    return True
