"""The solved puzzle of this node's identity, in a small file beside it.

Only a note: whatever is wrong with it costs solving again, never a start.
"""

import logging
from pathlib import Path

from dht.atomicfile import write_atomically
from dht.puzzle import NONCE_BYTES

log = logging.getLogger(__name__)


class PuzzleFile:
    """The file at `path`; None keeps nothing. Both calls block and belong on a thread."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def load(self) -> int:
        """The nonce that was found last; 0 where there is none. Whether it will do, `work_of` says."""
        try:
            nonce = int(self._path.read_text("ascii")) if self._path is not None else 0
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            log.warning("solved puzzle ignored path=%s reason=%s", self._path, error)
            return 0
        return nonce if 0 <= nonce < 1 << 8 * NONCE_BYTES else 0

    def save(self, nonce: int) -> None:
        """Replace the file, whole or not at all; raises OSError."""
        if self._path is not None:
            write_atomically(self._path, f"{nonce}\n".encode())
