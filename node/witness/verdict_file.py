"""Keeps the verdicts of a node in a small file apart from its store, whose catalog may be lost and built anew."""

import logging
from pathlib import Path
from typing import NamedTuple

import msgspec

from dht import NodeId, write_atomically

log = logging.getLogger(__name__)
MAX_BYTES = 1 << 22  # of a file that is read
ID_BYTES = 20


class Convict(NamedTuple):
    """What stays of a verdict once its statements have gone. `since`: what was written from then on is not believed;
    `until`: barred so long (Unix seconds)."""

    since: float
    until: float
    sites: tuple[str, ...]


_notes: msgspec.json.Decoder[dict[str, Convict]] = msgspec.json.Decoder(dict[str, Convict])


class VerdictFile:
    """One file; `path` None keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def load(self) -> dict[NodeId, Convict]:
        """Return the verdicts that were saved; one that cannot be read has none. Blocks on one small file."""
        try:
            if self._path is None or self._path.stat().st_size > MAX_BYTES:
                return {}
            noted = _notes.decode(self._path.read_bytes())
            found = {NodeId(bytes.fromhex(author)): convict for author, convict in noted.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("verdicts of earlier runs are not read path=%s reason=%s", self._path, error)
            return {}
        return {author: convict for author, convict in found.items() if len(author) == ID_BYTES}

    def save(self, convicts: dict[NodeId, Convict]) -> None:
        """Replace the file, whole or not at all; where the machine refuses that it says so, and the verdicts last as
        long as this run. Blocks on one small file."""
        if self._path is None:
            return
        noted = msgspec.json.encode({author.hex(): each for author, each in convicts.items()})
        try:
            write_atomically(self._path, noted)
        except OSError as error:
            log.warning("verdicts are not kept path=%s reason=%s", self._path, error)
