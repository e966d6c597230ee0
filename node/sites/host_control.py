"""Keeps the owner's wishes of single hosts in a small file, and has the crawler, fetchers and peers go by them."""

import asyncio
import logging
from pathlib import Path

from crawl import Crawler, OperatorBlocklist
from dht import Overlay, write_atomically
from node.config.kept_file import read_kept
from node.sites.host_wishes import HostWishes, Wish, host_named, read_wishes, write_wishes

log = logging.getLogger(__name__)

MAX_BYTES = 1 << 20  # of the file: two thousand of the longest hosts fit


class HostControl:
    """Holds the wishes in force. Blocks while it is made, on one small file."""

    def __init__(self, path: Path | None, refusals: OperatorBlocklist, crawler: Crawler, overlay: Overlay) -> None:
        """`path`: the file of the owner's wishes; None: wishes last until the node stops. `refusals`, `crawler` and
        `overlay` (peers) obey the wishes. Raises BadDataDir where the file cannot be read: without it the node would
        fetch from hosts that its owner refuses."""
        self._path, self._refusals, self._crawler, self._overlay = path, refusals, crawler, overlay
        self._writing = asyncio.Lock()
        remedy = "mend it, or delete it and pause and refuse hosts anew on the owner's page"
        self.wishes = read_kept(path, read_wishes, MAX_BYTES, remedy) or HostWishes()
        self.obey()

    async def wish(self, host: str, wish: Wish) -> None:
        """Wish something of a host, or ("") nothing any more; it is on the disk before it is obeyed. Raises BadHostWish
        and OSError."""
        async with self._writing:
            wishes = self.wishes.with_wish(host_named(host), wish)
            if self._path is not None:
                await asyncio.to_thread(write_atomically, self._path, write_wishes(wishes))
            self.wishes = wishes
            self.obey()
        log.info("owner wishes host=%s wish=%s", host, wish or "none")

    def obey(self) -> None:
        """Have the crawler, fetchers and peers go by the wishes, and peers by the entries of `crawl.refuse`."""
        held, refused = frozenset(self.wishes.held), frozenset(self.wishes.refused)
        self._refusals.set_hosts(refused, held)
        self._crawler.hold_hosts(held)
        self._overlay.refuse(self._refusals.public_hashes)
