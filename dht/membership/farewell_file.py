"""The farewell file keeps the farewells of a small network over restarts, so that an ended one never counts again.

A node writes only what it has verified. A file that does not decode counts as empty, and the log says so.
"""

import logging
from pathlib import Path

import msgspec

from dht.atomic_file import write_atomically
from dht.local_faults import FaultSite, LocalFaults, refused
from dht.membership.farewell_book import Parting

log = logging.getLogger(__name__)


class FarewellFile:
    """The file of one node; `path` None keeps nothing. Its calls block and belong on a thread."""

    def __init__(self, path: Path | None, faults: LocalFaults) -> None:
        self._path, self._faults = path, faults

    def load(self) -> tuple[Parting, ...]:
        """Return what was kept, nothing where there is none."""
        try:
            data = self._path.read_bytes() if self._path is not None else b"\x90"
            return msgspec.msgpack.decode(data, type=tuple[Parting, ...])
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError) as error:
            log.warning("farewells ignored path=%s reason=%s", self._path, error)
            return ()

    def write(self, partings: tuple[Parting, ...]) -> bool:
        """Keep these, and tell whether that is done, which it is not where the machine refuses."""
        if self._path is None:
            return True
        try:
            write_atomically(self._path, msgspec.msgpack.encode(partings))
        except OSError as error:
            self._faults.begin(FaultSite.FAREWELLS, refused(self._path, error))
            return False
        self._faults.end(FaultSite.FAREWELLS)
        return True
